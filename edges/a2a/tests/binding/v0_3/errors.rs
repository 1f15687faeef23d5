//! What goes wrong is told in the codes, names and forms of version 0.3 (O-V03).

use portcullis_a2a::model::AgentExtension;
use serde_json::{Value, json};

use super::rig::{card, dual, dual_of, says, says_in_proto};

fn fields(error: &Value) -> Vec<&str> {
    let violations = error["data"]["violations"].as_array();
    let violations = violations.unwrap_or_else(|| panic!("{error:#}"));
    violations
        .iter()
        .map(|one| one["field"].as_str().unwrap())
        .collect()
}

/// O-V03: malformed requests to each method.
#[tokio::test]
async fn malformed_params() {
    let dual = dual();
    let part =
        |part: Value| json!({"message": {"messageId": "m", "role": "user", "parts": [part]}});
    for (method, params, wrong) in [
        ("message/send", json!({}), vec!["message"]),
        (
            "message/send",
            json!({"message": {}}),
            vec!["message.messageId", "message.role", "message.parts"],
        ),
        (
            "message/stream",
            part(json!({"kind": "text"})),
            vec!["message.parts[0]"],
        ),
        (
            "message/send",
            part(json!({"text": "a", "data": {}})),
            vec!["message.parts[0]"],
        ),
        (
            "message/send",
            part(json!({"kind": "data", "data": [1]})),
            vec!["message.parts[0].data"],
        ),
        (
            "message/send",
            part(json!({"kind": "file", "text": "a"})),
            vec!["message.parts[0].kind"],
        ),
        (
            "message/send",
            part(json!({"file": {"name": "a"}})),
            vec!["message.parts[0].file"],
        ),
        (
            "message/send",
            part(json!({"file": {"bytes": "%%"}})),
            vec!["message.parts[0].file.bytes"],
        ),
        (
            "message/send",
            part(json!({"file": {"bytes": "aGk=", "uri": "http://a"}})),
            vec!["message.parts[0].file"],
        ),
        (
            "message/send",
            json!({"message": {"messageId": "m", "role": "agent", "parts": [{"text": "a"}]}}),
            vec!["message.role"],
        ),
        (
            "message/send",
            json!({"message": says("a")["message"], "configuration": {"blocking": 1, "historyLength": -1}}),
            vec!["configuration.blocking", "configuration.historyLength"],
        ),
        (
            "message/send",
            json!({"message": says("a")["message"], "configuration": {"pushNotificationConfig": {"url": "http://10.0.0.1/"}}}),
            vec!["configuration.pushNotificationConfig.url"],
        ),
        ("tasks/get", json!({}), vec!["id"]),
        ("tasks/cancel", json!({"id": 1}), vec!["id"]),
        ("tasks/resubscribe", json!({"id": "a\u{1}"}), vec!["id"]),
        (
            "tasks/pushNotificationConfig/set",
            json!({"taskId": "t"}),
            vec!["pushNotificationConfig"],
        ),
        (
            "tasks/pushNotificationConfig/set",
            json!({"taskId": "t", "pushNotificationConfig": {"authentication": {"credentials": "c"}, "url": "nowhere"}}),
            vec![
                "pushNotificationConfig.authentication.schemes",
                "pushNotificationConfig.url",
            ],
        ),
        ("tasks/pushNotificationConfig/get", json!({}), vec!["id"]),
        ("tasks/pushNotificationConfig/list", json!({}), vec!["id"]),
        (
            "tasks/pushNotificationConfig/delete",
            json!({"id": "t"}),
            vec!["pushNotificationConfigId"],
        ),
    ] {
        let error = dual.error(method, params.clone()).await;
        assert_eq!(error["code"], -32602, "{method} {params}: {error:#}");
        assert_eq!(fields(&error), wrong, "{method} {params}: {error:#}");
    }
    let positional = dual.error("tasks/get", json!(["t"])).await;
    assert_eq!(positional["code"], -32602, "{positional:#}");
}

/// The refusals that 0.3 has a code for keep it, with states and methods in its names; no array of
/// `Any` (A2A-COMPAT-4).
#[tokio::test]
async fn refusals() {
    let dual = dual();
    let task = dual.result("message/send", says("hi")).await;
    let mut again = says("more");
    again["message"]["taskId"] = task["id"].clone();
    let error = dual.error("message/send", again).await;
    assert_eq!(error["code"], -32004, "{error:#}");
    assert_eq!(
        error["data"],
        json!({"taskId": task["id"], "state": "completed"})
    );
    let error = dual.error("tasks/get", json!({"id": "nope"})).await;
    assert_eq!(
        error,
        json!({"code": -32001, "message": "Task not found", "data": {"taskId": "nope"}})
    );
    let error = dual.error("tasks/list", json!({})).await;
    assert_eq!(
        error,
        json!({"code": -32601, "message": "Method not found"})
    );

    let mut card = card();
    card.default_input_modes = vec!["text/plain".to_owned()];
    card.capabilities.streaming = Some(false);
    card.capabilities
        .extensions
        .push(AgentExtension::new("https://example.com/x").required());
    let dual = dual_of(card);
    // 0.3 has no code for it.
    let error = dual.error("message/send", says("hi")).await;
    assert_eq!(error["code"], -32600, "{error:#}");
    assert_eq!(
        error["data"],
        json!({"extensions": "https://example.com/x"})
    );
    let error = dual.error("message/stream", says("hi")).await;
    assert_eq!(error["code"], -32004, "{error:#}");
    assert_eq!(error["data"], json!({"method": "message/stream"}));
    let file = json!({"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": {
        "messageId": "m", "role": "user", "parts": [{"kind": "file", "file": {"uri": "http://a", "mimeType": "image/png"}}]
    }}});
    let asked = [("x-a2a-extensions", "https://example.com/x")];
    let reply = dual
        .send("POST", "/", &asked, &file.to_string())
        .await
        .json();
    assert_eq!(reply["error"]["code"], -32005, "{reply:#}");
    assert_eq!(
        reply["error"]["data"],
        json!({"mediaType": "image/png", "field": "message.parts[0]"})
    );
}

