//! Parts, there and back, in both forms.

use serde_json::{Value, json};

use super::rig::dual;

/// What the agent gives back of a part, over JSON-RPC.
async fn echo(part: Value) -> Value {
    let params = json!({"message": {"messageId": "m", "role": "user", "parts": [part]}});
    let task = dual().result("message/send", params).await;
    assert_eq!(
        task["history"][0]["parts"], task["artifacts"][0]["parts"],
        "{task:#}"
    );
    task["artifacts"][0]["parts"][0].clone()
}

/// The same over HTTP+JSON.
async fn echo_in_proto(part: Value) -> Value {
    let body = json!({"message": {"messageId": "m", "role": "ROLE_USER", "content": [part]}});
    let reply = dual()
        .send("POST", "/rest/v1/message:send", &[], &body.to_string())
        .await
        .json();
    let task = &reply["task"];
    assert_eq!(
        task["history"][0]["content"], task["artifacts"][0]["parts"],
        "{task:#}"
    );
    task["artifacts"][0]["parts"][0].clone()
}

#[tokio::test]
async fn every_part_comes_back_as_it_went() {
    for part in [
        json!({"kind": "text", "text": ""}),
        json!({"kind": "text", "text": "é\n", "metadata": {"a": [1.50, null]}}),
        json!({"kind": "file", "file": {"bytes": "aGk=", "mimeType": "text/x", "name": "a.x"}}),
        json!({"kind": "file", "file": {"uri": "https://a.example/f"}}),
        json!({"kind": "data", "data": {"data": {"deep": 1}}}),
        json!({"kind": "data", "data": {}}),
    ] {
        assert_eq!(echo(part.clone()).await, part);
    }
    for part in [
        json!({"text": ""}),
        json!({"text": "a", "metadata": {"b": "c"}}),
        json!({"file": {"fileWithBytes": "aGk=", "mimeType": "text/x", "name": "a.x"}}),
        json!({"file": {"fileWithUri": "https://a.example/f"}}),
        json!({"data": {"data": {"data": 1}}}),
    ] {
        assert_eq!(echo_in_proto(part.clone()).await, part);
    }
}

/// A2A-COMPAT-9: what tells parts apart may be missing.
#[tokio::test]
async fn without_a_kind() {
    let part = echo(json!({"data": {"a": 1}})).await;
    assert_eq!(part, json!({"kind": "data", "data": {"a": 1}}));
}

/// A2A-COMPAT-5: data that is no object is wrapped and marked, and so it comes back.
#[tokio::test]
async fn data_that_is_no_object() {
    let wrapped = json!({"kind": "data", "data": {"value": [1, 2]}, "metadata": {"data_part_compat": true, "a": 1}});
    let dual = dual();
    let task = dual
        .result(
            "message/send",
            json!({"message": {"messageId": "m", "role": "user", "parts": [wrapped]}}),
        )
        .await;
    let part = &task["artifacts"][0]["parts"][0];
    assert_eq!(part["data"], json!({"value": [1, 2]}));
    assert_eq!(part["metadata"], json!({"a": 1, "data_part_compat": true}));
    // The core has the value itself.
    let get = json!({"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": task["id"]}});
    let new = dual
        .send("POST", "/", &[("a2a-version", "1.0")], &get.to_string())
        .await
        .json();
    let part = &new["result"]["artifacts"][0]["parts"][0];
    assert_eq!(
        *part,
        json!({"data": [1, 2], "metadata": {"a": 1}}),
        "{new:#}"
    );
}
