//! Each thing that a server, or somebody between, may do wrong has its end, and none hangs.

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::{Request, Response};
use http_body_util::Full;
use portcullis::{AgentEvent, AgentExt, BoxAgent, Failure, Prompt, Scope};
use portcullis_http::server::Format;
use tower::service_fn;

use crate::support::*;

const SSE_TEXT: &str = "id: 1\ndata: {\"type\":\"text\",\"delta\":\"a\"}\n\n";
const LINE_TEXT: &str = "{\"type\":\"text\",\"delta\":\"a\"}\n";

/// All that a turn says whose response comes in these chunks.
async fn reading(format: Format, texts_of: &'static [&'static str]) -> Vec<String> {
    let transport = answers(move || chunks(format, texts(texts_of)));
    said(&BoxAgent::new(agent_over(transport, format))).await
}

fn failure_of(said: &[String]) -> Failure {
    let last = said.last().expect("an event");
    match AgentEvent::from_json(last).unwrap() {
        AgentEvent::Failed(failure) => failure,
        other => panic!("{other:?}"),
    }
}

fn code(said: &[String]) -> String {
    failure_of(said).code().expect("a code").to_string()
}

/// O-S10: a cut is told from an end.
#[tokio::test(start_paused = true)]
async fn a_cut_is_no_end() {
    for (format, whole) in [(Format::Sse, SSE_TEXT), (Format::JsonLines, LINE_TEXT)] {
        let cut_in_the_next = match format {
            Format::Sse => "id: 2\ndata: {\"type\":\"compl",
            Format::JsonLines => "{\"type\":\"compl",
        };
        for (rest, breaks) in [
            (None, false),
            (None, true),
            (Some(cut_in_the_next), false),
            (Some(cut_in_the_next), true),
        ] {
            let transport = answers(move || {
                let reset = breaks.then(|| Err(std::io::Error::other("reset")));
                let texts = [Some(whole), rest].into_iter().flatten();
                let texts = texts.map(|text| Ok(Bytes::from_static(text.as_bytes())));
                chunks(format, stream::iter(texts.chain(reset)))
            });
            let said = said(&BoxAgent::new(agent_over(transport, format))).await;
            assert_eq!(said.len(), 2, "{format:?} {rest:?} {breaks}: {said:?}");
            assert_eq!(code(&said), "unavailable");
            assert!(failure_of(&said).is_retryable());
        }
        assert_eq!(code(&reading(format, &[]).await), "unavailable");
    }
}

