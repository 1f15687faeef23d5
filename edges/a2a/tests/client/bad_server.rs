//! Servers that behave badly, over sockets: whatever they do, a call ends in time, with an error
//! that says what it was, and takes no more than its limits.

use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use portcullis_a2a::{
    client::{Binding, CallError, Client, Event, Transport, fetch_card},
    model::{GetTaskRequest, StreamResponse, Task},
};
use portcullis_net::HttpClient;
use tokio::time::{Instant, timeout};

use crate::{
    raw::{Act, Raw, chunk, chunked, head, last_chunk, send},
    support::message,
};

const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";

const TASK: &str =
    r#"{"task":{"id":"t-1","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}"#;
const TEXT: &str = r#"{"artifactUpdate":{"taskId":"t-1","contextId":"c","artifact":{"artifactId":"a","parts":[{"text":"é漢🙂"}]}}}"#;
const DONE: &str = r#"{"statusUpdate":{"taskId":"t-1","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}"#;

/// In the envelope of the binding; the first request of a client has id 1.
fn wrap(binding: Binding, result: &str) -> String {
    match binding {
        Binding::JsonRpc => format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#),
        _ => result.to_owned(),
    }
}

fn frame(binding: Binding, result: &str) -> String {
    format!("data: {}\n\n", wrap(binding, result))
}

fn frames(binding: Binding, results: &[&str]) -> String {
    results
        .iter()
        .map(|result| frame(binding, result))
        .collect()
}

async fn in_time<F: Future>(what: F) -> F::Output {
    timeout(Duration::from_secs(10), what)
        .await
        .expect("it never hangs")
}

/// Patient enough for a busy machine where nothing is to be waited for.
const PATIENT: Duration = Duration::from_secs(8);
/// As long as it takes where something is.
const IMPATIENT: Duration = Duration::from_millis(150);

type Items = Vec<Result<Event, CallError>>;

async fn items<T: Transport>(client: &Client<T>) -> Result<Items, CallError> {
    in_time(async {
        let stream = client.send_streaming_message(&message()).await?;
        Ok(stream.collect().await)
    })
    .await
}

async fn task<T: Transport>(client: &Client<T>) -> Result<Task, CallError> {
    in_time(client.get_task(&GetTaskRequest::new("t-1"))).await
}

/// The events before the error that ends a stream.
fn split(items: Items) -> (usize, CallError) {
    let events = items.len() - 1;
    let mut items = items.into_iter();
    for event in items.by_ref().take(events) {
        event.unwrap();
    }
    (events, items.next().unwrap().unwrap_err())
}

#[tokio::test]
async fn a_stream_that_is_cut_says_where() {
    // O-S10: between frames and inside one, cleanly, in the middle of a chunk, and by a reset.
    for binding in [Binding::JsonRpc, Binding::Rest] {
        let whole = format!("id: 5\n{}", frames(binding, &[TASK, TEXT]));
        let half = &frame(binding, DONE)[..30];
        for ends in [
            vec![last_chunk()],
            vec![],
            vec![chunk(half), last_chunk()],
            vec![chunk(half)],
            vec![send("40\r\nhalf of a ch")],
            vec![send("no chunk\r\n")],
            vec![Act::Reset],
        ] {
            let mut acts = vec![chunked(EVENTS), chunk(&whole)];
            acts.extend(ends.clone());
            let raw = Raw::start(acts).await;
            let (events, error) = split(items(&raw.client(binding)).await.unwrap());
            // What a reset overtakes is lost.
            assert!(events == 2 || matches!(ends[..], [Act::Reset]), "{ends:?}");
            let CallError::Cut {
                task_id,
                last_event_id,
            } = &error
            else {
                panic!("{ends:?}: {error:?}")
            };
            if events == 2 {
                assert_eq!(task_id.as_deref(), Some("t-1"));
                assert_eq!(last_event_id.as_deref(), Some("5"));
            }
        }
    }
}

