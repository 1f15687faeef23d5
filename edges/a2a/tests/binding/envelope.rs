//! Envelopes, content types and limits.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::support::{Step, rig};

fn done(_: &str) -> Vec<Step> {
    vec![Step::completed()]
}

const MESSAGE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}}}"#;

#[tokio::test]
async fn what_is_no_json_is_told_with_an_id() {
    // O-J01
    let rig = rig(done);
    for body in [
        r#"{"jsonrpc":"2.0","#,
        "hello",
        "",
        "{} {}",
        "{\"a\":1}x",
        "nul",
    ] {
        let response = rig.post(body, &[]).await;
        assert_eq!(response.status, 200);
        assert_eq!(response.header("content-type"), "application/json");
        let reply = response.json();
        assert_eq!(
            reply,
            json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "Invalid JSON payload"}}),
            "{body}"
        );
    }
    let response = rig
        .send(
            "POST",
            "/rpc",
            &[("a2a-version", "1.0")],
            Bytes::from_static(b"{\"a\":\"\xff\"}"),
        )
        .await;
    assert_eq!(response.json()["error"]["code"], -32700, "not UTF-8");
}

#[tokio::test]
async fn ids_keep_value_and_type_or_are_refused() {
    // O-J02, A2A-RPC-6
    let rig = rig(done);
    for id in [
        "1",
        "\"1\"",
        "0",
        "-7",
        "\"\"",
        "null",
        "\"n\\u00e9 \\\"x\\\"\"",
        "123456789012345678901234567890",
    ] {
        let response = rig
            .post(&MESSAGE.replace("\"id\":1", &format!("\"id\":{id}")), &[])
            .await;
        let text = String::from_utf8(response.body.to_vec()).unwrap();
        assert!(
            text.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#)),
            "{id}: {text}"
        );
    }
    for id in ["{\"a\":1}", "[1]", "true", "false", "1.5", "1e3"] {
        let reply = rig
            .post(&MESSAGE.replace("\"id\":1", &format!("\"id\":{id}")), &[])
            .await
            .json();
        assert_eq!(
            (&reply["id"], &reply["error"]["code"]),
            (&Value::Null, &json!(-32600)),
            "{id}"
        );
    }
}

// A2A-RPC-3, A2A-RPC-7
#[tokio::test]
async fn what_is_no_request_is_told() {
    let rig = rig(done);
    for body in [
        "17",
        "\"x\"",
        "null",
        "[]",
        r#"["2.0", 1, "GetTask", {"id": "x"}]"#,
        r#"{"jsonrpc":2.0,"id":1,"method":"GetTask"}"#,
        r#"{"id":1,"method":"GetTask"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","method":"ListTasks"}"#,
        "{}",
    ] {
        let reply = rig.post(body, &[]).await.json();
        assert_eq!(reply["error"]["code"], -32600, "{body}");
        assert!(reply.as_object().unwrap().contains_key("id"), "{body}");
    }
}

