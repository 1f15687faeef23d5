//! The examples of the requirements for HTTP+JSON: EX-23, and others in its form.

use serde_json::{Value, json};

use crate::support::{Rig, Step, card, rig, rig_of};

fn texts(text: &str) -> Vec<Step> {
    match text {
        "say hello" => vec![
            Step::artifact(
                r#"{"artifactId": "a-1", "name": "reply", "parts": [{"text": "hello", "mediaType": "text/plain"}]}"#,
            ),
            Step::completed(),
        ],
        "ping" => vec![Step::message("pong")],
        "wait" => vec![Step::working(), Step::wait(), Step::completed()],
        "raise" => vec![Step::working(), Step::fail()],
        "ask" => vec![Step::input_required("From where to where?")],
        _ => vec![Step::completed()],
    }
}

/// A body of SendMessage.
pub(crate) fn say(text: &str) -> Value {
    json!({"message": {"messageId": "m-u1", "role": "ROLE_USER", "parts": [{"text": text}]}})
}

pub(crate) fn now(text: &str) -> String {
    let mut body = say(text);
    body["configuration"] = json!({"returnImmediately": true});
    body.to_string()
}

/// Sends a message and gives the id of its task.
async fn task(rig: &Rig, body: &str) -> String {
    let reply = rig.rest("POST", "/message:send", &[], body).await;
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json()["task"]["id"].as_str().unwrap().to_owned()
}

const A2A_JSON: (&str, &str) = ("content-type", "application/a2a+json");

#[tokio::test]
async fn ex_23_a_blocking_call() {
    let mut rig = rig(texts);
    let reply = rig
        .rest(
            "POST",
            "/message:send",
            &[A2A_JSON],
            r#"{"message": {"messageId": "m-u1", "role": "ROLE_USER", "parts": [{"text": "say hello"}]}, "configuration": {"historyLength": 0}}"#,
        )
        .await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("content-type"), "application/a2a+json");
    rig.names.same(
        &reply.json(),
        r#"{"task": {"id": "t-1", "contextId": "c-1", "status": {"state": "TASK_STATE_COMPLETED", "timestamp": "2026-01-15T10:00:01.000Z"}, "artifacts": [{"artifactId": "a-1", "name": "reply", "parts": [{"text": "hello", "mediaType": "text/plain"}]}]}}"#,
    );
}

#[tokio::test]
async fn ex_23_a_list_with_filters() {
    let mut rig = rig(texts);
    task(&rig, &say("say hello").to_string()).await;
    let mut body = say("say hello");
    body["message"]["contextId"] = json!("c-7");
    task(&rig, &body.to_string()).await;
    let reply = rig
        .rest(
            "GET",
            "/tasks?contextId=c-7&status=TASK_STATE_COMPLETED&pageSize=10&includeArtifacts=false&statusTimestampAfter=2026-01-15T10%3A00%3A00Z",
            &[],
            "",
        )
        .await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("content-type"), "application/a2a+json");
    let got = reply.json();
    assert_eq!(got["tasks"][0]["contextId"], "c-7");
    rig.names.same(
        &got,
        r#"{"tasks": [{"id": "t-7", "contextId": "c-7", "status": {"state": "TASK_STATE_COMPLETED", "timestamp": "2026-01-15T10:01:03.000Z"}}], "nextPageToken": "", "pageSize": 10, "totalSize": 1}"#,
    );
}

#[tokio::test]
async fn ex_23_not_found_on_a_tenant_route() {
    let mut card = card();
    card["supportedInterfaces"][1]["tenant"] = json!("acme");
    // The same for a tenant that there is and for one that there is not (A2A-OP-10).
    for rig in [rig(texts), rig_of(&card, texts)] {
        let reply = rig
            .rest("GET", "/acme/tasks/nope?historyLength=5", &[], "")
            .await;
        assert_eq!(reply.status, 404);
        assert_eq!(reply.header("content-type"), "application/a2a+json");
        assert_eq!(
            reply.json(),
            json!({"error": {"code": 404, "status": "NOT_FOUND", "message": "Task not found", "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_FOUND", "domain": "a2a-protocol.org", "metadata": {"taskId": "nope"}}]}})
        );
    }
}

