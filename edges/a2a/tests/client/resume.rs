//! Streams that are cut, and taken up again.

use std::time::Duration;

use futures_util::StreamExt;
use portcullis_a2a::{
    client::{CallError, Event, Resume},
    model::{ErrorKind, StreamResponse},
};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    scripted::{Reply, Scripted},
    support::message,
};

fn task(state: &str, artifacts: &Value) -> Value {
    json!({"id": "t", "contextId": "c", "status": {"state": format!("TASK_STATE_{state}")}, "artifacts": artifacts})
}

fn snapshot(state: &str, artifacts: &Value) -> Value {
    json!({"task": task(state, artifacts)})
}

fn status(state: &str) -> Value {
    json!({"statusUpdate": {"taskId": "t", "contextId": "c", "status": {"state": format!("TASK_STATE_{state}")}}})
}

fn artifact(id: &str, texts: &[&str]) -> Value {
    let parts: Vec<_> = texts.iter().map(|text| json!({"text": text})).collect();
    json!({"artifactId": id, "parts": parts})
}

fn text(text: &str, append: bool) -> Value {
    json!({"artifactUpdate": {"taskId": "t", "contextId": "c", "artifact": artifact("a", &[text]), "append": append}})
}

/// One line an event.
fn line(event: &Event) -> String {
    let said = match &event.response {
        StreamResponse::Task(task) => format!("task {}", task.status.state.as_str()),
        StreamResponse::StatusUpdate(update) => update.status.state.as_str().to_owned(),
        StreamResponse::ArtifactUpdate(update) => {
            let texts: Vec<_> = update
                .artifact
                .parts
                .iter()
                .map(|part| part.as_text().unwrap_or("-"))
                .collect();
            let sign = if update.append { "+" } else { "=" };
            format!("{}{sign}{}", update.artifact.artifact_id, texts.join("|"))
        }
        _ => "message".to_owned(),
    };
    let id = event.id.as_deref().map(|id| format!("{id}: "));
    (id.unwrap_or_default() + &said).replace("TASK_STATE_", "")
}

async fn follow(server: &Scripted, policy: Resume) -> (Vec<String>, Option<CallError>) {
    let client = server.client().idle_timeout(Duration::from_secs(60));
    let stream = client.send_streaming_message(&message()).await.unwrap();
    let mut stream = client.resuming(stream, policy);
    let mut lines = Vec::new();
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => {
                assert_eq!(stream.last_event_id(), event.id.as_deref());
                lines.push(line(&event));
            }
            Err(error) => {
                assert!(stream.next().await.is_none(), "an error is the last item");
                return (lines, Some(error));
            }
        }
    }
    assert!(stream.next().await.is_none());
    assert_eq!(stream.task_id(), Some("t"));
    (lines, None)
}

const START: &str = "SendStreamingMessage";
const JOIN: &str = "SubscribeToTask";
const READ: &str = "GetTask";

#[tokio::test(start_paused = true)]
async fn an_id_that_is_honoured_brings_what_follows() {
    // A2A-OP-61, O-S10
    let server = Scripted::new([
        Reply::Events(vec![
            (Some("1"), snapshot("SUBMITTED", &json!([]))),
            (Some("2"), status("WORKING")),
            (Some("3"), text("he", false)),
        ]),
        // The task as of event 3, its texts joined.
        Reply::Events(vec![
            (
                Some("3"),
                snapshot("WORKING", &json!([artifact("a", &["he"])])),
            ),
            (Some("4"), text("llo", true)),
        ]),
        Reply::Silent(vec![
            (
                Some("4"),
                snapshot("WORKING", &json!([artifact("a", &["hello"])])),
            ),
            (Some("5"), status("COMPLETED")),
        ]),
    ]);
    let (lines, error) = follow(&server, Resume::new()).await;
    assert!(error.is_none(), "{error:?}");
    let expected = [
        "1: task SUBMITTED",
        "2: WORKING",
        "3: a=he",
        "4: a+llo",
        "5: COMPLETED",
    ];
    assert_eq!(lines, expected);
    assert_eq!(server.methods(), [START, JOIN, JOIN]);
    let calls = server.calls();
    assert_eq!(calls[1].params, json!({"id": "t"}));
    let last: Vec<_> = calls
        .iter()
        .map(|call| call.last_event_id.as_deref())
        .collect();
    assert_eq!(last, [None, Some("3"), Some("4")]);
}

