//! JSON-RPC in version 0.3: each method, its result, and how streams end.

use serde_json::{Value, json};

use super::rig::{dual, says};
use crate::support::{Rig, Step, rig_of};

/// A card with both versions of JSON-RPC.
fn card() -> Value {
    let mut card = crate::support::card();
    let old = json!({"url": "https://agent.example.com/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "0.3"});
    card["supportedInterfaces"]
        .as_array_mut()
        .unwrap()
        .push(old);
    card
}

fn scripted(script: fn(&str) -> Vec<Step>) -> Rig {
    rig_of(&card(), script)
}

async fn frames(rig: &mut Rig, request: &str, want: &[&str]) {
    let reply = rig.send("POST", "/rpc", &[], request.to_owned()).await;
    assert_eq!(reply.header("content-type"), "text/event-stream");
    let text = String::from_utf8(reply.body.to_vec()).unwrap();
    let data: Vec<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .collect();
    assert_eq!(data.len(), want.len(), "{text}");
    for (data, want) in data.iter().zip(want) {
        rig.names.same(&serde_json::from_str(data).unwrap(), want);
    }
}

/// EX-25, A2A-COMPAT-2, A2A-COMPAT-4.
#[tokio::test]
async fn ex_25_a_stream() {
    let mut rig = scripted(|_| {
        vec![
            Step::working(),
            Step::artifact(r#"{"artifactId": "a-1", "parts": [{"text": "hello"}]}"#),
            Step::completed(),
        ]
    });
    frames(
        &mut rig,
        r#"{"jsonrpc": "2.0", "id": 1, "method": "message/stream",
            "params": {"message": {"kind": "message", "messageId": "m-u1", "role": "user", "parts": [{"kind": "text", "text": "say hello"}]},
                       "configuration": {"historyLength": 0}}}"#,
        &[
            r#"{"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t-1","contextId":"c-1","status":{"state":"submitted","timestamp":"2026-01-15T10:00:00.000Z"}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"kind":"status-update","taskId":"t-1","contextId":"c-1","status":{"state":"working","timestamp":"2026-01-15T10:00:00.100Z"},"final":false}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"kind":"artifact-update","taskId":"t-1","contextId":"c-1","artifact":{"artifactId":"a-1","parts":[{"kind":"text","text":"hello"}]}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"kind":"status-update","taskId":"t-1","contextId":"c-1","status":{"state":"completed","timestamp":"2026-01-15T10:00:00.200Z"},"final":true}}"#,
        ],
    )
    .await;
}

/// A2A-COMPAT-4: a stream that waits for its caller says that it is over, and is.
#[tokio::test]
async fn a_question_is_final_and_its_answer_goes_on() {
    let mut rig = scripted(|text| match text {
        "book" => vec![Step::working(), Step::input_required("From where?")],
        _ => vec![
            Step::artifact(r#"{"artifactId": "a-1", "parts": [{"text": "booked"}]}"#),
            Step::completed(),
        ],
    });
    frames(
        &mut rig,
        r#"{"jsonrpc": "2.0", "id": "x", "method": "message/stream", "params": {
            "message": {"messageId": "m-u1", "role": "user", "parts": [{"kind": "text", "text": "book"}]},
            "configuration": {"historyLength": 0}}}"#,
        &[
            r#"{"jsonrpc":"2.0","id":"x","result":{"kind":"task","id":"t-1","contextId":"c-1","status":{"state":"submitted","timestamp":"2026-01-15T10:00:00.000Z"}}}"#,
            r#"{"jsonrpc":"2.0","id":"x","result":{"kind":"status-update","taskId":"t-1","contextId":"c-1","status":{"state":"working","timestamp":"2026-01-15T10:00:00.000Z"},"final":false}}"#,
            r#"{"jsonrpc":"2.0","id":"x","result":{"kind":"status-update","taskId":"t-1","contextId":"c-1","status":{"state":"input-required","message":{"kind":"message","messageId":"m-a1","contextId":"c-1","taskId":"t-1","role":"agent","parts":[{"kind":"text","text":"From where?"}]},"timestamp":"2026-01-15T10:00:00.000Z"},"final":true}}"#,
        ],
    )
    .await;
    let answer = rig.names.resolve(
        r#"{"jsonrpc": "2.0", "id": 2, "method": "message/send", "params": {
            "message": {"kind": "message", "messageId": "m-u2", "taskId": "t-1", "role": "user", "parts": [{"text": "SFO"}]},
            "configuration": {"historyLength": 1}}}"#,
    );
    let reply = rig.send("POST", "/rpc", &[], answer).await;
    assert_eq!(reply.header("content-type"), "application/json");
    rig.names.same(
        &reply.json(),
        r#"{"jsonrpc": "2.0", "id": 2, "result": {"kind": "task", "id": "t-1", "contextId": "c-1",
            "status": {"state": "completed", "timestamp": "2026-01-15T10:00:00.000Z"},
            "artifacts": [{"artifactId": "a-1", "parts": [{"kind": "text", "text": "booked"}]}],
            "history": [{"kind": "message", "messageId": "m-u2", "contextId": "c-1", "taskId": "t-1", "role": "user", "parts": [{"kind": "text", "text": "SFO"}]}]}}"#,
    );
}

