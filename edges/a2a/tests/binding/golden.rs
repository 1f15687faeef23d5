//! The examples of the requirements, EX-1 to EX-22 as far as they concern these operations.

use serde_json::json;

use crate::support::{Step, card, rig, rig_of};

fn texts(text: &str) -> Vec<Step> {
    match text {
        "say hello" => vec![
            Step::artifact(
                r#"{"artifactId": "a-1", "name": "reply", "parts": [{"text": "hello", "mediaType": "text/plain"}]}"#,
            ),
            Step::completed(),
        ],
        "what can you do?" => vec![Step::message("I repeat text.")],
        "ping" => vec![Step::message("pong")],
        "near me" => vec![Step::message("ok")],
        "write a short paragraph" => vec![
            Step::working(),
            Step::artifact(r#"{"artifactId": "a-1", "parts": [{"text": "a short paragraph"}]}"#),
            Step::completed(),
        ],
        "tell a story" => vec![
            Step::working(),
            Step::artifact(
                r#"{"artifactId": "a-1", "name": "story", "parts": [{"text": "Once "}], "metadata": {"lang": "en"}}"#,
            ),
            Step::append(
                r#"{"artifactId": "a-1", "parts": [{"text": "upon "}]}"#,
                false,
            ),
            Step::append(
                r#"{"artifactId": "a-1", "parts": [{"text": "a time."}], "metadata": {"words": 4}}"#,
                true,
            ),
            Step::completed(),
        ],
        "book a flight" => vec![Step::input_required("From where to where?")],
        "SFO to JFK" => vec![
            Step::artifact(
                r#"{"artifactId": "a-1", "name": "booking", "parts": [{"data": {"from": "SFO", "to": "JFK", "seats": 1}, "mediaType": "application/json"}]}"#,
            ),
            Step::completed(),
        ],
        "work in two parts" => vec![
            Step::working(),
            Step::artifact(r#"{"artifactId": "a-1", "parts": [{"text": "part one"}]}"#),
            Step::wait(),
            Step::artifact(r#"{"artifactId": "a-2", "parts": [{"text": "part two"}]}"#),
            Step::completed(),
        ],
        "raise" => vec![Step::working(), Step::fail()],
        "panic" => vec![Step::working(), Step::panic()],
        "wait" => vec![Step::submitted(), Step::wait(), Step::completed()],
        _ => vec![Step::completed()],
    }
}

// A2A-CARD-1, A2A-CARD-2, A2A-CARD-5
#[tokio::test]
async fn ex_1_the_card_and_a_conditional_request() {
    let rig = rig(texts);
    let first = rig.card("GET", &[]).await;
    assert_eq!(first.status, 200);
    assert_eq!(first.header("content-type"), "application/json");
    assert_eq!(first.header("cache-control"), "public, max-age=3600");
    let etag = first.header("etag").to_owned();
    assert!(
        etag.starts_with('"') && etag.len() > 10,
        "a strong tag: {etag}"
    );
    assert_eq!(first.json(), card());
    assert!(first.header("last-modified").ends_with(" GMT"));

    let head = rig.card("HEAD", &[]).await;
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(head.header("content-length"), first.body.len().to_string());

    let weak = format!("W/{etag}");
    let one_of_many = format!("\"x\", {etag}");
    let modified = first.header("last-modified").to_owned();
    for (name, value) in [
        ("if-none-match", etag.as_str()),
        ("if-none-match", &weak),
        ("if-none-match", &one_of_many),
        ("if-none-match", "*"),
        ("if-modified-since", &modified),
    ] {
        let again = rig.card("GET", &[(name, value)]).await;
        assert_eq!(
            (again.status, again.body.len()),
            (304, 0),
            "{name}: {value}"
        );
        assert_eq!(again.header("etag"), etag);
        assert_eq!(again.header("cache-control"), "public, max-age=3600");
    }
    for (name, value) in [
        ("if-none-match", "\"x\""),
        ("if-modified-since", "Thu, 01 Jan 1998 00:00:00 GMT"),
    ] {
        assert_eq!(
            rig.card("GET", &[(name, value)]).await.status,
            200,
            "{name}: {value}"
        );
    }
    // A tag that does not match wins over a date that would.
    assert_eq!(
        rig.card(
            "GET",
            &[("if-none-match", "\"x\""), ("if-modified-since", &modified)]
        )
        .await
        .status,
        200
    );
    // O-C03: whatever proxies say, it is what the host configured.
    let proxied = rig
        .card(
            "GET",
            &[
                ("host", "evil.example"),
                ("x-forwarded-host", "evil.example"),
                ("forwarded", "host=evil.example"),
            ],
        )
        .await;
    assert_eq!(proxied.body, first.body);
    // A2A-CARD-3.
    for (verb, status) in [("OPTIONS", 204), ("POST", 405), ("DELETE", 405)] {
        let other = rig.card(verb, &[]).await;
        assert_eq!((other.status, other.body.len()), (status, 0), "{verb}");
        assert_eq!(other.header("allow"), "GET, HEAD, OPTIONS", "{verb}");
    }
}

#[tokio::test]
async fn ex_2_a_blocking_call() {
    rig(texts)
        .call(
            r#"{"jsonrpc": "2.0", "id": 1, "method": "SendMessage",
                "params": {"message": {"messageId": "m-u1", "role": "ROLE_USER", "parts": [{"text": "say hello"}]},
                           "configuration": {"acceptedOutputModes": ["text/plain"]}}}"#,
            r#"{"jsonrpc": "2.0", "id": 1, "result": {"task": {
                "id": "t-1", "contextId": "c-1",
                "status": {"state": "TASK_STATE_COMPLETED", "timestamp": "2026-01-15T10:00:01.000Z"},
                "artifacts": [{"artifactId": "a-1", "name": "reply", "parts": [{"text": "hello", "mediaType": "text/plain"}]}],
                "history": [{"messageId": "m-u1", "contextId": "c-1", "taskId": "t-1", "role": "ROLE_USER", "parts": [{"text": "say hello"}]}]
            }}}"#,
        )
        .await;
}