#[tokio::test]
async fn ex_23_cancelling_what_is_over() {
    let rig = rig(texts);
    let id = task(&rig, &say("say hello").to_string()).await;
    let headers = [
        ("content-type", "application/json"),
        ("content-length", "0"),
    ];
    let reply = rig
        .rest("POST", &format!("/tasks/{id}:cancel"), &headers, "")
        .await;
    assert_eq!(reply.status, 400);
    assert_eq!(reply.header("content-type"), "application/json");
    assert_eq!(
        reply.json(),
        json!({"error": {"code": 400, "status": "FAILED_PRECONDITION", "message": "Task cannot be canceled", "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_CANCELABLE", "domain": "a2a-protocol.org", "metadata": {"taskId": id, "state": "TASK_STATE_COMPLETED"}}]}})
    );
}

#[tokio::test]
async fn ex_23_validation() {
    let reply = rig(texts).rest("GET", "/tasks?pageSize=150", &[], "").await;
    assert_eq!(reply.status, 400);
    assert_eq!(reply.header("content-type"), "application/a2a+json");
    let mut got = reply.json();
    // Beside what the example has: the reason that clients of HTTP+JSON go by (A2A-RPC-33).
    let info = got["error"]["details"].as_array_mut().unwrap().remove(0);
    assert_eq!(info["reason"], "INVALID_PARAMS");
    assert_eq!(
        got,
        json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "Invalid parameters", "details": [{"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [{"field": "pageSize", "description": "must be between 1 and 100"}]}]}})
    );
}

#[tokio::test]
async fn ex_23_subscribing() {
    // O-S08: bare frames. O-R04, A2A-REST-3: both verbs.
    for verb in ["POST", "GET"] {
        let mut rig = rig(texts);
        let mut body = say("wait");
        body["configuration"] = json!({"returnImmediately": true});
        let id = task(&rig, &body.to_string()).await;
        let path = format!("/tasks/{id}:subscribe");
        let mut watcher = rig.rest_watch(verb, &path, &[], "").await;
        let mut first = watcher.next().await.unwrap();
        first["task"].as_object_mut().unwrap().remove("history");
        // Waits until it works, then ends it.
        if first["task"]["status"]["state"] == "TASK_STATE_SUBMITTED" {
            let next = watcher.next().await.unwrap();
            assert_eq!(
                next["statusUpdate"]["status"]["state"],
                "TASK_STATE_WORKING"
            );
            first["task"]["status"]["state"] = json!("TASK_STATE_WORKING");
        }
        rig.names.same(
            &first,
            r#"{"task":{"id":"t-9","contextId":"c-9","status":{"state":"TASK_STATE_WORKING","timestamp":"2026-01-15T10:04:00.000Z"}}}"#,
        );
        rig.go_on();
        let last = watcher.next().await.unwrap();
        rig.names.same(
            &last,
            r#"{"statusUpdate":{"taskId":"t-9","contextId":"c-9","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-01-15T10:04:09.000Z"}}}"#,
        );
        assert_eq!(watcher.next().await, None);
    }
}

#[tokio::test]
async fn ex_23_a_stream_that_fails() {
    let rig = rig(texts);
    let mut watcher = rig
        .rest_watch("POST", "/message:stream", &[], &say("wait").to_string())
        .await;
    watcher.next().await.unwrap();
    watcher.next().await.unwrap();
    rig.break_reads(true);
    rig.go_on();
    let last = watcher.next().await.unwrap();
    assert_eq!(watcher.last_event.as_deref(), Some("error"));
    assert_eq!(
        last,
        json!({"error": {"code": 500, "status": "INTERNAL", "message": "Internal error", "details": []}})
    );
    assert_eq!(watcher.next().await, None);
}

#[tokio::test]
async fn ex_6_a_message_is_the_whole_stream() {
    let mut rig = rig(texts);
    let body = say("ping").to_string();
    let mut watcher = rig.rest_watch("POST", "/message:stream", &[], &body).await;
    rig.names.same(
        &watcher.next().await.unwrap(),
        r#"{"message":{"messageId":"m-a2","contextId":"c-3","role":"ROLE_AGENT","parts":[{"text":"pong"}]}}"#,
    );
    assert_eq!(watcher.next().await, None);
}

#[tokio::test]
async fn ex_14_an_agent_that_fails() {
    let rig = rig(texts);
    let body = say("raise").to_string();
    let mut watcher = rig.rest_watch("POST", "/message:stream", &[], &body).await;
    let mut states = Vec::new();
    while let Some(frame) = watcher.next().await {
        assert!(!frame.to_string().contains("secret"), "{frame}");
        let holder = frame
            .get("task")
            .or_else(|| frame.get("statusUpdate"))
            .unwrap();
        states.push(holder["status"]["state"].as_str().unwrap().to_owned());
    }
    assert_eq!(
        states,
        [
            "TASK_STATE_SUBMITTED",
            "TASK_STATE_WORKING",
            "TASK_STATE_FAILED"
        ]
    );
}

#[tokio::test]
async fn ex_17_what_the_card_does_not_declare() {
    let mut plain = card();
    plain["capabilities"] = json!({});
    let rig = rig_of(&plain, texts);
    let (push, unsupported) = ("PUSH_NOTIFICATION_NOT_SUPPORTED", "UNSUPPORTED_OPERATION");
    let body = say("x").to_string();
    for (verb, path, body, reason) in [
        ("POST", "/message:stream", body.as_str(), unsupported),
        ("POST", "/tasks/t-1:subscribe", "", unsupported),
        (
            "POST",
            "/tasks/t-1/pushNotificationConfigs",
            r#"{"url": "https://h.example/"}"#,
            push,
        ),
        ("GET", "/tasks/t-1/pushNotificationConfigs", "", push),
        ("GET", "/tasks/t-1/pushNotificationConfigs/p-1", "", push),
        ("DELETE", "/tasks/t-1/pushNotificationConfigs/p-1", "", push),
        ("GET", "/extendedAgentCard", "", unsupported),
    ] {
        let reply = rig.rest(verb, path, &[], body).await;
        assert_eq!(reply.status, 400, "{verb} {path}");
        let error = &reply.json()["error"];
        assert_eq!(error["status"], "FAILED_PRECONDITION");
        assert_eq!(error["details"][0]["reason"], reason, "{verb} {path}");
    }
    let mut declared = card();
    declared["capabilities"] = json!({"extendedAgentCard": true});
    let reply = rig_of(&declared, texts)
        .rest("GET", "/extendedAgentCard", &[], "")
        .await;
    let error = &reply.json()["error"];
    assert_eq!(
        (reply.status, &error["status"]),
        (400, &json!("FAILED_PRECONDITION"))
    );
    assert_eq!(
        error["details"][0]["reason"],
        "EXTENDED_AGENT_CARD_NOT_CONFIGURED"
    );
}

// A2A-SVC-4..9, A2A-EXT-5, A2A-EXT-7
#[tokio::test]
async fn ex_18_and_19_versions_and_extensions() {
    let rig = rig(texts);
    for (uri, headers, status) in [
        ("/rest/tasks", &[][..], 400),
        ("/rest/tasks", &[("a2a-version", "0.5")], 400),
        ("/rest/tasks", &[("a2a-version", "99.0")], 400),
        ("/rest/tasks", &[("a2a-version", "1.0.1")], 200),
        ("/rest/tasks?A2A-Version=1.0", &[], 200),
        // What 0.3 has there looks like a tenant, and is told what is wrong.
        ("/rest/v1/tasks", &[], 400),
    ] {
        let reply = rig.send("GET", uri, headers, "").await;
        assert_eq!(reply.status, status, "{uri} {headers:?}");
        if status == 400 {
            let error = &reply.json()["error"];
            assert_eq!(error["details"][0]["reason"], "VERSION_NOT_SUPPORTED");
            assert_eq!(error["details"][0]["metadata"]["supportedVersions"], "1.0");
        }
    }
    let mut card = card();
    card["capabilities"]["extensions"] =
        json!([{"uri": "urn:sign", "required": true}, {"uri": "urn:geo"}]);
    let rig = rig_of(&card, texts);
    let reply = rig.rest("GET", "/tasks", &[], "").await;
    assert_eq!(reply.status, 400);
    let error = &reply.json()["error"];
    assert_eq!(error["details"][0]["reason"], "EXTENSION_SUPPORT_REQUIRED");
    assert_eq!(error["details"][0]["metadata"]["extensions"], "urn:sign");
    let asked = ("a2a-extensions", "urn:sign, urn:unknown, urn:geo");
    let reply = rig.rest("GET", "/tasks", &[asked], "").await;
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("a2a-extensions"), "urn:sign,urn:geo");
}
