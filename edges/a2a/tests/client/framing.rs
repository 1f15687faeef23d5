//! Framing of event streams: O-S01 to O-S05.

use bytes::Bytes;
use futures_util::StreamExt;
use portcullis_a2a::client::{CallError, Event};

use crate::support::{CHUNK, DONE, Fake, TASK, frames};

fn good(items: Vec<Result<Event, CallError>>) -> Vec<Event> {
    items.into_iter().map(Result::unwrap).collect()
}

async fn expected() -> Vec<Event> {
    good(Fake::events(frames(&[TASK, CHUNK, DONE])).items().await)
}

#[tokio::test]
async fn every_line_end_and_every_cut_is_the_same() {
    // O-S01
    let expected = expected().await;
    assert_eq!(expected.len(), 3);
    let lf = frames(&[TASK, CHUNK, DONE]);
    let variants = [
        lf.clone(),
        lf.replace('\n', "\r\n"),
        lf.replace('\n', "\r"),
        lf.replace("data: ", "data:"),
        format!("\u{feff}{lf}"),
        format!("event: message\n{lf}"),
    ];
    for text in variants {
        let bytes = Bytes::from(text.clone());
        for cut in 0..=bytes.len() {
            let chunks = vec![bytes.slice(..cut), bytes.slice(cut..)];
            let items = Fake::new(200, "text/event-stream; charset=utf-8", chunks)
                .items()
                .await;
            assert_eq!(good(items), expected, "cut at {cut} of {text:?}");
        }
        let bytewise = bytes
            .iter()
            .map(|byte| Bytes::copy_from_slice(&[*byte]))
            .collect();
        assert_eq!(
            good(Fake::new(200, "text/event-stream", bytewise).items().await),
            expected
        );
    }
}

#[tokio::test]
async fn lines_of_one_event_are_joined() {
    // O-S02
    let pretty =
        serde_json::to_string_pretty(&serde_json::from_str::<serde_json::Value>(TASK).unwrap())
            .unwrap();
    let event: String = pretty
        .lines()
        .map(|line| format!("data: {line}\n"))
        .collect();
    let items = Fake::events(format!("{event}\n{}", frames(&[CHUNK, DONE])))
        .items()
        .await;
    assert_eq!(good(items), expected().await);
}

#[tokio::test]
async fn comments_and_empty_events_are_none() {
    // O-S03
    let noise = ": ping\n\nid: 7\n\nretry: 1000\n\nevent: message\n\ndata\n\nunknown\n\n";
    let text = [TASK, CHUNK, DONE]
        .map(|data| format!("{noise}data: {data}\n\n{noise}"))
        .concat();
    let events = good(Fake::events(text).items().await);
    assert_eq!(events.len(), 3);
    assert!(events.iter().all(|event| event.id.as_deref() == Some("7")));
}

#[tokio::test]
async fn large_events_arrive_whole() {
    // O-S04
    for size in [300_000, 2_000_000] {
        let chunk = CHUNK.replace("né", &"x".repeat(size));
        let bytes = Bytes::from(frames(&[TASK, &chunk, DONE]));
        let pieces = bytes.chunks(1024).map(Bytes::copy_from_slice).collect();
        let events = good(Fake::new(200, "text/event-stream", pieces).items().await);
        assert_eq!(events.len(), 3, "with {size} bytes");
    }
}

#[tokio::test]
async fn what_never_ends_is_cut() {
    // O-S05
    let line = vec![Bytes::from("z".repeat(1 << 10)); 1 << 10];
    let data = vec![Bytes::from(format!("data: {}\n", "z".repeat(1 << 10))); 1 << 10];
    for chunks in [line, data] {
        let fake = Fake::new(200, "text/event-stream", chunks);
        let client = fake.client().limit(100_000);
        let stream = client
            .send_streaming_message(&crate::support::message())
            .await
            .unwrap();
        let items: Vec<_> = stream.collect().await;
        assert!(
            matches!(&items[..], [Err(CallError::TooLong(_))]),
            "{items:?}"
        );
    }
}