#[tokio::test]
async fn ex_3_a_message_answers() {
    let mut rig = rig(texts);
    let request = r#"{"jsonrpc": "2.0", "id": "a", "method": "SendMessage",
        "params": {"message": {"messageId": "m-u2", "role": "ROLE_USER", "contextId": "c-1", "parts": [{"text": "what can you do?"}]}}}"#;
    rig.call(
        request,
        r#"{"jsonrpc": "2.0", "id": "a", "result": {"message": {
            "messageId": "m-a1", "contextId": "c-1", "role": "ROLE_AGENT", "parts": [{"text": "I repeat text."}]
        }}}"#,
    )
    .await;
    assert_eq!(
        rig.names.real("c-1"),
        "c-1",
        "a context of the client's is kept (A2A-OP-17)"
    );
}

#[tokio::test]
async fn ex_4_an_immediate_answer_without_history() {
    // The webhook of the example needs push notifications, which are refused as such (A2A-OP-53).
    let mut rig = rig(texts);
    rig.call(
        r#"{"jsonrpc": "2.0", "id": 2, "method": "SendMessage",
            "params": {"message": {"messageId": "m-u3", "role": "ROLE_USER",
                                   "parts": [{"text": "wait"}, {"raw": "UklGRg==", "filename": "a.wav", "mediaType": "audio/wav"}]},
                       "configuration": {"returnImmediately": true, "historyLength": 0}}}"#,
        r#"{"jsonrpc": "2.0", "id": 2, "result": {"task": {
            "id": "t-2", "contextId": "c-2",
            "status": {"state": "TASK_STATE_SUBMITTED", "timestamp": "2026-01-15T10:00:02.000Z"}
        }}}"#,
    )
    .await;
    rig.call(
        r#"{"jsonrpc": "2.0", "id": 2, "method": "SendMessage",
            "params": {"message": {"messageId": "m-u3", "role": "ROLE_USER", "parts": [{"text": "wait"}]},
                       "configuration": {"taskPushNotificationConfig": {"url": "https://hooks.example.net/a2a", "token": "tok-1",
                           "authentication": {"scheme": "Bearer", "credentials": "s3cret"}}}}}"#,
        r#"{"jsonrpc": "2.0", "id": 2, "error": {"code": -32003, "message": "Push notifications are not supported", "data": [
            {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "PUSH_NOTIFICATION_NOT_SUPPORTED", "domain": "a2a-protocol.org"}
        ]}}"#,
    )
    .await;
}

// A2A-RPC-17, A2A-RPC-20
#[tokio::test]
async fn ex_5_the_four_frames_of_the_seed() {
    let mut rig = rig(texts);
    let response = rig
        .events(
            r#"{"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage",
                "params": {"message": {"messageId": "m-u4", "role": "ROLE_USER", "parts": [{"text": "write a short paragraph"}]},
                           "configuration": {"historyLength": 0}}}"#,
            &[
                r#"{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2026-01-15T10:00:00.000Z"}}}}"#,
                r#"{"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{"taskId":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_WORKING","timestamp":"2026-01-15T10:00:00.100Z"}}}}"#,
                r#"{"jsonrpc":"2.0","id":1,"result":{"artifactUpdate":{"taskId":"t-1","contextId":"c-1","artifact":{"artifactId":"a-1","parts":[{"text":"a short paragraph"}]}}}}"#,
                r#"{"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{"taskId":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-01-15T10:00:00.200Z"}}}}"#,
            ],
        )
        .await;
    // O-S06
    assert_eq!(response.header("content-type"), "text/event-stream");
    assert_eq!(response.header("cache-control"), "no-cache, no-transform");
    assert_eq!(response.header("x-accel-buffering"), "no");
    assert!(!response.headers.contains_key("content-length"));
}

#[tokio::test]
async fn ex_6_a_stream_of_one_message() {
    rig(texts)
        .events(
            r#"{"jsonrpc": "2.0", "id": "s-6", "method": "SendStreamingMessage",
                "params": {"message": {"messageId": "m-u5", "role": "ROLE_USER", "parts": [{"text": "ping"}]}}}"#,
            &[r#"{"jsonrpc":"2.0","id":"s-6","result":{"message":{"messageId":"m-a2","contextId":"c-3","role":"ROLE_AGENT","parts":[{"text":"pong"}]}}}"#],
        )
        .await;
}

