//! Replies that are wrong, and streams that break.

use std::time::Duration;

use futures_util::StreamExt;
use portcullis_a2a::{client::CallError, model::GetTaskRequest};

use crate::support::{CHUNK, DONE, Fake, TASK, frames, message};

fn refusal(code: i32, reason: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":{code},"message":"no","data":[{{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"{reason}","domain":"a2a-protocol.org","metadata":{{"taskId":"t-1"}}}}]}}}}"#
    )
}

#[tokio::test]
async fn a_reply_to_another_request_is_refused() {
    // O-J07, once in one piece and once as an event
    for id in ["2", "\"1\"", "null", "1.0"] {
        let reply = DONE.replace("\"id\":1", &format!("\"id\":{id}"));
        let error = Fake::json(reply.clone())
            .client()
            .send_message(&message())
            .await
            .unwrap_err();
        assert!(matches!(&error, CallError::Protocol(_)), "{id}: {error:?}");
        let items = Fake::events(frames(&[&reply])).items().await;
        assert!(
            matches!(&items[..], [Err(CallError::Protocol(_))]),
            "{id}: {items:?}"
        );
    }
    let without = DONE.replace("\"id\":1,", "");
    let error = Fake::json(without)
        .client()
        .send_message(&message())
        .await
        .unwrap_err();
    assert!(matches!(error, CallError::Protocol(_)));
}

#[tokio::test]
async fn a_refusal_keeps_its_code_on_every_way() {
    // O-J09, A2A-RPC-22
    for (code, reason) in [
        (-32001, "TASK_NOT_FOUND"),
        (-32004, "UNSUPPORTED_OPERATION"),
        (-32009, "VERSION_NOT_SUPPORTED"),
    ] {
        let reply = refusal(code, reason);
        let in_one_piece = Fake::json(reply.clone())
            .client()
            .send_message(&message())
            .await
            .unwrap_err();
        let before_the_stream = Fake::json(reply.clone()).stream().await.unwrap_err();
        let first_event = Fake::events(frames(&[&reply]))
            .items()
            .await
            .remove(0)
            .unwrap_err();
        let with_a_status = Fake::new(400, "application/json", vec![reply.into()])
            .stream()
            .await
            .unwrap_err();
        for error in [in_one_piece, before_the_stream, first_event, with_a_status] {
            let refusal = error.as_refusal().unwrap_or_else(|| panic!("{error:?}"));
            assert_eq!((refusal.code(), refusal.reason()), (code, Some(reason)));
        }
    }
}

#[tokio::test]
async fn a_code_that_nobody_knows_keeps_its_number() {
    // A2A-RPC-34
    for code in [-32042, -31401, 7] {
        for reply in [
            Fake::json(refusal(code, "OUT_OF_TEA")),
            Fake::events(frames(&[&refusal(code, "OUT_OF_TEA")])),
        ] {
            let error = reply.client().send_message(&message()).await;
            let items = match error {
                Err(CallError::Refused(refusal)) => vec![refusal.code()],
                _ => reply
                    .items()
                    .await
                    .iter()
                    .filter_map(|item| item.as_ref().err()?.as_refusal())
                    .map(portcullis_a2a::model::Error::code)
                    .collect(),
            };
            assert_eq!(items, [code]);
        }
    }
    // What the reason tells goes before a foreign number.
    let error = Fake::json(refusal(-31404, "TASK_NOT_FOUND"))
        .client()
        .send_message(&message())
        .await
        .unwrap_err();
    assert_eq!(error.as_refusal().unwrap().code(), -32001);
}

#[tokio::test]
async fn a_reply_has_a_result_or_an_error() {
    // O-J04
    let both = r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":-32603,"message":"x"}}"#;
    let neither = r#"{"jsonrpc":"2.0","id":1}"#;
    for reply in [both, neither, "{}", "[]", "17", "", "<html>"] {
        let error = Fake::json(reply)
            .client()
            .send_message(&message())
            .await
            .unwrap_err();
        assert!(
            matches!(error, CallError::Protocol(_)),
            "{reply}: {error:?}"
        );
    }
}