#[tokio::test]
async fn whoever_stalls_is_given_up() {
    // O-D08, O-C07
    for binding in [Binding::JsonRpc, Binding::Rest] {
        // Nothing at all, half a head.
        for acts in [
            vec![Act::Hang],
            vec![send("HTTP/1.1 200 OK\r\ncontent-ty"), Act::Hang],
            // Heads that are none, for ever.
            vec![Act::Repeat("HTTP/1.1 100 Continue\r\n\r\n".into())],
        ] {
            let raw = Raw::start(acts).await;
            let client = raw.client(binding).idle_timeout(IMPATIENT);
            let error = task(&client).await.unwrap_err();
            assert!(matches!(error, CallError::NoReply), "{error:?}");
            let error = items(&client).await.unwrap_err();
            assert!(matches!(error, CallError::NoReply), "{error:?}");
        }
        // Half a body: silent, or a byte now and then.
        for rest in [Act::Hang, Act::Trickle(b"1\r\n \r\n")] {
            let raw = Raw::start(vec![chunked(JSON), chunk("{"), rest]).await;
            let client = raw.client(binding).body_timeout(IMPATIENT);
            let error = task(&client).await.unwrap_err();
            assert!(matches!(error, CallError::Slow), "{error:?}");
            let error = items(&client).await.unwrap_err();
            assert!(matches!(error, CallError::Slow), "{error:?}");
        }
        // Between the events of a stream, and inside one.
        let one = frame(binding, TASK);
        for said in [one.clone(), one + &frame(binding, TEXT)[..20]] {
            let raw = Raw::start(vec![chunked(EVENTS), chunk(&said), Act::Hang]).await;
            let client = raw.client(binding).idle_timeout(IMPATIENT);
            let (events, error) = split(items(&client).await.unwrap());
            assert_eq!(events, 1);
            assert!(matches!(error, CallError::Idle), "{error:?}");
        }
    }
}

#[tokio::test]
async fn whoever_gives_up_hangs_up() {
    // O-D05, O-D07: the server sees it at once.
    let one = frame(Binding::Rest, TASK);
    let mut raw = Raw::start(vec![chunked(EVENTS), chunk(&one), Act::Hang]).await;
    let client = raw.client(Binding::Rest);
    let mut stream = client.send_streaming_message(&message()).await.unwrap();
    in_time(stream.next()).await.unwrap().unwrap();
    drop(stream);
    in_time(raw.taken()).await;

    let mut raw = Raw::start(vec![Act::Hang]).await;
    let client = raw.client(Binding::Rest);
    let request = GetTaskRequest::new("t-1");
    let waited = timeout(IMPATIENT, client.get_task(&request)).await;
    assert!(waited.is_err());
    in_time(raw.taken()).await;
}

#[tokio::test]
async fn a_flood_is_dammed() {
    // O-S05
    let comments = ": nothing\n\n".repeat(1 << 10);
    let unknown = "data: {\"futureEvent\":{}}\n\n".repeat(1 << 10);
    for flood in [comments, unknown] {
        let mut raw = Raw::start(vec![
            head("200 OK", EVENTS),
            send(frame(Binding::Rest, TASK)),
            Act::Repeat(flood.into()),
        ])
        .await;
        let client = raw.client(Binding::Rest).stream_limit(4 << 20);
        let (events, error) = split(items(&client).await.unwrap());
        assert_eq!(events, 1);
        let CallError::TooLong(what) = &error else {
            panic!("{error:?}")
        };
        assert_eq!(what.to_string(), "the stream has more than 4194304 bytes");
        assert!(in_time(raw.taken()).await < 32 << 20, "nobody read on");
    }
}

#[tokio::test]
async fn sixty_four_mebibytes_are_not_read() {
    // O-S04, O-S05, O-C07
    let filler = || vec![send(Bytes::from("z".repeat(1 << 20))); 64];
    let with = |start: Act, before: &str| {
        let mut acts = vec![start, send(before.to_owned())];
        acts.extend(filler());
        acts
    };
    for (acts, told) in [
        (
            with(head("200 OK", EVENTS), "data: "),
            "a line has more than 8388672 bytes",
        ),
        (
            with(head("200 OK", EVENTS), "id: "),
            "a line has more than 8388672 bytes",
        ),
        (
            with(head("200 OK", JSON), "{\"x\":\""),
            "the reply has more than 8388608 bytes",
        ),
    ] {
        let mut raw = Raw::start(acts).await;
        let client = raw.client(Binding::Rest).body_timeout(PATIENT);
        let error = match items(&client).await {
            Ok(items) => split(items).1,
            Err(error) => error,
        };
        let CallError::TooLong(what) = &error else {
            panic!("{error:?}")
        };
        assert_eq!(what.to_string(), told);
        assert!(in_time(raw.taken()).await < 40 << 20, "nobody read on");
    }
    // The body of a refusal is bounded too, and the refusal counts.
    let mut raw = Raw::start(with(head("500 No", JSON), "")).await;
    let error = task(&raw.client(Binding::Rest)).await.unwrap_err();
    assert!(
        matches!(&error, CallError::Status { status, .. } if status.as_u16() == 500),
        "{error:?}"
    );
    assert!(in_time(raw.taken()).await < 40 << 20);
    // An id has a bound of its own: it is kept, and sent back in a header.
    let raw = Raw::start(vec![
        head("200 OK", EVENTS),
        send(format!("id: {}\n", "7".repeat(5_000))),
    ])
    .await;
    let (_, error) = split(items(&raw.client(Binding::Rest)).await.unwrap());
    let CallError::TooLong(what) = &error else {
        panic!("{error:?}")
    };
    assert_eq!(
        what.to_string(),
        "the id of an event has more than 1024 bytes"
    );
}