#[tokio::test]
async fn ex_7_chunks_and_what_they_fold_to() {
    let mut rig = rig(texts);
    rig.events(
        r#"{"jsonrpc": "2.0", "id": 7, "method": "SendStreamingMessage",
            "params": {"message": {"messageId": "m-u7", "role": "ROLE_USER", "parts": [{"text": "tell a story"}]}, "configuration": {"historyLength": 0}}}"#,
        &[
            r#"{"jsonrpc":"2.0","id":7,"result":{"task":{"id":"t-7","contextId":"c-7","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2026-01-15T10:01:00.000Z"}}}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{"statusUpdate":{"taskId":"t-7","contextId":"c-7","status":{"state":"TASK_STATE_WORKING","timestamp":"2026-01-15T10:01:00.000Z"}}}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{"artifactUpdate":{"taskId":"t-7","contextId":"c-7","artifact":{"artifactId":"a-1","name":"story","parts":[{"text":"Once "}],"metadata":{"lang":"en"}}}}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{"artifactUpdate":{"taskId":"t-7","contextId":"c-7","artifact":{"artifactId":"a-1","parts":[{"text":"upon "}]},"append":true}}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{"artifactUpdate":{"taskId":"t-7","contextId":"c-7","artifact":{"artifactId":"a-1","parts":[{"text":"a time."}],"metadata":{"words":4}},"append":true,"lastChunk":true}}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{"statusUpdate":{"taskId":"t-7","contextId":"c-7","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-01-15T10:01:03.000Z"}}}}"#,
        ],
    )
    .await;
    rig.call(
        r#"{"jsonrpc": "2.0", "id": 8, "method": "GetTask", "params": {"id": "t-7", "historyLength": 0}}"#,
        r#"{"jsonrpc": "2.0", "id": 8, "result": {
            "id": "t-7", "contextId": "c-7",
            "status": {"state": "TASK_STATE_COMPLETED", "timestamp": "2026-01-15T10:01:03.000Z"},
            "artifacts": [{"artifactId": "a-1", "name": "story",
                "parts": [{"text": "Once "}, {"text": "upon "}, {"text": "a time."}],
                "metadata": {"lang": "en", "words": 4}}]
        }}"#,
    )
    .await;
}

#[tokio::test]
async fn ex_8_and_9_a_question_its_answer_and_reading_the_task() {
    let mut rig = rig(texts);
    rig.call(
        r#"{"jsonrpc": "2.0", "id": 10, "method": "SendMessage",
            "params": {"message": {"messageId": "m-u8", "role": "ROLE_USER", "parts": [{"text": "book a flight"}]}}}"#,
        r#"{"jsonrpc": "2.0", "id": 10, "result": {"task": {
            "id": "t-8", "contextId": "c-8",
            "status": {"state": "TASK_STATE_INPUT_REQUIRED", "timestamp": "2026-01-15T10:02:00.000Z",
                "message": {"messageId": "m-a8", "contextId": "c-8", "taskId": "t-8", "role": "ROLE_AGENT", "parts": [{"text": "From where to where?"}]}},
            "history": [{"messageId": "m-u8", "contextId": "c-8", "taskId": "t-8", "role": "ROLE_USER", "parts": [{"text": "book a flight"}]}]
        }}}"#,
    )
    .await;
    rig.call(
        r#"{"jsonrpc": "2.0", "id": 11, "method": "SendMessage",
            "params": {"message": {"messageId": "m-u9", "taskId": "t-8", "role": "ROLE_USER", "parts": [{"text": "SFO to JFK"}]}}}"#,
        r#"{"jsonrpc": "2.0", "id": 11, "result": {"task": {
            "id": "t-8", "contextId": "c-8",
            "status": {"state": "TASK_STATE_COMPLETED", "timestamp": "2026-01-15T10:02:05.000Z"},
            "artifacts": [{"artifactId": "a-1", "name": "booking", "parts": [{"data": {"from": "SFO", "to": "JFK", "seats": 1}, "mediaType": "application/json"}]}],
            "history": [
                {"messageId": "m-u8", "contextId": "c-8", "taskId": "t-8", "role": "ROLE_USER", "parts": [{"text": "book a flight"}]},
                {"messageId": "m-a8", "contextId": "c-8", "taskId": "t-8", "role": "ROLE_AGENT", "parts": [{"text": "From where to where?"}]},
                {"messageId": "m-u9", "contextId": "c-8", "taskId": "t-8", "role": "ROLE_USER", "parts": [{"text": "SFO to JFK"}]}
            ]
        }}}"#,
    )
    .await;
    rig.call(
        r#"{"jsonrpc": "2.0", "id": 12, "method": "GetTask", "params": {"id": "t-8", "historyLength": 1}}"#,
        r#"{"jsonrpc": "2.0", "id": 12, "result": {
            "id": "t-8", "contextId": "c-8",
            "status": {"state": "TASK_STATE_COMPLETED", "timestamp": "2026-01-15T10:02:05.000Z"},
            "artifacts": [{"artifactId": "a-1", "name": "booking", "parts": [{"data": {"from": "SFO", "to": "JFK", "seats": 1}, "mediaType": "application/json"}]}],
            "history": [{"messageId": "m-u9", "contextId": "c-8", "taskId": "t-8", "role": "ROLE_USER", "parts": [{"text": "SFO to JFK"}]}]
        }}"#,
    )
    .await;
    let request = r#"{"jsonrpc": "2.0", "id": "n", "method": "GetTask", "params": {"id": "nope"}}"#;
    let not_found = r#"{"jsonrpc": "2.0", "id": "n", "error": {"code": -32001, "message": "Task not found", "data": [
        {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_FOUND", "domain": "a2a-protocol.org", "metadata": {"taskId": "nope"}}
    ]}}"#;
    let absent = rig.call(request, not_found).await;
    // Byte for byte the same for a task of another caller (A2A-OP-3, O-A02).
    let id = rig.names.real("t-8").to_owned();
    let foreign = rig
        .as_other()
        .post(&request.replace("nope", &id), &[])
        .await;
    let absent = String::from_utf8(absent.body.to_vec())
        .unwrap()
        .replace("nope", &id);
    assert_eq!(foreign.body, absent.as_bytes());
}