/// The terminal event is whole by itself, whatever is missing after it.
#[tokio::test(start_paused = true)]
async fn an_end_without_its_line_end_is_an_end() {
    for (format, text) in [
        (Format::Sse, "id: 1\ndata: {\"type\":\"completed\"}"),
        (Format::Sse, "id: 1\ndata: {\"type\":\"completed\"}\n"),
        (Format::JsonLines, "{\"type\":\"completed\"}"),
    ] {
        let transport = answers(move || {
            let text = Bytes::from_static(text.as_bytes());
            chunks(format, stream::iter([Ok(text)]))
        });
        let said = said(&BoxAgent::new(agent_over(transport, format))).await;
        assert_eq!(said, [r#"{"type":"completed"}"#], "{text:?}");
    }
}

/// O-S01, O-S03: line ends, comments, fields that mean nothing, and chunks of one byte.
#[tokio::test(start_paused = true)]
async fn the_framing_is_read_as_it_is_written() {
    let sse = "\u{feff}: hello\r\n\r\nretry: 10\n\nevent: x\rid:1\rdata:{\"type\":\"text\",\ndata:\"delta\":\"é漢🙂\"}\r\n\r\n\
               : keep-alive\n\nid: 7x\n\ndata: {\"type\":\"completed\"}\n\n";
    let lines = "\n\r\n{\"type\":\"text\",\"delta\":\"é漢🙂\"}\r\n\n\n{\"type\":\"completed\"}\n";
    for (format, text) in [(Format::Sse, sse), (Format::JsonLines, lines)] {
        for size in [1, 2, 3, 7, text.len()] {
            let transport = answers(move || {
                let pieces = text.as_bytes().chunks(size);
                chunks(
                    format,
                    stream::iter(pieces.map(|piece| Ok(Bytes::from_static(piece)))),
                )
            });
            let said = said(&BoxAgent::new(agent_over(transport, format))).await;
            assert_eq!(
                said,
                [
                    r#"{"type":"text","delta":"é漢🙂"}"#,
                    r#"{"type":"completed"}"#
                ],
                "{format:?} {size}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_read_after_the_end() {
    let taken = Arc::new(AtomicUsize::new(0));
    for (format, end) in [
        (
            Format::Sse,
            "id: 1\ndata: {\"type\":\"completed\"}\n\nid: 2\ndata: rubbish\n\n",
        ),
        (Format::JsonLines, "{\"type\":\"completed\"}\nrubbish\n"),
    ] {
        let counts = Arc::clone(&taken);
        let transport = answers(move || {
            let counts = Arc::clone(&counts);
            let flood = stream::repeat_with(move || {
                counts.fetch_add(1, Ordering::Relaxed);
                Ok(Bytes::from_static(b"more"))
            });
            chunks(
                format,
                stream::iter([Ok(Bytes::from_static(end.as_bytes()))]).chain(flood),
            )
        });
        taken.store(0, Ordering::Relaxed);
        let said = said(&BoxAgent::new(agent_over(transport, format))).await;
        assert_eq!(said, [r#"{"type":"completed"}"#]);
        assert!(taken.load(Ordering::Relaxed) <= 1);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_no_event_ends_the_turn() {
    for line in [
        "rubbish",
        "[]",
        "{}",
        "{\"type\":1}",
        "{\"type\":\"text\"}",
        "{\"type\":\"failed\",\"details\":\"no\"}",
        "{\"type\":\"x\",\"ty\\u0070e\":\"completed\"}",
        "{\"type\":\"x\"} {}",
    ] {
        let sse = Box::leak(format!("id: 1\ndata: {line}\n\n").into_boxed_str());
        let lines = Box::leak(format!("{line}\n").into_boxed_str());
        for (format, text) in [(Format::Sse, &*sse), (Format::JsonLines, &*lines)] {
            let transport = answers(move || {
                let text = Bytes::from_static(text.as_bytes());
                chunks(format, stream::iter([Ok(text)]).chain(stream::pending()))
            });
            let said = said(&BoxAgent::new(agent_over(transport, format))).await;
            assert_eq!(said.len(), 1, "{line}");
            assert_eq!(code(&said), "contract_violation", "{line}");
            assert!(!failure_of(&said).details().contains("type"), "{line}");
        }
    }
    let bytes = answers(|| {
        let bytes = Bytes::from_static(b"{\"type\":\"text\",\"delta\":\"\xff\"}\n");
        chunks(Format::JsonLines, stream::iter([Ok(bytes)]))
    });
    let said = said(&BoxAgent::new(agent_over(bytes, Format::JsonLines))).await;
    assert_eq!(code(&said), "contract_violation");
}

#[tokio::test(start_paused = true)]
async fn events_that_come_twice_or_are_missing_are_noticed() {
    for second in ["id: 1", "id: 3", "id: 0", ":"] {
        let text = format!("{SSE_TEXT}{second}\ndata: {{\"type\":\"completed\"}}\n\n");
        let text = &*Box::leak(text.into_boxed_str());
        let transport = answers(move || {
            let text = Bytes::from_static(text.as_bytes());
            chunks(Format::Sse, stream::iter([Ok(text)]))
        });
        let said = said(&BoxAgent::new(agent_over(transport, Format::Sse))).await;
        assert_eq!(said.len(), 2, "{second}");
        assert_eq!(code(&said), "contract_violation", "{second}");
    }
}

/// O-S05: 64 MiB without a line end, or one event that never ends; no more is read than may be kept.
#[tokio::test(start_paused = true)]
async fn a_flood_is_bounded() {
    for (format, chunk, whole_lines) in [
        (
            Format::Sse,
            "data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n",
            true,
        ),
        (
            Format::Sse,
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            false,
        ),
        (
            Format::JsonLines,
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            false,
        ),
    ] {
        let taken = Arc::new(AtomicUsize::new(0));
        let counts = Arc::clone(&taken);
        let transport = answers(move || {
            let counts = Arc::clone(&counts);
            let flood = stream::repeat_with(move || {
                counts.fetch_add(chunk.len(), Ordering::Relaxed);
                Ok(Bytes::from_static(chunk.as_bytes()))
            });
            chunks(format, flood.take((64 << 20) / 64))
        });
        let agent = agent_over(transport, format).event_limit(1 << 16);
        let said = said(&BoxAgent::new(agent)).await;
        assert_eq!(
            code(&said),
            "contract_violation",
            "{format:?} {whole_lines}"
        );
        assert!(taken.load(Ordering::Relaxed) < 1 << 18);
    }
}

/// Comments are a sign of life, for as long as they come.
#[tokio::test(start_paused = true)]
async fn silence_ends_the_turn() {
    for (format, comment) in [(Format::Sse, ": hm\n\n"), (Format::JsonLines, "\n")] {
        let transport = answers(move || {
            let comments = stream::iter(0..5).then(move |_| async move {
                tokio::time::sleep(Duration::from_secs(8)).await;
                Ok(Bytes::from_static(comment.as_bytes()))
            });
            chunks(format, comments.chain(stream::pending()))
        });
        let agent = agent_over(transport, format).idle_timeout(Duration::from_secs(10));
        let began = tokio::time::Instant::now();
        let said = said(&BoxAgent::new(agent)).await;
        assert_eq!(code(&said), "timeout");
        assert!(failure_of(&said).is_retryable());
        assert_eq!(began.elapsed(), Duration::from_secs(50));
    }
    // No head, and a body of a refusal that never ends.
    let silent = service_fn(|_: Request<Full<Bytes>>| {
        pending::<Result<Response<Full<Bytes>>, std::io::Error>>()
    });
    let began = tokio::time::Instant::now();
    let of_silent = said(&BoxAgent::new(agent_over(silent, Format::Sse))).await;
    assert_eq!(code(&of_silent), "timeout");
    assert_eq!(began.elapsed(), Duration::from_secs(60));
    let stuck = answers(|| {
        let mut response = Response::new(body(stream::pending()));
        *response.status_mut() = http::StatusCode::SERVICE_UNAVAILABLE;
        let headers = response.headers_mut();
        headers.insert("content-type", "application/problem+json".parse().unwrap());
        response
    });
    let of_stuck = said(&BoxAgent::new(agent_over(stuck, Format::Sse))).await;
    assert_eq!(code(&of_stuck), "unavailable");
}

#[tokio::test(start_paused = true)]
async fn the_deadline_holds_here_too() {
    let transport = answers(|| {
        let comments = stream::repeat(()).then(|()| async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok(Bytes::from_static(b":\n\n"))
        });
        chunks(Format::Sse, comments)
    });
    let agent = agent_over(transport, Format::Sse);
    let began = tokio::time::Instant::now();
    let deadline = (began + Duration::from_millis(4500)).into_std();
    let scope = Scope::new("s").with_deadline(deadline);
    let failed = portcullis::collect(agent.invoke(scope, Prompt::text("p"))).await;
    let portcullis::CollectError::Failed(failure) = failed.unwrap_err() else {
        panic!("it failed");
    };
    assert!(failure.is(&portcullis::FailureCode::TIMEOUT));
    assert_eq!(began.elapsed(), Duration::from_millis(4500));
}

/// O-S09: what a status says is not lost, whoever sends it.
#[tokio::test(start_paused = true)]
async fn a_status_has_its_meaning() {
    let problem = "application/problem+json";
    let told = r#"{"status":503,"event":{"type":"failed","details":"full","retryable":true,"code":"overloaded","x":1e400}}"#;
    let cases = [
        (503, problem, told, "7", "overloaded", true, Some(7)),
        (
            503,
            "text/html",
            "<h1>no</h1>",
            "7",
            "unavailable",
            true,
            Some(7),
        ),
        (
            503,
            problem,
            r#"{"detail":"no upstream"}"#,
            "",
            "unavailable",
            true,
            None,
        ),
        (503, problem, "rubbish", "soon", "unavailable", true, None),
        (
            503,
            problem,
            r#"{"event":{"type":"completed"}}"#,
            "",
            "unavailable",
            true,
            None,
        ),
        (500, "text/plain", "", "", "unavailable", true, None),
        (502, "text/plain", "", "", "unavailable", true, None),
        (504, "text/plain", "", "", "timeout", true, None),
        (408, "text/plain", "", "", "timeout", true, None),
        (429, "text/plain", "", "30", "rate_limited", true, Some(30)),
        (409, "text/plain", "", "", "session_busy", true, None),
        (401, "text/plain", "", "", "unauthenticated", false, None),
        (402, "text/plain", "", "", "budget_exceeded", false, None),
        (403, "text/plain", "", "", "permission_denied", false, None),
        (400, "text/plain", "", "", "invalid_prompt", false, None),
        (413, "text/plain", "", "", "invalid_prompt", false, None),
        (415, "text/plain", "", "", "invalid_prompt", false, None),
        (422, "text/plain", "", "", "invalid_prompt", false, None),
        (404, "text/plain", "", "", "contract_violation", false, None),
        (302, "text/plain", "", "", "contract_violation", false, None),
        (204, "text/plain", "", "", "contract_violation", false, None),
        (
            200,
            "text/html",
            "<h1>hello</h1>",
            "",
            "contract_violation",
            false,
            None,
        ),
        (
            200,
            "application/json",
            "{}",
            "",
            "contract_violation",
            false,
            None,
        ),
    ];
    for (status, media_type, text, retry_after, code_of_it, retryable, after) in cases {
        let transport = answers(move || {
            let mut response = Response::builder()
                .status(status)
                .header("content-type", media_type)
                .header("location", "http://elsewhere/");
            if !retry_after.is_empty() {
                response = response.header("retry-after", retry_after);
            }
            let text = Bytes::from_static(text.as_bytes());
            response.body(body(stream::iter([Ok(text)]))).unwrap()
        });
        let said = said(&BoxAgent::new(agent_over(transport, Format::Sse))).await;
        assert_eq!(said.len(), 1, "{status} {text}");
        assert_eq!(code(&said), code_of_it, "{status} {text}");
        let failure = failure_of(&said);
        assert_eq!(failure.is_retryable(), retryable, "{status} {text}");
        assert_eq!(
            failure.after().map(|after| after.as_secs()),
            after,
            "{status}"
        );
        if text == told {
            assert_eq!(failure.extra().text("x"), Some("1e400"));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn problem_details_are_bounded() {
    let taken = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&taken);
    let transport = answers(move || {
        let counts = Arc::clone(&counts);
        let flood = stream::repeat_with(move || {
            counts.fetch_add(1024, Ordering::Relaxed);
            Ok(Bytes::from_static(&[b' '; 1024]))
        });
        Response::builder()
            .status(429)
            .header("content-type", "application/problem+json")
            .body(body(flood))
            .unwrap()
    });
    let said = said(&BoxAgent::new(agent_over(transport, Format::Sse))).await;
    assert_eq!(code(&said), "rate_limited");
    assert!(taken.load(Ordering::Relaxed) <= 128 << 10);
}

#[tokio::test(start_paused = true)]
async fn a_transport_that_fails_is_unavailable() {
    let fails = service_fn(|_: Request<Full<Bytes>>| async {
        Err::<Response<Full<Bytes>>, _>(std::io::Error::other("refused by 10.0.0.7"))
    });
    let said = said(&BoxAgent::new(agent_over(fails, Format::Sse))).await;
    assert_eq!(code(&said), "unavailable");
    assert!(failure_of(&said).is_retryable());
    assert!(!said[0].contains("10.0.0.7"), "{said:?}");
}
