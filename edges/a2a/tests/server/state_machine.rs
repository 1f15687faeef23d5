//! Whatever an executor emits, a task obeys its state machine (O-L10, A2A-OP-116).

use std::time::Duration;

use portcullis_a2a::{
    model::ErrorKind,
    server::{Server, executor_fn},
};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::support::{
    call, card, follow_up, next, open_stream, refused, scripted, send, server_of, state_of,
};

const WORDS: [&str; 12] = [
    "work", "artifact", "more", "ask", "auth", "complete", "fail", "reject", "cancel", "submit",
    "say", "yield",
];

fn script() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&WORDS[..]), 0..8).prop_map(|words| words.join(" "))
}

fn is_terminal(state: &str) -> bool {
    ["COMPLETED", "FAILED", "CANCELED", "REJECTED"]
        .iter()
        .any(|terminal| state.ends_with(terminal))
}

/// All frames. A stream stays open while its task waits for its caller, so one that is
/// silent then is left.
async fn stream(server: &Server, params: Value) -> Vec<Value> {
    let mut frames = open_stream(server, "SendStreamingMessage", params).await;
    let mut seen = Vec::new();
    loop {
        match timeout(Duration::from_secs(1), next(&mut frames)).await {
            Ok(Some(frame)) => seen.push(frame),
            Ok(None) => return seen,
            Err(_) => {
                let statuses = seen
                    .iter()
                    .rfind(|frame| frame.get("artifactUpdate").is_none());
                let state = state_of(statuses.expect("frames"));
                assert!(state.ends_with("_REQUIRED"), "{seen:?}");
                return seen;
            }
        }
    }
}

/// A message is the whole answer; else the first frame is the task, nothing follows a
/// terminal state, nothing goes back to SUBMITTED, times do not go back, and what the
/// stream told is what is stored.
fn check(frames: &[Value], stored: &Value) {
    let first = &frames[0];
    if first.get("message").is_some() {
        assert_eq!(frames.len(), 1);
        return;
    }
    assert!(first.get("task").is_some(), "{frames:?}");
    let mut state = state_of(first).to_owned();
    let mut time = first["task"]["status"]["timestamp"]
        .as_str()
        .expect("a time")
        .to_owned();
    let mut left_submitted = state != "TASK_STATE_SUBMITTED";
    for frame in &frames[1..] {
        assert!(!is_terminal(&state), "{frames:?}");
        assert!(frame.get("task").is_none() && frame.get("message").is_none());
        if frame.get("statusUpdate").is_some() {
            state = state_of(frame).to_owned();
            let submitted = state == "TASK_STATE_SUBMITTED";
            assert!(!(submitted && left_submitted), "{frames:?}");
            left_submitted |= !submitted;
            let next = frame["statusUpdate"]["status"]["timestamp"]
                .as_str()
                .expect("a time");
            assert!(time.as_str() <= next);
            time = next.to_owned();
        }
    }
    assert_eq!(state, state_of(stored), "{frames:?}");
    assert!(
        is_terminal(&state) || state.ends_with("_REQUIRED"),
        "{state}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_order_of_events_is_a_task(one in script(), two in script(), cancel in any::<bool>()) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let server = server_of(
                Server::builder(executor_fn(scripted), card()).streams_end_at_input(false),
            );
            if one.split(' ').find(|word| *word != "yield") == Some("more") {
                // A breach with nothing before it (A2A-OP-44).
                let error = refused(&server, "SendStreamingMessage", send(&one)).await;
                assert_eq!(error.kind(), ErrorKind::InvalidAgentResponse);
                let all = call(&server, "ListTasks", json!({})).await;
                assert_eq!(all["totalSize"], 0);
                return;
            }
            let frames = stream(&server, send(&one)).await;
            if frames[0].get("message").is_some() {
                check(&frames, &Value::Null);
                return;
            }
            let get = || call(&server, "GetTask", json!({"id": "t-1"}));
            let stored = get().await;
            check(&frames, &stored);
            if is_terminal(state_of(&stored)) {
                return;
            }
            if cancel {
                let canceled = call(&server, "CancelTask", json!({"id": "t-1"})).await;
                assert_eq!(state_of(&canceled), "TASK_STATE_CANCELED");
                assert_eq!(get().await, canceled);
                return;
            }
            let follow = follow_up("t-1", "m-2", &two);
            check(&stream(&server, follow).await, &get().await);
        });
    }
}