/// There is no 1.0 code for a missing second card: not to have one is not to have configured one.
#[tokio::test]
async fn without_a_card_of_a_caller() {
    let mut card = card();
    card.capabilities.extended_agent_card = None;
    let rig = crate::support::rig_of(&serde_json::to_value(card).unwrap(), |_| vec![]);
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "agent/getAuthenticatedExtendedCard"});
    let reply = rig.send("POST", "/rpc", &[], call.to_string()).await.json();
    assert_eq!(reply["error"]["code"], -32007, "{reply:#}");
    let reply = rig.send("GET", "/rest/v1/card", &[], "").await;
    assert_eq!((reply.status, &reply.json()["code"]), (404, &json!(-32007)));
    let params = json!({"taskId": "t", "pushNotificationConfig": {"url": "https://a.example/"}});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tasks/pushNotificationConfig/set", "params": params});
    let reply = rig.send("POST", "/rpc", &[], call.to_string()).await.json();
    assert_eq!(reply["error"]["code"], -32003, "{reply:#}");
}

/// O-V03: HTTP+JSON has its own statuses, and one body for all that went wrong.
#[tokio::test]
async fn over_http_json() {
    let dual = dual();
    let task = dual
        .send(
            "POST",
            "/rest/v1/message:send",
            &[],
            &says_in_proto("hi").to_string(),
        )
        .await
        .json();
    let id = task["task"]["id"].as_str().unwrap().to_owned();
    let send = |message: Value| json!({"message": message}).to_string();
    let message =
        |content: Value| json!({"messageId": "m", "role": "ROLE_USER", "content": [content]});
    for (verb, path, body, status, code, wrong) in [
        (
            "GET",
            "/v1/tasks/nope".to_owned(),
            String::new(),
            404,
            -32001,
            "",
        ),
        (
            "POST",
            format!("/v1/tasks/{id}:cancel"),
            "{}".to_owned(),
            409,
            -32002,
            "",
        ),
        (
            "POST",
            "/v1/message:send".to_owned(),
            "{".to_owned(),
            400,
            -32700,
            "",
        ),
        (
            "POST",
            "/v1/message:send".to_owned(),
            send(json!({"messageId": "m", "role": "ROLE_USER"})),
            400,
            -32602,
            "message.content",
        ),
        (
            "POST",
            "/v1/message:send".to_owned(),
            send(message(json!({"data": {}}))),
            400,
            -32602,
            "message.content[0].data.data",
        ),
        (
            "POST",
            "/v1/message:stream".to_owned(),
            send(message(json!({"file": {}}))),
            400,
            -32602,
            "message.content[0].file",
        ),
        (
            "GET",
            format!("/v1/tasks/{id}?historyLength=x"),
            String::new(),
            400,
            -32602,
            "historyLength",
        ),
        (
            "POST",
            format!("/v1/tasks/{id}/pushNotificationConfigs"),
            "{}".to_owned(),
            400,
            -32602,
            "",
        ),
        (
            "POST",
            format!("/v1/tasks/{id}/pushNotificationConfigs"),
            r#"{"config": {}}"#.to_owned(),
            400,
            -32602,
            "config.pushNotificationConfig",
        ),
        (
            "GET",
            format!("/v1/tasks/{id}/pushNotificationConfigs/nope"),
            String::new(),
            404,
            -32001,
            "",
        ),
        (
            "GET",
            "/v1/nothing".to_owned(),
            String::new(),
            404,
            -32601,
            "",
        ),
        (
            "PUT",
            format!("/v1/tasks/{id}"),
            String::new(),
            405,
            -32600,
            "",
        ),
    ] {
        let reply = dual.send(verb, &format!("/rest{path}"), &[], &body).await;
        assert_eq!(reply.status, status, "{verb} {path}: {}", reply.text);
        assert_eq!(
            reply.headers["content-type"], "application/json",
            "{verb} {path}"
        );
        let error = reply.json();
        assert_eq!(error["code"], code, "{verb} {path}: {error:#}");
        if !wrong.is_empty() {
            assert_eq!(fields(&error), [wrong], "{verb} {path}: {error:#}");
        }
    }
    // 0.3 has no list of tasks (O-V03: no route that it does not have).
    let reply = dual.send("GET", "/rest/v1/tasks", &[], "").await;
    assert_eq!((reply.status, &reply.json()["code"]), (404, &json!(-32601)));
}