#[tokio::test(start_paused = true)]
async fn ex_10_lists() {
    let mut rig = rig(texts);
    // Status times have milliseconds: they must differ for the order to be told.
    for (name, text) in [("2", "wait"), ("7", "done"), ("8", "done")] {
        rig.ready(&format!(
            r#"{{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {{"message": {{"messageId": "m-u{name}", "role": "ROLE_USER", "parts": [{{"text": "{text}"}}]}},
                "configuration": {{"historyLength": 0, "returnImmediately": {}}}}}}}"#,
            text == "wait"
        ), name)
        .await;
    }
    rig.call(
        r#"{"jsonrpc": "2.0", "id": 20, "method": "ListTasks", "params": {"pageSize": 2}}"#,
        r#"{"jsonrpc": "2.0", "id": 20, "result": {
            "tasks": [
                {"id": "t-8", "contextId": "c-8", "status": {"state": "TASK_STATE_COMPLETED", "timestamp": "2026-01-15T10:02:05.000Z"}},
                {"id": "t-7", "contextId": "c-7", "status": {"state": "TASK_STATE_COMPLETED", "timestamp": "2026-01-15T10:01:03.000Z"}}
            ],
            "nextPageToken": "cur-1", "pageSize": 2, "totalSize": 3
        }}"#,
    )
    .await;
    rig.call(
        r#"{"jsonrpc": "2.0", "id": 21, "method": "ListTasks", "params": {"pageSize": 2, "pageToken": "cur-1"}}"#,
        r#"{"jsonrpc": "2.0", "id": 21, "result": {
            "tasks": [{"id": "t-2", "contextId": "c-2", "status": {"state": "TASK_STATE_SUBMITTED", "timestamp": "2026-01-15T10:00:02.000Z"}}],
            "nextPageToken": "", "pageSize": 2, "totalSize": 3
        }}"#,
    )
    .await;
    rig.call(
        r#"{"jsonrpc": "2.0", "id": 22, "method": "ListTasks", "params": {"context_id": "c-7", "status": "TASK_STATE_WORKING", "statusTimestampAfter": "2026-01-15T10:01:03.000Z", "includeArtifacts": true}}"#,
        r#"{"jsonrpc": "2.0", "id": 22, "result": {"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0}}"#,
    )
    .await;
}

// A2A-DATA-23, A2A-RPC-32, A2A-OP-36, A2A-OP-76
#[tokio::test]
async fn ex_11_every_fault_at_once() {
    let mut rig = rig(texts);
    rig.call(
        r#"{"jsonrpc": "2.0", "id": 23, "method": "ListTasks", "params": {"pageSize": 150, "historyLength": -5, "status": "TASK_STATE_RUNNING"}}"#,
        r#"{"jsonrpc": "2.0", "id": 23, "error": {"code": -32602, "message": "Invalid parameters", "data": [
            {"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [
                {"field": "pageSize", "description": "must be between 1 and 100"},
                {"field": "historyLength", "description": "must not be negative"},
                {"field": "status", "description": "unknown task state"}
            ]}
        ]}}"#,
    )
    .await;
    rig.call(
        r#"{"jsonrpc": "2.0", "id": 24, "method": "SendMessage", "params": {"message": {"messageId": "m-x", "role": "ROLE_USER", "parts": [{"text": "a", "url": "https://example.com/b"}, {"metadata": {}}]}}}"#,
        r#"{"jsonrpc": "2.0", "id": 24, "error": {"code": -32602, "message": "Invalid parameters", "data": [
            {"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [
                {"field": "message.parts[0]", "description": "exactly one of text, raw, url, data is allowed"},
                {"field": "message.parts[1]", "description": "one of text, raw, url, data is required"}
            ]}
        ]}}"#,
    )
    .await;
}