/// A message that is the whole answer is bare, in a reply and in a stream.
#[tokio::test]
async fn an_answer_without_a_task() {
    let mut rig = scripted(|_| vec![Step::message("pong")]);
    let want = r#"{"jsonrpc": "2.0", "id": 1, "result": {"kind": "message", "messageId": "m-a1", "contextId": "c-1", "role": "agent", "parts": [{"kind": "text", "text": "pong"}]}}"#;
    let request = r#"{"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": {"kind": "message", "messageId": "m-u1", "contextId": "c-1", "role": "user", "parts": [{"kind": "text", "text": "ping"}]}}}"#;
    let reply = rig
        .send("POST", "/rpc", &[("a2a-version", "0.3")], request)
        .await;
    rig.names.same(&reply.json(), want);
    let request = request.replace("message/send", "message/stream");
    let want = want.replace("m-a1", "m-a2");
    frames(&mut rig, &request, &[&want]).await;
}

/// `blocking`: waits unless it is told not to.
#[tokio::test]
async fn who_does_not_block_gets_a_task_at_once() {
    let rig = scripted(|_| vec![Step::working(), Step::wait(), Step::completed()]);
    let request = |blocking: Value| {
        let mut params = says("go");
        params["configuration"] = json!({"blocking": blocking});
        json!({"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": params}).to_string()
    };
    let reply = rig
        .send("POST", "/rpc", &[], request(json!(false)))
        .await
        .json();
    let state = reply["result"]["status"]["state"].as_str().unwrap();
    assert!(["submitted", "working"].contains(&state), "{reply}");
    rig.go_on();
    rig.go_on();
    for blocking in [json!(true), Value::Null] {
        let reply = rig
            .send("POST", "/rpc", &[], request(blocking))
            .await
            .json();
        assert_eq!(reply["result"]["status"]["state"], "completed", "{reply}");
        rig.go_on();
    }
}

/// T-48: also there a call that waits comes back when the task waits for credentials.
#[tokio::test]
async fn waiting_for_credentials_is_an_interruption() {
    let dual = dual();
    let task = dual.result("message/send", says("login")).await;
    assert_eq!(task["status"]["state"], "auth-required", "{task:#}");
}

