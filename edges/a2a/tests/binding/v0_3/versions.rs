//! Which version a request speaks, and what is spoken where.

use portcullis_a2a::{
    binding::{Layout, OnePort},
    model::{AgentCard, AgentInterface, TaskState},
    server::{ProtocolVersion, Server, executor_fn},
};
use serde_json::{Value, json};

use super::rig::{Dual, dual, says, says_in_proto};

fn new_message() -> Value {
    json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}})
}

fn call(method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

async fn code(dual: &Dual, version: Option<&str>, body: &str) -> Value {
    let headers: Vec<_> = version
        .iter()
        .map(|version| ("a2a-version", *version))
        .collect();
    let reply = dual.send("POST", "/", &headers, body).await.json();
    reply["error"]["code"].clone()
}

/// A2A-COMPAT-3, EX-18, T-14, O-V01: one URL that serves both.
#[tokio::test]
async fn one_url_for_both() {
    let dual = dual();
    let (old, new) = (
        call("message/send", &says("hi")),
        call("SendMessage", &new_message()),
    );
    for (version, of_old, of_new) in [
        (None, Value::Null, json!(-32009)),
        (Some(""), Value::Null, json!(-32009)),
        (Some("0.3"), Value::Null, json!(-32009)),
        (Some("0.3.0"), Value::Null, json!(-32009)),
        (Some("1.0"), json!(-32601), Value::Null),
        (Some("1.0.1"), json!(-32601), Value::Null),
        (Some("0.5"), json!(-32009), json!(-32009)),
        (Some("1.1"), json!(-32009), json!(-32009)),
        (Some("0.3.x"), json!(-32009), json!(-32009)),
        (Some("x"), json!(-32009), json!(-32009)),
    ] {
        assert_eq!(
            code(&dual, version, &old).await,
            of_old,
            "{version:?} message/send"
        );
        assert_eq!(
            code(&dual, version, &new).await,
            of_new,
            "{version:?} SendMessage"
        );
    }
    let reply = dual
        .send("POST", "/?A2A-Version=1.0", &[], &new)
        .await
        .json();
    assert_eq!(
        reply["result"]["task"]["status"]["state"], "TASK_STATE_COMPLETED",
        "{reply:#}"
    );

    // In the form of 1.0, which whoever sends such a name reads (A2A-SVC-9).
    let reply = dual.send("POST", "/", &[], &new).await.json();
    let error = &reply["error"];
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("A2A-Version: 1.0"), "{message}");
    assert_eq!(
        error["data"],
        json!([{
            "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "VERSION_NOT_SUPPORTED",
            "domain": "a2a-protocol.org", "metadata": {"requestedVersion": "0.3", "supportedVersions": "1.0,0.3"}
        }])
    );
    let reply = dual
        .send("POST", "/", &[("a2a-version", "0.5")], &new)
        .await
        .json();
    assert_eq!(
        reply["error"]["data"][0]["metadata"],
        json!({"requestedVersion": "0.5", "supportedVersions": "1.0,0.3"})
    );
}

/// O-V01 on HTTP+JSON: four headers, two forms.
#[tokio::test]
async fn one_place_for_both() {
    let dual = dual();
    let (old, new) = (says_in_proto("hi").to_string(), new_message().to_string());
    for (version, of_old, of_new) in [
        (None, 200, 400),
        (Some(""), 200, 400),
        (Some("0.3"), 200, 400),
        // There `v1` is a tenant, and none that the card names.
        (Some("1.0"), 400, 200),
        (Some("0.5"), 400, 400),
    ] {
        let headers: Vec<_> = version
            .iter()
            .map(|version| ("a2a-version", *version))
            .collect();
        let reply = dual
            .send("POST", "/rest/v1/message:send", &headers, &old)
            .await;
        assert_eq!(reply.status, of_old, "{version:?} /v1: {}", reply.text);
        let reply = dual
            .send("POST", "/rest/message:send", &headers, &new)
            .await;
        assert_eq!(reply.status, of_new, "{version:?}: {}", reply.text);
        if version != Some("1.0") {
            let error = reply.json();
            assert_eq!(
                error["error"]["details"][0]["reason"], "VERSION_NOT_SUPPORTED",
                "{error:#}"
            );
            assert_eq!(
                error["error"]["details"][0]["metadata"]["supportedVersions"],
                "1.0,0.3"
            );
        }
    }
}