#[tokio::test]
async fn ex_12_cancelling() {
    let mut rig = rig(texts);
    rig.ready(
        r#"{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": {"messageId": "m-u2", "role": "ROLE_USER", "parts": [{"text": "wait"}]},
            "configuration": {"historyLength": 0, "returnImmediately": true}}}"#,
        "2",
    )
    .await;
    let mut watcher = rig
        .watch(r#"{"jsonrpc": "2.0", "id": "w", "method": "SubscribeToTask", "params": {"id": "t-2"}}"#)
        .await;
    let first = watcher.next().await;
    let cancel = r#"{"jsonrpc": "2.0", "id": 30, "method": "CancelTask", "params": {"id": "t-2", "metadata": {"reason": "user closed the window"}}}"#;
    for _ in 0..2 {
        // The history of a task that is asked for by id is the server's choice; compare without.
        let mut got = rig.post(&rig.names.resolve(cancel), &[]).await.json();
        got["result"].as_object_mut().unwrap().remove("history");
        rig.names.same(
            &got,
            r#"{"jsonrpc": "2.0", "id": 30, "result": {"id": "t-2", "contextId": "c-2", "status": {"state": "TASK_STATE_CANCELED", "timestamp": "2026-01-15T10:03:00.000Z"}}}"#,
        );
    }
    let mut first = first.unwrap();
    first["result"]["task"]
        .as_object_mut()
        .unwrap()
        .remove("history");
    rig.names.same(
        &first,
        r#"{"jsonrpc":"2.0","id":"w","result":{"task":{"id":"t-2","contextId":"c-2","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2026-01-15T10:00:02.000Z"}}}}"#,
    );
    rig.names.same(
        &watcher.next().await.unwrap(),
        r#"{"jsonrpc":"2.0","id":"w","result":{"statusUpdate":{"taskId":"t-2","contextId":"c-2","status":{"state":"TASK_STATE_CANCELED","timestamp":"2026-01-15T10:03:00.000Z"}}}}"#,
    );
    assert!(watcher.next().await.is_none());

    rig.ready(
        r#"{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": {"messageId": "m-u7", "role": "ROLE_USER", "parts": [{"text": "done"}]}}}"#,
        "7",
    )
    .await;
    rig.call(
        r#"{"jsonrpc": "2.0", "id": 31, "method": "CancelTask", "params": {"id": "t-7"}}"#,
        r#"{"jsonrpc": "2.0", "id": 31, "error": {"code": -32002, "message": "Task cannot be canceled", "data": [
            {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_CANCELABLE", "domain": "a2a-protocol.org", "metadata": {"taskId": "t-7", "state": "TASK_STATE_COMPLETED"}}
        ]}}"#,
    )
    .await;
}

#[tokio::test]
async fn ex_13_joining_a_task() {
    let mut rig = rig(texts);
    let mut caller = rig
        .watch(r#"{"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": {"message": {"messageId": "m-u9", "role": "ROLE_USER", "parts": [{"text": "work in two parts"}]}}}"#)
        .await;
    let opened = caller.next().await.unwrap();
    let task = &opened["result"]["task"];
    rig.names.same(
        &json!({"taskId": task["id"], "contextId": task["contextId"]}),
        r#"{"taskId": "t-9", "contextId": "c-9"}"#,
    );
    for _ in ["working", "part one"] {
        caller.next().await.unwrap();
    }
    let mut watcher = rig
        .watch(
            r#"{"jsonrpc": "2.0", "id": 40, "method": "SubscribeToTask", "params": {"id": "t-9"}}"#,
        )
        .await;
    let mut first = watcher.next().await.unwrap();
    first["result"]["task"]
        .as_object_mut()
        .unwrap()
        .remove("history");
    rig.names.same(
        &first,
        r#"{"jsonrpc":"2.0","id":40,"result":{"task":{"id":"t-9","contextId":"c-9","status":{"state":"TASK_STATE_WORKING","timestamp":"2026-01-15T10:04:00.000Z"},"artifacts":[{"artifactId":"a-1","parts":[{"text":"part one"}]}]}}}"#,
    );
    rig.go_on();
    for want in [
        r#"{"jsonrpc":"2.0","id":40,"result":{"artifactUpdate":{"taskId":"t-9","contextId":"c-9","artifact":{"artifactId":"a-2","parts":[{"text":"part two"}]}}}}"#,
        r#"{"jsonrpc":"2.0","id":40,"result":{"statusUpdate":{"taskId":"t-9","contextId":"c-9","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-01-15T10:04:09.000Z"}}}}"#,
    ] {
        rig.names.same(&watcher.next().await.unwrap(), want);
    }
    assert!(watcher.next().await.is_none());
    rig.call(
        r#"{"jsonrpc": "2.0", "id": 41, "method": "SubscribeToTask", "params": {"id": "t-9"}}"#,
        r#"{"jsonrpc": "2.0", "id": 41, "error": {"code": -32004, "message": "This operation is not supported", "data": [
            {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "UNSUPPORTED_OPERATION", "domain": "a2a-protocol.org", "metadata": {"taskId": "t-9", "state": "TASK_STATE_COMPLETED"}}
        ]}}"#,
    )
    .await;
}