#[tokio::test(start_paused = true)]
async fn without_ids_what_is_missing_is_found_out() {
    let server = Scripted::new([
        Reply::Events(vec![
            (None, snapshot("WORKING", &json!([artifact("old", &["x"])]))),
            (None, text("he", false)),
        ]),
        // More of one, another, one that was replaced, and a new state.
        Reply::Events(vec![(
            None,
            snapshot(
                "AUTH_REQUIRED",
                &json!([
                    artifact("old", &["y"]),
                    artifact("a", &["hel", "lo"]),
                    artifact("b", &["new"])
                ]),
            ),
        )]),
        Reply::Events(vec![
            (
                None,
                snapshot(
                    "WORKING",
                    &json!([
                        artifact("old", &["y"]),
                        artifact("a", &["hello"]),
                        artifact("b", &["new"])
                    ]),
                ),
            ),
            (None, text("!", true)),
            (None, status("COMPLETED")),
        ]),
    ]);
    let (lines, error) = follow(&server, Resume::new()).await;
    // A stream may end where a task waits; this one had told so.
    assert!(error.is_none(), "{error:?}");
    assert_eq!(
        lines,
        [
            "task WORKING",
            "a=he",
            "old=y",
            "a+l|lo",
            "b=new",
            "AUTH_REQUIRED"
        ]
    );
    assert_eq!(server.left(), 1);
}