#[tokio::test]
async fn every_byte_may_come_alone() {
    // O-S01: characters and line ends are split everywhere.
    for binding in [Binding::JsonRpc, Binding::Rest] {
        let text = frames(binding, &[TASK, TEXT, DONE]).replace('\n', "\r\n");
        let raw = Raw::start(vec![head("200 OK", EVENTS), Act::Drip(text.into())]).await;
        let items = items(&raw.client(binding)).await.unwrap();
        assert_eq!(items.len(), 3);
        let Ok(Event {
            response: StreamResponse::ArtifactUpdate(update),
            ..
        }) = &items[1]
        else {
            panic!("{items:?}")
        };
        assert_eq!(update.artifact.parts[0].as_text(), Some("é漢🙂"));
    }
}

#[tokio::test]
async fn a_reply_to_another_request_is_none() {
    // O-J07
    for id in ["2", "\"1\"", "null", "1.0", "[1]"] {
        let reply = wrap(Binding::JsonRpc, TASK).replace("\"id\":1", &format!("\"id\":{id}"));
        let raw = Raw::start(vec![
            head("200 OK", EVENTS),
            send(format!("data: {reply}\n\n")),
        ])
        .await;
        let (events, error) = split(items(&raw.client(Binding::JsonRpc)).await.unwrap());
        assert_eq!(events, 0);
        assert!(error.to_string().contains("not for 1"), "{error}");
    }
}

#[tokio::test]
async fn what_a_later_version_says_is_left_out() {
    for binding in [Binding::JsonRpc, Binding::Rest] {
        let later = r#"{"progressUpdate":{"taskId":"t-1","percent":7}}"#;
        let text = frames(binding, &[later, TASK, later, TEXT, DONE]);
        let raw = Raw::start(vec![head("200 OK", EVENTS), send(text)]).await;
        let items = items(&raw.client(binding)).await.unwrap();
        assert_eq!(items.len(), 3);
        assert!(items.iter().all(Result::is_ok), "{items:?}");
        // Nothing, or two things at once, is no version's event.
        for wrong in ["{}", r#"{"task":{"id":"t"},"message":{}}"#, "7", "null"] {
            let raw = Raw::start(vec![
                head("200 OK", EVENTS),
                send(frames(binding, &[TASK, wrong])),
            ])
            .await;
            let (events, error) = split(self::items(&raw.client(binding)).await.unwrap());
            assert_eq!(events, 1, "{wrong}");
            assert!(
                matches!(error, CallError::Protocol(_)),
                "{wrong}: {error:?}"
            );
        }
    }
}

#[tokio::test]
async fn an_event_of_another_task_is_refused() {
    for binding in [Binding::JsonRpc, Binding::Rest] {
        let foreign = DONE.replace("t-1", "t-2");
        let text = frames(binding, &[TASK, &foreign, DONE]);
        let raw = Raw::start(vec![head("200 OK", EVENTS), send(text)]).await;
        let (events, error) = split(items(&raw.client(binding)).await.unwrap());
        assert_eq!(events, 1);
        assert!(error.to_string().contains("t-2"), "{error}");
    }
}