#[tokio::test]
async fn ex_14_the_executor_fails() {
    // O-J04, O-J08, O-A03: an error and a panic end the same way, and say nothing of the cause.
    for text in ["raise", "panic"] {
        let mut rig = rig(texts);
        let mut caller = rig
            .watch(&format!(
                r#"{{"jsonrpc": "2.0", "id": 50, "method": "SendStreamingMessage", "params": {{"message": {{"messageId": "m-u10", "role": "ROLE_USER", "parts": [{{"text": "{text}"}}]}}, "configuration": {{"historyLength": 0}}}}}}"#
            ))
            .await;
        for want in [
            r#"{"jsonrpc":"2.0","id":50,"result":{"task":{"id":"t-10","contextId":"c-10","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2026-01-15T10:05:00.000Z"}}}}"#,
            r#"{"jsonrpc":"2.0","id":50,"result":{"statusUpdate":{"taskId":"t-10","contextId":"c-10","status":{"state":"TASK_STATE_WORKING","timestamp":"2026-01-15T10:05:00.100Z"}}}}"#,
        ] {
            rig.names.same(&caller.next().await.unwrap(), want);
        }
        let failed = caller.next().await.unwrap();
        let status = &failed["result"]["statusUpdate"]["status"];
        assert_eq!(status["state"], "TASK_STATE_FAILED", "{failed}");
        let said = status["message"]["parts"][0]["text"].as_str().unwrap();
        assert!(!said.contains("secret"), "{said}");
        assert_eq!(status["message"]["role"], "ROLE_AGENT");
        assert!(caller.next().await.is_none());
        // Others are served as before.
        let fine = rig.post(r#"{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": {"messageId": "m-u", "role": "ROLE_USER", "parts": [{"text": "ping"}]}}}"#, &[]).await;
        assert!(fine.json()["result"]["message"].is_object());
    }
}

#[tokio::test]
async fn ex_17_capabilities_that_are_not_there() {
    let mut plain = card();
    plain["capabilities"] = json!({});
    let mut rig = rig_of(&plain, texts);
    for (method, params) in [
        (
            "CreateTaskPushNotificationConfig",
            r#"{"taskId": "t-9", "url": "https://hooks.example.net/a2a"}"#,
        ),
        (
            "GetTaskPushNotificationConfig",
            r#"{"taskId": "t-9", "id": "p-1"}"#,
        ),
        ("ListTaskPushNotificationConfigs", r#"{"taskId": "t-9"}"#),
        (
            "DeleteTaskPushNotificationConfig",
            r#"{"taskId": "t-9", "id": "p-1"}"#,
        ),
    ] {
        rig.call(
            &format!(r#"{{"jsonrpc": "2.0", "id": 70, "method": "{method}", "params": {params}}}"#),
            r#"{"jsonrpc": "2.0", "id": 70, "error": {"code": -32003, "message": "Push notifications are not supported", "data": [
                {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "PUSH_NOTIFICATION_NOT_SUPPORTED", "domain": "a2a-protocol.org"}
            ]}}"#,
        )
        .await;
    }
    let message =
        r#"{"message": {"messageId": "m-u", "role": "ROLE_USER", "parts": [{"text": "x"}]}}"#;
    for (id, method, params) in [
        (71, "SendStreamingMessage", Some(message)),
        (71, "SubscribeToTask", Some(r#"{"id": "t-9"}"#)),
        (72, "GetExtendedAgentCard", None),
    ] {
        let params = params.map_or(String::new(), |params| format!(r#", "params": {params}"#));
        let response = rig
            .call(
                &format!(r#"{{"jsonrpc": "2.0", "id": {id}, "method": "{method}"{params}}}"#),
                &format!(
                    r#"{{"jsonrpc": "2.0", "id": {id}, "error": {{"code": -32004, "message": "This operation is not supported", "data": [
                        {{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "UNSUPPORTED_OPERATION", "domain": "a2a-protocol.org", "metadata": {{"method": "{method}"}}}}
                    ]}}}}"#
                ),
            )
            .await;
        // Known before the first event: no stream (A2A-RPC-21).
        assert_eq!(response.header("content-type"), "application/json");
    }
}

#[tokio::test]
async fn ex_17_an_extended_card_that_is_declared_only() {
    let mut declared = card();
    declared["capabilities"] = json!({"extendedAgentCard": true});
    rig_of(&declared, texts)
        .call(
            r#"{"jsonrpc": "2.0", "id": 72, "method": "GetExtendedAgentCard"}"#,
            r#"{"jsonrpc": "2.0", "id": 72, "error": {"code": -32007, "message": "Extended agent card is not configured", "data": [
                {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "EXTENDED_AGENT_CARD_NOT_CONFIGURED", "domain": "a2a-protocol.org"}
            ]}}"#,
        )
        .await;
}

// A2A-RPC-14, A2A-SVC-4..9
#[tokio::test]
async fn ex_18_versions() {
    // O-V01
    let rig = rig(texts);
    let request = r#"{"jsonrpc": "2.0", "id": 80, "method": "GetTask", "params": {"id": "nope"}}"#;
    for (versions, query, requested) in [
        (vec![], "", Some("0.3")),
        (vec![""], "", Some("0.3")),
        (vec!["0.3"], "", Some("0.3")),
        (vec!["0.5"], "", Some("0.5")),
        (vec!["1.1"], "", Some("1.1")),
        (vec!["99.0"], "", Some("99.0")),
        (vec!["one"], "", Some("one")),
        (vec!["0.3"], "?A2A-Version=1.0", Some("0.3")),
        (vec!["1.0"], "", None),
        (vec![" 1.0 "], "", None),
        (vec!["1.0.1"], "", None),
        (vec![], "?A2A-Version=1.0", None),
        (vec![], "?x=1&a2a-version=1.0", None),
        (vec!["1.0"], "?A2A-Version=0.3", None),
    ] {
        let headers: Vec<_> = versions
            .iter()
            .map(|version| ("a2a-version", *version))
            .collect();
        let reply = rig
            .send("POST", &format!("/rpc{query}"), &headers, request)
            .await
            .json();
        let error = &reply["error"];
        assert_eq!(reply["id"], 80);
        if let Some(requested) = requested {
            assert_eq!(error["code"], -32009, "{versions:?} {query}: {reply}");
            let info = &error["data"][0];
            assert_eq!(info["reason"], "VERSION_NOT_SUPPORTED");
            assert_eq!(
                info["metadata"],
                json!({"requestedVersion": requested, "supportedVersions": "1.0"})
            );
        } else {
            assert_eq!(error["code"], -32001, "{versions:?} {query}: {reply}");
        }
    }
    // Before the parameters and the method are looked at.
    for request in [
        r#"{"jsonrpc": "2.0", "id": 80, "method": "SendMessage", "params": {}}"#,
        r#"{"jsonrpc": "2.0", "id": 80, "method": "tasks/get"}"#,
    ] {
        let reply = rig
            .send("POST", "/rpc", &[("a2a-version", "99.0")], request)
            .await
            .json();
        assert_eq!(reply["error"]["code"], -32009, "{reply}");
    }
}