#[tokio::test]
async fn other_answers_to_a_streaming_call_are_told() {
    // O-S09, O-D08: an error each, and nobody waits.
    let error = Fake::new(503, "text/html", vec!["<h1>busy</h1>".into()])
        .stream()
        .await
        .unwrap_err();
    assert!(
        matches!(&error, CallError::Status { status, .. } if status.as_u16() == 503),
        "{error:?}"
    );
    let error = Fake::new(
        429,
        "application/json",
        vec![r#"{"detail": "slow down"}"#.into()],
    )
    .stream()
    .await
    .unwrap_err();
    assert!(
        matches!(&error, CallError::Status { status, body, .. } if status.as_u16() == 429 && body.contains("slow down")),
        "{error:?}"
    );
    let error = Fake::json("").stream().await.unwrap_err();
    assert!(matches!(error, CallError::Protocol(_)), "{error:?}");
    let error = Fake::new(200, "text/html", vec!["<p>hello</p>".into()])
        .stream()
        .await
        .unwrap_err();
    assert!(error.to_string().contains("text/html"), "{error}");
}

#[tokio::test]
async fn a_stream_that_just_stops_is_cut() {
    // O-S10, A2A-OP-61
    let half = &frames(&[DONE])[..40];
    for text in [frames(&[TASK, CHUNK]), frames(&[TASK, CHUNK]) + half] {
        let items = Fake::events(format!("id: 9\n{text}")).items().await;
        let (last, events) = items.split_last().unwrap();
        assert_eq!(events.len(), 2);
        let Err(CallError::Cut {
            task_id,
            last_event_id,
        }) = last
        else {
            panic!("{last:?}")
        };
        assert_eq!(task_id.as_deref(), Some("t-1"));
        assert_eq!(last_event_id.as_deref(), Some("9"));
    }
    assert!(matches!(
        &Fake::events("").items().await[..],
        [Err(CallError::Cut { task_id: None, .. })]
    ));
}

#[tokio::test]
async fn a_stream_may_end_where_the_task_waits_or_ends() {
    let waits = DONE.replace("COMPLETED", "INPUT_REQUIRED");
    let message = r#"{"jsonrpc":"2.0","id":1,"result":{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"x"}]}}}"#;
    for (data, events) in [
        (vec![TASK, &waits], 2),
        (vec![message], 1),
        // What follows the last event is none, but for the whole task.
        (vec![TASK, DONE, DONE], 2),
    ] {
        let items = Fake::events(frames(&data)).items().await;
        assert_eq!(items.len(), events);
        assert!(items.iter().all(Result::is_ok), "{items:?}");
    }
    // The last event counts without its blank line, if it is whole (A2A-RPC-19).
    let text = frames(&[TASK, DONE]);
    assert!(
        Fake::events(text.trim_end())
            .items()
            .await
            .iter()
            .all(Result::is_ok)
    );
}

#[tokio::test(start_paused = true)]
async fn a_silent_stream_fails_in_time() {
    let fake = Fake::events(frames(&[TASK])).hanging();
    let client = fake.client().idle_timeout(Duration::from_secs(7));
    let began = tokio::time::Instant::now();
    let items: Vec<_> = client
        .send_streaming_message(&message())
        .await
        .unwrap()
        .collect()
        .await;
    assert!(
        matches!(&items[..], [Ok(_), Err(CallError::Idle)]),
        "{items:?}"
    );
    assert_eq!(began.elapsed(), Duration::from_secs(7));
}

#[tokio::test]
async fn a_reply_over_the_limit_is_refused() {
    let reply = DONE.replace("t-1", &"t".repeat(10_000));
    let client = Fake::json(reply).client().limit(1_000);
    let error = client
        .get_task(&GetTaskRequest::new("t"))
        .await
        .unwrap_err();
    assert!(matches!(error, CallError::TooLong(_)), "{error:?}");
}