// A2A-OP-97, A2A-RPC-32
#[tokio::test]
async fn wrong_parameters_are_named() {
    // O-J03
    let rig = rig(done);
    let good = r#"{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}"#;
    for (method, params, field) in [
        ("GetTask", r#""x""#, None),
        ("GetTask", "[1, 2]", None),
        ("GetTask", r#"{"id": 5}"#, Some("id")),
        ("GetTask", r#"{"id": ""}"#, Some("id")),
        ("CancelTask", r#"{"id": {}}"#, Some("id")),
        ("SubscribeToTask", "{}", Some("id")),
        (
            "CreateTaskPushNotificationConfig",
            r#"{"taskId": "t"}"#,
            Some("url"),
        ),
        (
            "CreateTaskPushNotificationConfig",
            r#"{"url": "https://h.example/"}"#,
            Some("taskId"),
        ),
        (
            "GetTaskPushNotificationConfig",
            r#"{"taskId": "t"}"#,
            Some("id"),
        ),
        (
            "DeleteTaskPushNotificationConfig",
            r#"{"id": "p"}"#,
            Some("taskId"),
        ),
        ("ListTaskPushNotificationConfigs", "{}", Some("taskId")),
        (
            "ListTaskPushNotificationConfigs",
            r#"{"taskId": "t", "pageSize": "x"}"#,
            Some("pageSize"),
        ),
        ("GetExtendedAgentCard", r#"{"tenant": 7}"#, Some("tenant")),
        ("ListTasks", r#"{"pageSize": 0}"#, Some("pageSize")),
        ("ListTasks", r#"{"pageSize": "many"}"#, Some("pageSize")),
        (
            "ListTasks",
            r#"{"statusTimestampAfter": "yesterday"}"#,
            Some("statusTimestampAfter"),
        ),
        ("SendMessage", "{}", Some("message")),
        (
            "SendMessage",
            &good.replace("\"messageId\":\"m\",", ""),
            Some("message.messageId"),
        ),
        (
            "SendMessage",
            &good.replace("\"role\":\"ROLE_USER\",", ""),
            Some("message.role"),
        ),
        (
            "SendMessage",
            &good.replace("[{\"text\":\"x\"}]", "\"x\""),
            Some("message.parts"),
        ),
        (
            "SendStreamingMessage",
            &good.replace("[{\"text\":\"x\"}]", "[]"),
            Some("message.parts"),
        ),
    ] {
        let params = if params.contains("\"role\"") || params.contains("\"messageId\"") {
            format!(r#"{{"message": {params}}}"#)
        } else {
            params.to_owned()
        };
        let request =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        let response = rig.post(&request, &[]).await;
        assert_eq!(response.header("content-type"), "application/json");
        let error = &response.json()["error"];
        assert_eq!(error["code"], -32602, "{request}: {error}");
        assert_eq!(error["message"], "Invalid parameters");
        if let Some(field) = field {
            let violations = error["data"][0]["fieldViolations"].as_array().unwrap();
            assert!(
                violations
                    .iter()
                    .any(|violation| violation["field"] == field),
                "{request}: {error}"
            );
        }
    }
    for method in ["ListTasks"] {
        for params in ["", r#","params":null"#, r#","params":{}"#] {
            let reply = rig
                .post(
                    &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"{params}}}"#),
                    &[],
                )
                .await
                .json();
            assert!(reply["result"].is_object(), "{params}: {reply}");
        }
    }
}

#[tokio::test]
async fn both_spellings_of_a_name_are_read() {
    // T-3
    let rig = rig(done);
    let reply = rig.post(r#"{"jsonrpc":"2.0","id":7,"method":"SendMessage","params":{"message":{"message_id":"m","context_id":"snake","role":"ROLE_USER","parts":[{"text":"x","media_type":"text/plain"}],"unknown":1},"extra":true}}"#, &[]).await.json();
    assert_eq!(reply["result"]["task"]["contextId"], "snake", "{reply}");
}

// A2A-RPC-25, A2A-RPC-28..31
#[tokio::test]
async fn errors_have_their_details_in_data() {
    // O-J05
    let rig = rig(done);
    let finished = rig.post(MESSAGE, &[]).await.json()["result"]["task"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    for (method, params, code, reason) in [
        ("GetTask", json!({"id": "nope"}), -32001, "TASK_NOT_FOUND"),
        (
            "CancelTask",
            json!({"id": finished}),
            -32002,
            "TASK_NOT_CANCELABLE",
        ),
        (
            "SubscribeToTask",
            json!({"id": finished}),
            -32004,
            "UNSUPPORTED_OPERATION",
        ),
    ] {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let error = rig.post(&request.to_string(), &[]).await.json()["error"].clone();
        let members: Vec<_> = error.as_object().unwrap().keys().cloned().collect();
        assert!(
            members
                .iter()
                .all(|member| ["code", "data", "message"].contains(&member.as_str())),
            "{error}"
        );
        assert_eq!(error["code"], code);
        let info = &error["data"].as_array().unwrap()[0];
        assert_eq!(info["@type"], "type.googleapis.com/google.rpc.ErrorInfo");
        assert_eq!(
            (&info["reason"], &info["domain"]),
            (&json!(reason), &json!("a2a-protocol.org"))
        );
        assert!(
            info["metadata"]
                .as_object()
                .unwrap()
                .values()
                .all(Value::is_string)
        );
    }
}

#[tokio::test]
async fn content_types() {
    // O-J06, A2A-RPC-2
    let rig = rig(done);
    for type_ in [
        "application/json",
        "application/json; charset=utf-8",
        "Application/JSON",
        "application/a2a+json",
    ] {
        let response = rig
            .send(
                "POST",
                "/rpc",
                &[("a2a-version", "1.0"), ("content-type", type_)],
                MESSAGE,
            )
            .await;
        assert_eq!(
            (response.status, response.header("content-type")),
            (200, "application/json"),
            "{type_}"
        );
        assert!(response.json()["result"].is_object(), "{type_}");
    }
    for type_ in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonp",
        "json",
        "",
    ] {
        let response = rig
            .send(
                "POST",
                "/rpc",
                &[("a2a-version", "1.0"), ("content-type", type_)],
                MESSAGE,
            )
            .await;
        assert_eq!(response.status, 415, "{type_}");
        assert_eq!(response.json()["error"]["code"], -32005);
    }
}

// A2A-RPC-1
#[tokio::test]
async fn places_and_verbs() {
    // A2A-RPC-11, A2A-RPC-13
    let rig = rig(done);
    let headers = [("a2a-version", "1.0"), ("content-type", "application/json")];
    for path in ["/rpc", "/rpc/", "/rpc?x=1", "/rpc/?x=1"] {
        assert_eq!(
            rig.send("POST", path, &headers, MESSAGE).await.status,
            200,
            "{path}"
        );
    }
    for path in ["/", "/rpcx", "/rpc/x", "/.well-known/agent.json"] {
        assert_eq!(
            rig.send("POST", path, &headers, MESSAGE).await.status,
            404,
            "{path}"
        );
    }
    for verb in ["GET", "PUT", "DELETE", "PATCH"] {
        let response = rig.send(verb, "/rpc", &headers, "").await;
        assert_eq!(
            (response.status, response.header("allow")),
            (405, "POST"),
            "{verb}"
        );
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_not_kept() {
    // O-M04: with its length said, and in chunks; nothing is read after the limit.
    let rig = rig(done);
    let huge = "x".repeat(20 << 20);
    let response = rig.post(&huge, &[]).await;
    assert_eq!(
        (response.status, &response.json()["id"]),
        (413, &Value::Null)
    );
    let (response, polled) = rig
        .post_in_chunks(vec![Bytes::from(vec![b' '; 1 << 20]); 30])
        .await;
    assert_eq!(response.status, 413);
    assert!(polled <= 12, "read {polled} MiB of a body that may have 10");
    // Just a large one is fine.
    let large = MESSAGE.replace("\"x\"", &format!("\"{}\"", "y".repeat(2 << 20)));
    assert_eq!(rig.post(&large, &[]).await.status, 200);
}

#[tokio::test]
async fn deep_bodies_are_refused_and_the_server_lives() {
    // O-W12, rule 7
    let rig = rig(done);
    let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    for depth in [1_000, 10_000, 100_000] {
        let places = [
            MESSAGE.replace(
                "\"parts\"",
                &format!("\"metadata\":{{\"x\":{}}},\"parts\"", nested(depth)),
            ),
            MESSAGE.replace(
                "\"parts\"",
                &format!("\"unknown\":{},\"parts\"", nested(depth)),
            ),
            nested(depth),
        ];
        for body in places {
            let code = rig.post(&body, &[]).await.json()["error"]["code"]
                .as_i64()
                .unwrap();
            assert!([-32700, -32600, -32602].contains(&code), "{depth}: {code}");
        }
        // Beside the call it is text that nobody reads.
        let beside = MESSAGE.replace("\"id\"", &format!("\"unknown\":{},\"id\"", nested(depth)));
        assert!(rig.post(&beside, &[]).await.json()["result"].is_object());
    }
    // An event of depth 128 fits inside metadata.
    let event = MESSAGE.replace(
        "\"parts\"",
        &format!("\"metadata\":{{\"x\":{}}},\"parts\"", nested(128)),
    );
    let reply = rig.post(&event, &[]).await;
    // Too deep for the reader of the test, and passed through as it was.
    let text = String::from_utf8(reply.body.to_vec()).unwrap();
    assert!(
        text.starts_with(r#"{"jsonrpc":"2.0","id":1,"result":"#) && text.contains(&nested(128))
    );
}