#[tokio::test(start_paused = true)]
async fn ids_that_are_alike_by_chance_hide_nothing() {
    // Other servers count each stream anew (A2A-RPC-20).
    let server = Scripted::new([
        Reply::Events(vec![(Some("0"), snapshot("WORKING", &json!([])))]),
        Reply::Events(vec![
            (
                Some("0"),
                snapshot("WORKING", &json!([artifact("a", &["missed"])])),
            ),
            (Some("1"), status("COMPLETED")),
        ]),
    ]);
    let (lines, _) = follow(&server, Resume::new()).await;
    assert_eq!(lines, ["0: task WORKING", "0: a=missed", "1: COMPLETED"]);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_ended_meanwhile_is_read() {
    // A2A-OP-61: nobody can join what is over.
    for refusal in [
        Reply::Refused(-32004),
        Reply::Refused(-32601),
        Reply::Status(404, None),
    ] {
        let server = Scripted::new([
            Reply::Events(vec![
                (None, snapshot("WORKING", &json!([]))),
                (None, text("he", false)),
            ]),
            refusal,
            Reply::Result(task("COMPLETED", &json!([artifact("a", &["hello"])]))),
        ]);
        let (lines, error) = follow(&server, Resume::new()).await;
        assert!(error.is_none(), "{error:?}");
        assert_eq!(lines, ["task WORKING", "a=he", "a+llo", "COMPLETED"]);
        assert_eq!(server.methods(), [START, JOIN, READ]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_lets_nobody_join_is_asked() {
    let mut replies = vec![Reply::Events(vec![(None, snapshot("WORKING", &json!([])))])];
    for texts in [&["a"][..], &["a"], &["a", "b"], &["a", "b", "c"]] {
        replies.push(Reply::Refused(-32004));
        replies.push(Reply::Result(task(
            "WORKING",
            &json!([artifact("a", texts)]),
        )));
    }
    replies.push(Reply::Refused(-32004));
    replies.push(Reply::Result(task(
        "FAILED",
        &json!([artifact("a", &["abcd"])]),
    )));
    let server = Scripted::new(replies);
    let (lines, error) = follow(&server, Resume::new().tries(2)).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(
        lines,
        ["task WORKING", "a=a", "a+b", "a+c", "a+d", "FAILED"]
    );
    assert_eq!(server.left(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_does_not_begin_with_the_task_is_not_trusted() {
    // Who knows what is missing before this event?
    let server = Scripted::new([
        Reply::Events(vec![(None, snapshot("WORKING", &json!([])))]),
        Reply::Silent(vec![(None, text("b", true))]),
        Reply::Result(task("COMPLETED", &json!([artifact("a", &["ab"])]))),
    ]);
    let (lines, _) = follow(&server, Resume::new()).await;
    assert_eq!(lines, ["task WORKING", "a=ab", "COMPLETED"]);
}

#[tokio::test(start_paused = true)]
async fn tries_are_few_and_far_between() {
    let start = || Reply::Events(vec![(None, snapshot("WORKING", &json!([])))]);
    let same = || Reply::Events(vec![(None, snapshot("WORKING", &json!([])))]);
    let fault = |n: usize| match n % 6 {
        0 => Reply::Broken,
        1 => Reply::Status(502, None),
        2 => Reply::Refused(-32603),
        3 => same(),
        4 => Reply::Silent(vec![]),
        _ => Reply::Hangs,
    };
    let policy = Resume::new()
        .tries(6)
        .waits(Duration::from_millis(100), Duration::from_secs(1));
    let server = Scripted::new([start()].into_iter().chain((0..6).map(fault)));
    let (lines, error) = follow(&server, policy).await;
    assert_eq!(lines, ["task WORKING"]);
    assert!(matches!(error, Some(CallError::NoReply)), "{error:?}");
    assert_eq!(server.left(), 0, "six tries");
    let calls = server.calls();
    for (index, most) in [100, 200, 400, 800, 1_000].into_iter().enumerate() {
        let waited = calls[index + 1].at - calls[index].at;
        let most = Duration::from_millis(most);
        // The timer goes by the millisecond.
        assert!(
            waited >= most / 2 && waited <= most + Duration::from_millis(2),
            "{waited:?}"
        );
    }
    // What is new makes the count begin again.
    let mut replies = vec![start()];
    for texts in [&["a"][..], &["a", "b"], &["a", "b", "c"]] {
        replies.extend([
            Reply::Broken,
            Reply::Events(vec![(
                None,
                snapshot("WORKING", &json!([artifact("a", texts)])),
            )]),
        ]);
    }
    replies.extend([Reply::Broken, Reply::Broken]);
    let server = Scripted::new(replies);
    let (lines, error) = follow(&server, policy.tries(2)).await;
    assert_eq!(lines, ["task WORKING", "a=a", "a+b", "a+c"]);
    assert!(matches!(error, Some(CallError::Transport(_))), "{error:?}");
    assert_eq!(server.left(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_server_says_when_to_come_again() {
    // In the stream, as a hint that does not count beyond the policy.
    let start = || Reply::Events(vec![(None, snapshot("WORKING", &json!([])))]);
    let policy = Resume::new().waits(Duration::from_millis(10), Duration::from_secs(20));
    let server = Scripted::new([
        start(),
        Reply::Status(503, Some("17")),
        Reply::Events(vec![(None, snapshot("COMPLETED", &json!([])))]),
    ]);
    let began = Instant::now();
    let (lines, error) = follow(&server, policy).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(lines, ["task WORKING", "COMPLETED"]);
    let waited = began.elapsed();
    assert!(
        waited >= Duration::from_secs(17) && waited < Duration::from_secs(19),
        "{waited:?}"
    );
    // Nobody waits for longer than the policy allows.
    let server = Scripted::new([start(), Reply::Status(503, Some("21"))]);
    let (_, error) = follow(&server, policy).await;
    let after = error.unwrap().retry_after();
    assert_eq!(after, Some(Duration::from_secs(21)));
}

#[tokio::test(start_paused = true)]
async fn what_no_try_can_mend_is_an_error_at_once() {
    for (fault, kind) in [
        (Reply::Refused(-32001), Some(ErrorKind::TaskNotFound)),
        (Reply::Status(401, None), None),
        (Reply::Result(json!({})), None),
        (
            Reply::Events(vec![(
                None,
                json!({"task": {"id": "other", "status": {"state": "TASK_STATE_WORKING"}}}),
            )]),
            None,
        ),
    ] {
        let server = Scripted::new([
            Reply::Events(vec![(None, snapshot("WORKING", &json!([])))]),
            fault,
        ]);
        let (lines, error) = follow(&server, Resume::new()).await;
        assert_eq!(lines.len(), 1);
        let error = error.unwrap();
        assert_eq!(
            error.as_refusal().map(portcullis_a2a::model::Error::kind),
            kind,
            "{error:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_policy_of_never_leaves_the_cut() {
    let server = Scripted::new([Reply::Events(vec![(
        Some("4"),
        snapshot("WORKING", &json!([])),
    )])]);
    let (_, error) = follow(&server, Resume::never()).await;
    let Some(CallError::Cut {
        task_id,
        last_event_id,
    }) = error
    else {
        panic!("{error:?}")
    };
    assert_eq!(
        (task_id.as_deref(), last_event_id.as_deref()),
        (Some("t"), Some("4"))
    );
    // Before there is a task, there is nothing to join.
    let server = Scripted::new([Reply::Events(vec![])]);
    let client = server.client();
    let stream = client.send_streaming_message(&message()).await.unwrap();
    let items: Vec<_> = client.resuming(stream, Resume::new()).collect().await;
    assert!(
        matches!(&items[..], [Err(CallError::Cut { task_id: None, .. })]),
        "{items:?}"
    );
}