// A2A-EXT-3, A2A-EXT-7, A2A-SVC-13, A2A-SVC-14
#[tokio::test]
async fn ex_19_extensions() {
    // O-V05
    let (sign, geo) = (
        "https://example.com/ext/sign/v1",
        "https://example.com/ext/geo/v1",
    );
    let mut extended = card();
    extended["capabilities"]["extensions"] = json!([{"uri": sign, "required": true}, {"uri": geo}]);
    let mut rig = rig_of(&extended, texts);
    // On every operation (ruling 19).
    let message =
        r#"{"message": {"messageId": "m-u", "role": "ROLE_USER", "parts": [{"text": "x"}]}}"#;
    for (method, params) in [
        ("SendMessage", message),
        ("SendStreamingMessage", message),
        ("GetTask", r#"{"id": "x"}"#),
        ("ListTasks", "{}"),
        ("CancelTask", r#"{"id": "x"}"#),
        ("SubscribeToTask", r#"{"id": "x"}"#),
    ] {
        rig.call(
            &format!(r#"{{"jsonrpc": "2.0", "id": 90, "method": "{method}", "params": {params}}}"#),
            r#"{"jsonrpc": "2.0", "id": 90, "error": {"code": -32008, "message": "Extension support required", "data": [
                {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "EXTENSION_SUPPORT_REQUIRED", "domain": "a2a-protocol.org", "metadata": {"extensions": "https://example.com/ext/sign/v1"}}
            ]}}"#,
        )
        .await;
    }
    assert_eq!(rig.card("GET", &[]).await.status, 200, "never on the card");

    let request = r#"{"jsonrpc": "2.0", "id": 91, "method": "SendMessage", "params": {"message": {"messageId": "m-u20", "role": "ROLE_USER", "parts": [{"text": "near me"}], "extensions": ["https://example.com/ext/geo/v1"], "metadata": {"https://example.com/ext/geo/v1": {"lat": 37.77, "lon": -122.42}}}}}"#;
    let want = r#"{"jsonrpc": "2.0", "id": 91, "result": {"message": {"messageId": "m-a20", "contextId": "c-20", "role": "ROLE_AGENT", "parts": [{"text": "ok"}]}}}"#;
    let one_line = format!("{sign}, https://example.com/ext/unknown/v9, {geo}");
    for lines in [
        vec![one_line.as_str()],
        vec![sign, "https://example.com/ext/unknown/v9 , ", geo, sign],
    ] {
        let mut headers = vec![("a2a-version", "1.0")];
        headers.extend(lines.iter().map(|line| ("a2a-extensions", *line)));
        let response = rig.send("POST", "/rpc", &headers, request).await;
        crate::names::Names::default().same(&response.json(), want);
        assert_eq!(response.header("a2a-extensions"), format!("{sign},{geo}"));
    }
    let stream = request.replace("SendMessage", "SendStreamingMessage");
    let response = rig
        .send(
            "POST",
            "/rpc",
            &[("a2a-version", "1.0"), ("a2a-extensions", &one_line)],
            stream,
        )
        .await;
    assert_eq!(response.header("content-type"), "text/event-stream");
    assert_eq!(response.header("a2a-extensions"), format!("{sign},{geo}"));
}

#[tokio::test]
async fn ex_20_a_part_that_the_agent_cannot_read() {
    let mut rig = rig(texts);
    for method in ["SendMessage", "SendStreamingMessage"] {
        rig.call(
            &format!(r#"{{"jsonrpc": "2.0", "id": 95, "method": "{method}", "params": {{"message": {{"messageId": "m-u21", "role": "ROLE_USER", "parts": [{{"text": "look"}}, {{"raw": "AAEC", "mediaType": "application/x-odd"}}]}}}}}}"#),
            r#"{"jsonrpc": "2.0", "id": 95, "error": {"code": -32005, "message": "Content type not supported", "data": [
                {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "CONTENT_TYPE_NOT_SUPPORTED", "domain": "a2a-protocol.org", "metadata": {"mediaType": "application/x-odd", "field": "message.parts[1]"}}
            ]}}"#,
        )
        .await;
    }
}