fn server(interfaces: Vec<AgentInterface>, missing: ProtocolVersion) -> Dual {
    let executor = executor_fn(async |ctx, out| {
        out.emit(ctx.status(TaskState::Completed)).await;
    });
    let card = AgentCard::of_interfaces("a", "a", interfaces);
    let server = Server::builder(executor, card)
        .missing_version(missing)
        .build();
    Dual {
        service: OnePort::with_layout(server, &Layout::new()),
        principal: None,
    }
}

/// O-V04: what the card names for a binding is what the binding takes.
#[tokio::test]
async fn what_the_card_names_is_spoken() {
    let rpc = || AgentInterface::json_rpc("https://a.example/");
    let rest = || AgentInterface::rest("https://a.example/rest");
    let old = |interface: AgentInterface| interface.with_version("0.3");
    for interfaces in [
        vec![rpc(), rest()],
        vec![rpc(), rest(), old(rpc())],
        vec![rpc(), rest(), old(rest())],
        vec![rpc(), rest(), old(rpc()), old(rest())],
        vec![old(rpc()), rest()],
        vec![rpc(), old(rest())],
        vec![old(rpc()), old(rest())],
    ] {
        let names = |binding: &str, version: &str| {
            interfaces.iter().any(|interface| {
                interface.protocol_binding == binding && interface.protocol_version == version
            })
        };
        let dual = server(interfaces.clone(), ProtocolVersion::V0_3);
        let at = |path: &'static str, version: &'static str, body: Value| {
            let dual = &dual;
            async move {
                let reply = dual
                    .send("POST", path, &[("a2a-version", version)], &body.to_string())
                    .await;
                let reply = (reply.status, reply.json());
                reply.0 == 200 && reply.1.get("error").is_none()
            }
        };
        let call = |method: &str, params: Value| json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let taken = [
            at("/", "1.0", call("SendMessage", new_message())).await,
            at("/", "0.3", call("message/send", says("hi"))).await,
            at("/rest/message:send", "1.0", new_message()).await,
            at("/rest/v1/message:send", "0.3", says_in_proto("hi")).await,
        ];
        let named = [
            names("JSONRPC", "1.0"),
            names("JSONRPC", "0.3"),
            names("HTTP+JSON", "1.0"),
            names("HTTP+JSON", "0.3"),
        ];
        assert_eq!(taken, named, "{interfaces:#?}");
    }
}

/// A2A-SVC-7: a closed deployment may take whoever says nothing for a speaker of 1.0.
#[tokio::test]
async fn who_says_nothing_speaks_what_the_host_says() {
    let interfaces = vec![AgentInterface::json_rpc("https://a.example/")];
    let body = call("SendMessage", &new_message());
    let strict = server(interfaces.clone(), ProtocolVersion::V0_3);
    let reply = strict.send("POST", "/", &[], &body).await.json();
    assert_eq!(
        reply["error"]["message"],
        "Protocol version 0.3 is not supported (no A2A-Version header was sent)"
    );
    let closed = server(interfaces, ProtocolVersion::V1_0);
    assert_eq!(code(&closed, None, &body).await, Value::Null);
    assert_eq!(code(&closed, Some(""), &body).await, Value::Null);
    assert_eq!(code(&closed, Some("0.3"), &body).await, json!(-32009));
    let reply = closed
        .send(
            "POST",
            "/rest/message:send",
            &[],
            &new_message().to_string(),
        )
        .await;
    assert_eq!(reply.status, 200, "{}", reply.text);
}

/// O-V03: who calls is who the layers in front say, and reaches nothing of anybody else.
#[tokio::test]
async fn callers_are_the_same_in_both() {
    let dual = dual();
    let ann = dual.as_somebody("ann");
    let task = ann.result("message/send", says("who")).await;
    assert_eq!(task["artifacts"][0]["parts"][0]["text"], "ann", "{task:#}");
    let id = task["id"].clone();
    assert_eq!(ann.result("tasks/get", json!({"id": id})).await["id"], id);
    for other in [&dual, &dual.as_somebody("bob")] {
        for method in [
            "tasks/get",
            "tasks/cancel",
            "tasks/resubscribe",
            "tasks/pushNotificationConfig/list",
        ] {
            let error = other.error(method, json!({"id": id})).await;
            assert_eq!(error["code"], -32001, "{method}: {error:#}");
        }
        let path = format!("/rest/v1/tasks/{}", id.as_str().unwrap());
        assert_eq!(other.send("GET", &path, &[], "").await.status, 404);
    }
    let path = format!("/rest/v1/tasks/{}", id.as_str().unwrap());
    let reply = ann.send("GET", &path, &[], "").await;
    assert_eq!(reply.json()["id"], id);
}
