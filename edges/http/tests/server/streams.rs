use std::time::Duration;

use http_body_util::BodyExt;
use portcullis_http::server::TurnService;

use crate::support::*;

const UNKNOWN: &str =
    r#"{"type":"x_probe","n":1e400,"n\u0031":-0.0,"deep":[{"a":[1.50]}],"more":"\ud83d"}"#;

#[tokio::test(start_paused = true)]
async fn each_event_is_a_frame_of_its_own() {
    let service = emits([r#"{"type":"text","delta":"a\nb","x":1.0}"#, UNKNOWN]);
    let sse = exchange(&service, post(SSE, asking("p"))).await;
    assert_eq!(sse.status, 200);
    let expected = format!(
        "id: 1\ndata: {{\"type\":\"text\",\"delta\":\"a\\nb\",\"x\":1.0}}\n\n\
         id: 2\ndata: {UNKNOWN}\n\nid: 3\ndata: {{\"type\":\"completed\"}}\n\n"
    );
    assert_eq!(sse.body, expected);

    let lines = exchange(&service, post(LINES, asking("p"))).await;
    assert_eq!(lines.status, 200);
    let [text, unknown, completed] = lines.lines()[..] else {
        panic!("{lines:?}");
    };
    assert_eq!(text, r#"{"type":"text","delta":"a\nb","x":1.0}"#);
    assert_eq!(unknown, UNKNOWN);
    assert_eq!(completed, r#"{"type":"completed"}"#);
    assert!(lines.body.ends_with("}\n"));
}

/// O-S06: nobody on the way keeps it, holds it back or packs it.
#[tokio::test(start_paused = true)]
async fn the_head_says_what_it_is() {
    let service = emits([]);
    for (accept, media_type) in [
        (SSE, SSE),
        (LINES, LINES),
        ("application/jsonl", "application/jsonl"),
        ("*/*", SSE),
    ] {
        let read = exchange(&service, post(accept, asking("p"))).await;
        assert_eq!(read.header("content-type"), media_type);
        assert_eq!(read.header("cache-control"), "no-cache, no-transform");
        assert_eq!(read.header("x-accel-buffering"), "no");
        assert!(!read.headers.contains_key("content-length"));
    }
}

/// O-S07, and the sequence of events is unchanged.
#[tokio::test(start_paused = true)]
async fn silence_is_filled() {
    let (agent, _alive) = hangs();
    let service = TurnService::new(agent).keep_alive(Duration::from_secs(10));
    for (accept, comment) in [(SSE, ": keep-alive\n\n"), (LINES, "\n")] {
        let response = send(&service, post(accept, asking("p"))).await;
        let mut body = response.into_body();
        let began = tokio::time::Instant::now();
        let mut frames = Vec::new();
        for _ in 0..3 {
            let frame = body.frame().await.unwrap().unwrap().into_data().unwrap();
            frames.push((frame, began.elapsed().as_secs()));
        }
        assert_eq!(frames[0].1, 0);
        assert_eq!(frames[1], (comment.into(), 10));
        assert_eq!(frames[2], (comment.into(), 20));
    }
}

/// Who waits longer for the first event than the status does is told that it waits.
#[tokio::test(start_paused = true)]
async fn the_status_waits_for_the_first_event_only_so_long() {
    let (agent, alive) = hangs_after([]);
    let service = TurnService::new(agent).status_wait(Duration::from_secs(4));
    let began = tokio::time::Instant::now();
    let response = send(&service, post(SSE, asking("p"))).await;
    assert_eq!(response.status(), 200);
    assert_eq!(began.elapsed(), Duration::from_secs(4));
    let mut body = response.into_body();
    let frame = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(frame, ": keep-alive\n\n");
    assert_eq!(*alive.borrow(), 1);
}