#[tokio::test]
async fn nothing_counts_after_the_end() {
    // A2A-OP-57, A2A-OP-58
    let finished = TASK.replace("WORKING", "COMPLETED");
    for binding in [Binding::JsonRpc, Binding::Rest] {
        let late = [TEXT, DONE, TASK, &finished];
        let ended = frames(binding, &[TASK, DONE]) + &frames(binding, &late);
        for (rest, most) in [
            (vec![], Duration::from_secs(1)),
            (vec![send("data: {garbage\n\n")], Duration::from_secs(1)),
            (vec![Act::Reset], Duration::from_secs(1)),
            // Who does not close is not waited for, however much it says.
            (vec![Act::Hang], Duration::from_secs(4)),
            (
                vec![Act::Repeat(frame(binding, TEXT).into())],
                Duration::from_secs(8),
            ),
        ] {
            let is_reset = matches!(rest[..], [Act::Reset]);
            let mut acts = vec![head("200 OK", EVENTS), send(ended.clone())];
            acts.extend(rest);
            let raw = Raw::start(acts).await;
            let began = Instant::now();
            let items = items(&raw.client(binding)).await.unwrap();
            if is_reset {
                continue;
            }
            assert!(began.elapsed() < most, "{:?}", began.elapsed());
            assert_eq!(items.len(), 3, "task, end, and the whole task again");
            assert!(items.iter().all(Result::is_ok), "{items:?}");
        }
    }
}

#[tokio::test]
async fn garbage_is_told() {
    // O-J04, O-S08, O-S09
    let html = "<!doctype html><p>hello";
    for binding in [Binding::JsonRpc, Binding::Rest] {
        let other = match binding {
            Binding::JsonRpc => Binding::Rest,
            _ => Binding::JsonRpc,
        };
        let deep = format!("{{\"task\":{}1{}}}", "[".repeat(9_000), "]".repeat(9_000));
        // In the envelope of the other binding.
        let wrapped = wrap(other, TASK);
        for body in [
            html, "", "\0\0\0", "[", "{", "{}{}", "\u{feff}", &deep, &wrapped,
        ] {
            let raw = Raw::start(vec![head("200 OK", JSON), send(body.to_owned())]).await;
            let error = items(&raw.client(binding)).await.map(split);
            let error = error.map_or_else(|error| error, |(_, error)| error);
            assert!(
                matches!(error, CallError::Protocol(_)),
                "{binding} {body:.40}: {error:?}"
            );
            let raw = Raw::start(vec![
                head("200 OK", EVENTS),
                send(frame(binding, TASK)),
                send(format!("data: {body}\n\n")),
            ])
            .await;
            let (events, error) = split(items(&raw.client(binding)).await.unwrap());
            assert_eq!(events, 1, "{body:.40}");
            // No data is no event.
            let is_none = body.is_empty() && matches!(error, CallError::Cut { .. });
            assert!(
                is_none || matches!(error, CallError::Protocol(_)),
                "{binding} {body:.40}: {error:?}"
            );
        }
        for bytes in [&b"data: \xff\xfe\n\n"[..], b"data: {\"task\":\"\xc3\"}\n\n"] {
            let raw = Raw::start(vec![head("200 OK", EVENTS), send(bytes)]).await;
            let (_, error) = split(items(&raw.client(binding)).await.unwrap());
            assert!(error.to_string().contains("UTF-8"), "{error}");
        }
        // No HTTP at all.
        for acts in [
            vec![],
            vec![send("SSH-2.0-OpenSSH_9.6\r\n")],
            vec![send("HTTP/1.1 200 OK\r\nx: \0\r\n\r\n")],
            vec![send("HTTP/1.1 200 OK\r\n"), Act::Repeat("x: y\r\n".into())],
            vec![Act::Reset],
        ] {
            let raw = Raw::start(acts).await;
            let error = task(&raw.client(binding)).await.unwrap_err();
            assert!(matches!(error, CallError::Transport(_)), "{error:?}");
        }
    }
}

#[tokio::test]
async fn a_wrong_content_type_is_told() {
    // O-J06, O-S06: case and parameters do not matter, the type does.
    let text = frames(Binding::Rest, &[TASK, DONE]);
    for type_ in [
        "text/event-stream; charset=utf-8",
        "Text/Event-Stream;x=\"a;b\"",
        "text/event-stream ;charset=UTF-8;;",
    ] {
        let raw = Raw::start(vec![head("200 OK", type_), send(text.clone())]).await;
        assert_eq!(items(&raw.client(Binding::Rest)).await.unwrap().len(), 2);
    }
    for type_ in ["text/html", "text/plain", "application/octet-stream", ""] {
        let raw = Raw::start(vec![head("200 OK", type_), send(text.clone())]).await;
        let error = items(&raw.client(Binding::Rest)).await.unwrap_err();
        let told = if type_.is_empty() {
            "without a type"
        } else {
            type_
        };
        assert!(error.to_string().contains(told), "{error}");
    }
}