/// The task methods, over one task.
#[tokio::test]
async fn get_cancel_and_resubscribe() {
    let rig = scripted(|_| vec![Step::working(), Step::wait(), Step::completed()]);
    let mut params = says("go");
    params["configuration"] = json!({"blocking": false});
    let send = |method: &str, params: Value| {
        json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
    };
    let call = async |method: &str, params: Value| {
        rig.send("POST", "/rpc", &[], send(method, params))
            .await
            .json()
    };
    let task = call("message/send", params.clone()).await["result"].clone();
    let id = task["id"].clone();

    let got = call(
        "tasks/get",
        json!({"id": id, "historyLength": 5, "metadata": {"a": 1}}),
    )
    .await;
    assert_eq!(got["result"]["kind"], "task");
    assert_eq!(got["result"]["history"][0]["messageId"], "m-u1", "{got}");
    let got = call("tasks/get", json!({"id": id, "historyLength": 0})).await;
    assert!(got["result"].get("history").is_none(), "{got}");

    // The task as it stands, then what follows.
    let request = send("tasks/resubscribe", json!({"id": id}));
    let mut watcher = rig.stream("POST", "/rpc", &[], &request).await;
    let first = watcher.next().await.unwrap();
    assert_eq!(first["result"]["kind"], "task", "{first}");
    assert_eq!(first["result"]["id"], id);
    let canceled = call("tasks/cancel", json!({"id": id})).await;
    assert_eq!(canceled["result"]["kind"], "task");
    assert_eq!(canceled["result"]["status"]["state"], "canceled");
    let mut last = first;
    while let Some(next) = watcher.next().await {
        last = next;
    }
    assert_eq!(last["result"]["kind"], "status-update", "{last}");
    assert_eq!(last["result"]["status"]["state"], "canceled");
    assert_eq!(last["result"]["final"], true);

    // T-36: there who comes too late reads the task; in 1.0 that is a refusal.
    let mut watcher = rig.stream("POST", "/rpc", &[], &request).await;
    let only = watcher.next().await.unwrap();
    assert_eq!(only["result"]["kind"], "task", "{only}");
    assert_eq!(only["result"]["status"]["state"], "canceled", "{only}");
    assert_eq!(watcher.next().await, None);
    let new = json!({"jsonrpc": "2.0", "id": 1, "method": "SubscribeToTask", "params": {"id": id}});
    let refused = rig.post(&new.to_string(), &[]).await.json();
    assert_eq!(refused["error"]["code"], -32004, "{refused}");

    rig.go_on();
    let done = call("message/send", says("go")).await;
    let refused = call("tasks/cancel", json!({"id": done["result"]["id"]})).await;
    assert_eq!(refused["error"]["code"], -32002, "{refused}");
    let refused = call("tasks/resubscribe", json!({"id": "nope"})).await;
    assert_eq!(refused["error"]["code"], -32001, "{refused}");
}

/// A2A-RPC-23 in 0.3: what ends a stream early is an error of its form.
#[tokio::test]
async fn a_stream_that_breaks_says_so() {
    let rig = scripted(|_| vec![Step::working(), Step::wait(), Step::completed()]);
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "message/stream", "params": says("go")});
    let mut watcher = rig.stream("POST", "/rpc", &[], &call.to_string()).await;
    let first = watcher.next().await.unwrap();
    assert_eq!(first["result"]["kind"], "task", "{first}");
    let second = watcher.next().await.unwrap();
    assert_eq!(second["result"]["status"]["state"], "working", "{second}");
    rig.break_reads(true);
    rig.go_on();
    let last = watcher.next().await.unwrap();
    let want =
        json!({"jsonrpc": "2.0", "id": 7, "error": {"code": -32603, "message": "Internal error"}});
    assert_eq!(last, want);
    assert_eq!(watcher.next().await, None);
}