// A2A-RPC-3, A2A-RPC-4, A2A-RPC-7, A2A-RPC-9, A2A-RPC-10, A2A-RPC-26, A2A-EXT-10
#[tokio::test]
async fn ex_21_errors_of_the_protocol() {
    let mut rig = rig(texts);
    rig.ready(
        r#"{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": {"messageId": "m-u8", "role": "ROLE_USER", "parts": [{"text": "done"}]}}}"#,
        "8",
    )
    .await;
    let invalid = |id| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32600,"message":"Request payload validation error"}}}}"#
        )
    };
    for (request, want) in [
        (r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","#, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Invalid JSON payload"}}"#.to_owned()),
        (r#"{"jsonrpc":"1.0","id":5,"method":"GetTask","params":{"id":"t-8"}}"#, invalid("5")),
        (r#"{"jsonrpc":"2.0","id":{"a":1},"method":"GetTask"}"#, invalid("null")),
        (r#"{"jsonrpc":"2.0","id":6}"#, invalid("6")),
        (r#"[{"jsonrpc":"2.0","id":7,"method":"GetTask","params":{"id":"t-8"}}]"#, invalid("null")),
        (r#"{"jsonrpc":"2.0","id":8,"method":"tasks/get","params":{"id":"t-8"}}"#, r#"{"jsonrpc":"2.0","id":8,"error":{"code":-32601,"message":"Method not found"}}"#.to_owned()),
        (r#"{"jsonrpc":"2.0","id":"x","method":"GetTask"}"#, r#"{"jsonrpc":"2.0","id":"x","error":{"code":-32602,"message":"Invalid parameters","data":[{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"id","description":"required"}]}]}}"#.to_owned()),
    ] {
        rig.call(request, &want).await;
    }
    let positional = rig
        .post(
            r#"{"jsonrpc":"2.0","id":9,"method":"GetTask","params":["t-8"]}"#,
            &[],
        )
        .await
        .json();
    assert_eq!(
        (&positional["id"], &positional["error"]["code"]),
        (&json!(9), &json!(-32602))
    );
    let notification = rig
        .post(
            r#"{"jsonrpc":"2.0","method":"GetTask","params":{"id":"t-8"}}"#,
            &[],
        )
        .await;
    assert_eq!((notification.status, notification.body.len()), (204, 0));
    let future = rig.names.resolve(
        r#"{"jsonrpc":"2.0","id":10,"method":"GetTask","params":{"id":"t-8","futureField":true}}"#,
    );
    assert!(rig.post(&future, &[]).await.json()["result"].is_object());
}

#[tokio::test]
async fn ex_22_messages_that_fit_no_task() {
    let mut rig = rig(texts);
    rig.ready(
        r#"{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": {"messageId": "m-u7", "role": "ROLE_USER", "parts": [{"text": "done"}]}}}"#,
        "7",
    )
    .await;
    rig.ready(
        r#"{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": {"messageId": "m-u11", "role": "ROLE_USER", "parts": [{"text": "book a flight"}]}}}"#,
        "11",
    )
    .await;
    rig.call(
        r#"{"jsonrpc": "2.0", "id": 100, "method": "SendMessage", "params": {"message": {"messageId": "m-u30", "taskId": "t-7", "role": "ROLE_USER", "parts": [{"text": "more"}]}}}"#,
        r#"{"jsonrpc": "2.0", "id": 100, "error": {"code": -32004, "message": "The task is finished and accepts no messages", "data": [
            {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "UNSUPPORTED_OPERATION", "domain": "a2a-protocol.org", "metadata": {"taskId": "t-7", "state": "TASK_STATE_COMPLETED"}}
        ]}}"#,
    )
    .await;
    rig.call(
        r#"{"jsonrpc": "2.0", "id": 101, "method": "SendMessage", "params": {"message": {"messageId": "m-u31", "taskId": "t-11", "contextId": "c-1", "role": "ROLE_USER", "parts": [{"text": "more"}]}}}"#,
        r#"{"jsonrpc": "2.0", "id": 101, "error": {"code": -32602, "message": "Invalid parameters", "data": [
            {"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [{"field": "message.contextId", "description": "does not match the context of the task"}]}
        ]}}"#,
    )
    .await;
    // The history stays untouched (A2A-OP-20).
    let task = rig
        .post(
            &rig.names.resolve(
                r#"{"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "t-11"}}"#,
            ),
            &[],
        )
        .await
        .json();
    assert_eq!(task["result"]["history"].as_array().unwrap().len(), 1);
    rig.call(
        r#"{"jsonrpc": "2.0", "id": 102, "method": "SendMessage", "params": {"message": {"messageId": "m-u32", "taskId": "my-own-id", "role": "ROLE_USER", "parts": [{"text": "new"}]}}}"#,
        r#"{"jsonrpc": "2.0", "id": 102, "error": {"code": -32001, "message": "Task not found", "data": [
            {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_FOUND", "domain": "a2a-protocol.org", "metadata": {"taskId": "my-own-id"}}
        ]}}"#,
    )
    .await;
    let refined = rig.post(&rig.names.resolve(r#"{"jsonrpc": "2.0", "id": 103, "method": "SendMessage", "params": {"message": {"messageId": "m-u33", "contextId": "c-7", "referenceTaskIds": ["t-7"], "role": "ROLE_USER", "parts": [{"text": "make it sad"}]}}}"#), &[]).await.json();
    let task = &refined["result"]["task"];
    assert_eq!(task["contextId"], rig.names.real("c-7"));
    assert_ne!(task["id"], rig.names.real("t-7"));
}