#[tokio::test]
async fn nobody_follows_a_redirect() {
    // O-C07
    let mut elsewhere = Raw::start(vec![head("200 OK", JSON), send(TASK)]).await;
    for status in [301, 302, 303, 307, 308] {
        let target = format!("http://{}/", elsewhere.address);
        let raw = Raw::start(vec![send(format!(
            "HTTP/1.1 {status} Elsewhere\r\nlocation: {target}\r\ncontent-length: 0\r\n\r\n"
        ))])
        .await;
        let url = format!("http://{}/", raw.address);
        for error in [
            task(&raw.client(Binding::Rest)).await.unwrap_err(),
            items(&raw.client(Binding::JsonRpc)).await.unwrap_err(),
            in_time(fetch_card(&HttpClient::new(), &url))
                .await
                .unwrap_err(),
        ] {
            let CallError::Redirect {
                status: said,
                location,
            } = &error
            else {
                panic!("{error:?}")
            };
            assert_eq!((said.as_u16(), location), (status, &target));
        }
    }
    assert_eq!(elsewhere.connections(), 0);
}

#[tokio::test]
async fn whoever_is_busy_says_for_how_long() {
    // O-S09, O-B09
    let date = "date: Mon, 07 Dec 2026 12:00:00 GMT\r\nretry-after: Mon, 07 Dec 2026 12:01:30 GMT";
    for (header, seconds) in [("retry-after: 17", 17), (date, 90)] {
        for body in [
            "",
            "<html>busy</html>",
            r#"{"error":{"code":503,"message":"busy"}}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32042,"message":"busy"}}"#,
        ] {
            for binding in [Binding::JsonRpc, Binding::Rest] {
                let raw = Raw::start(vec![send(format!(
                    "HTTP/1.1 503 Busy\r\n{header}\r\ncontent-length: {}\r\n\r\n{body}",
                    body.len()
                ))])
                .await;
                let client = raw.client(binding);
                for error in [
                    task(&client).await.unwrap_err(),
                    items(&client).await.unwrap_err(),
                ] {
                    let after = Some(Duration::from_secs(seconds));
                    assert_eq!(error.retry_after(), after, "{body}: {error:?}");
                    if let (Binding::JsonRpc, Some(refusal)) = (binding, error.as_refusal()) {
                        assert_eq!(refusal.code(), -32042, "A2A-RPC-34");
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn a_length_that_is_a_lie_is_noticed() {
    let long = |type_: &str| {
        send(format!(
            "HTTP/1.1 200 OK\r\ncontent-type: {type_}\r\ncontent-length: 5000\r\n\r\n"
        ))
    };
    let raw = Raw::start(vec![long(JSON), send("{}")]).await;
    let error = task(&raw.client(Binding::Rest)).await.unwrap_err();
    assert!(matches!(error, CallError::Transport(_)), "{error:?}");
    let raw = Raw::start(vec![long(EVENTS), send(frame(Binding::Rest, TASK))]).await;
    let (events, error) = split(items(&raw.client(Binding::Rest)).await.unwrap());
    assert_eq!(events, 1);
    assert!(matches!(error, CallError::Cut { .. }), "{error:?}");
}

#[tokio::test]
async fn a_card_is_waited_for_no_longer_than_a_card_takes() {
    // O-C07
    let url = |raw: &Raw| format!("http://{}/", raw.address);
    let mut raw = Raw::start(vec![
        head("200 OK", JSON),
        Act::Repeat(" ".repeat(1 << 10).into()),
    ])
    .await;
    let error = in_time(fetch_card(&HttpClient::new(), &url(&raw)))
        .await
        .unwrap_err();
    assert!(matches!(error, CallError::TooLong(_)), "{error:?}");
    assert!(in_time(raw.taken()).await < 32 << 20);
    let raw = Raw::start(vec![]).await;
    let error = in_time(fetch_card(&HttpClient::new(), &url(&raw)))
        .await
        .unwrap_err();
    assert!(matches!(error, CallError::Transport(_)), "{error:?}");
}