/// The four methods about webhooks: nested, `schemes`, a bare list, null for removed.
#[tokio::test]
async fn webhooks() {
    let dual = dual();
    let task = dual.result("message/send", says("hi")).await;
    let id = task["id"].clone();
    let webhook = json!({
        "id": "w-1", "url": "https://hooks.example.net/a2a", "token": "tok",
        "authentication": {"schemes": ["Bearer", "Basic"], "credentials": "s3cret"}
    });
    let set = dual
        .result(
            "tasks/pushNotificationConfig/set",
            json!({"taskId": id, "pushNotificationConfig": webhook}),
        )
        .await;
    // A2A-COMPAT-5: of several schemes the first.
    let mut want = json!({"taskId": id, "pushNotificationConfig": webhook});
    want["pushNotificationConfig"]["authentication"]["schemes"] = json!(["Bearer"]);
    assert_eq!(set, want);

    // A2A-OP-99: what is read has no secrets.
    let shown = json!({"taskId": id, "pushNotificationConfig": {
        "id": "w-1", "url": "https://hooks.example.net/a2a", "authentication": {"schemes": ["Bearer"]}
    }});
    let name = json!({"id": id, "pushNotificationConfigId": "w-1"});
    let get = dual
        .result("tasks/pushNotificationConfig/get", name.clone())
        .await;
    assert_eq!(get, shown);
    // Without a name: the one that there is.
    let get = dual
        .result("tasks/pushNotificationConfig/get", json!({"id": id}))
        .await;
    assert_eq!(get, shown);

    // One without a name replaces the last such one.
    for path in ["a", "b"] {
        let url = format!("https://hooks.example.net/{path}");
        let params = json!({"taskId": id, "pushNotificationConfig": {"url": url}});
        dual.result("tasks/pushNotificationConfig/set", params)
            .await;
    }
    let list = dual
        .result("tasks/pushNotificationConfig/list", json!({"id": id}))
        .await;
    let urls: Vec<_> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["pushNotificationConfig"]["url"])
        .collect();
    assert_eq!(
        urls,
        [
            "https://hooks.example.net/a2a",
            "https://hooks.example.net/b"
        ],
        "{list:#}"
    );

    let deleted = dual
        .call("tasks/pushNotificationConfig/delete", name.clone())
        .await;
    assert_eq!(
        deleted.json(),
        json!({"jsonrpc": "2.0", "id": 1, "result": null})
    );
    let gone = dual.error("tasks/pushNotificationConfig/get", name).await;
    assert_eq!(gone["code"], -32001, "{gone}");
    let none = dual.result("message/send", says("hi")).await;
    let gone = dual
        .error(
            "tasks/pushNotificationConfig/get",
            json!({"id": none["id"]}),
        )
        .await;
    assert_eq!(gone["code"], -32001, "{gone}");
}

/// The card for those who authenticate is one of 0.3; a stranger is told to authenticate.
#[tokio::test]
async fn the_card_of_a_caller() {
    let dual = dual();
    let method = "agent/getAuthenticatedExtendedCard";
    let stranger = dual.call(method, json!({})).await;
    assert_eq!(stranger.status, 401, "{}", stranger.text);
    let card = dual.as_somebody("ann").result(method, json!({})).await;
    assert_eq!(card["protocolVersion"], "0.3.0");
    assert_eq!(card["url"], "https://agent.example.com");
    assert_eq!(card["preferredTransport"], "JSONRPC");
    assert_eq!(card["supportsAuthenticatedExtendedCard"], true);
    assert_eq!(card["skills"][1]["id"], "more");
    assert!(card.get("supportedInterfaces").is_none(), "{card:#}");
    assert!(
        card["capabilities"].get("extendedAgentCard").is_none(),
        "{card:#}"
    );
}

/// A2A-EXT-12: both names of the header are read, the old one is answered.
#[tokio::test]
async fn extensions_by_either_name() {
    let mut card = super::rig::card();
    for name in ["one", "two"] {
        let uri = format!("https://example.com/{name}");
        card.capabilities
            .extensions
            .push(portcullis_a2a::model::AgentExtension::new(uri));
    }
    let dual = super::rig::dual_of(card);
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": says("hi")});
    let headers = [
        ("a2a-extensions", "https://example.com/one"),
        (
            "x-a2a-extensions",
            "https://example.com/two, https://example.com/one",
        ),
    ];
    let reply = dual.send("POST", "/", &headers, &call.to_string()).await;
    assert_eq!(
        reply.headers["x-a2a-extensions"],
        "https://example.com/one,https://example.com/two"
    );
}
