//! Tasks and sessions belong to who made them (O-A01, O-A02, O-A05, O-A06).

use std::collections::HashSet;

use portcullis::{AgentEvent, Principal, Prompt, Scope, agent_fn};
use portcullis_a2a::{
    model::{Error, ErrorKind},
    server::{Caller, Operation, Server, Tenants},
};
use serde_json::{Value, json};

use crate::support::{
    call_as, card, follow_up, message, scripted_server, send, server_of, state_of, user,
};

/// How a stranger tries an operation on somebody's task. A new operation does not compile
/// until it stands here.
fn attempt(operation: Operation, id: &str) -> Value {
    match operation {
        Operation::SendMessage | Operation::SendStreamingMessage => {
            follow_up(id, "m-x", "complete")
        }
        Operation::GetTask | Operation::CancelTask | Operation::SubscribeToTask => {
            json!({"id": id})
        }
        Operation::ListTasks => json!({"includeArtifacts": true, "historyLength": 9}),
        Operation::CreateTaskPushNotificationConfig => {
            json!({"taskId": id, "url": "https://example.com/"})
        }
        Operation::GetTaskPushNotificationConfig | Operation::DeleteTaskPushNotificationConfig => {
            json!({"taskId": id, "id": "p-1"})
        }
        Operation::ListTaskPushNotificationConfigs => json!({"taskId": id}),
        Operation::GetExtendedAgentCard => json!({}),
    }
}

fn bare(error: &Error, id: &str) -> String {
    let details = serde_json::to_string(&error.details()).expect("encodes");
    format!("{} {} {details}", error.code(), error.message()).replace(id, "ID")
}

async fn everybody_else_finds_nothing(server: &Server, owner: &Caller, others: &[Caller]) {
    let task = call_as(server, owner, "SendMessage", &send("ask"))
        .await
        .expect("a task");
    let id = task["task"]["id"].as_str().expect("an id");
    for other in others {
        for operation in Operation::ALL {
            let name = operation.as_str();
            let theirs = call_as(server, other, name, &attempt(operation, id)).await;
            let absent = call_as(server, other, name, &attempt(operation, "absent")).await;
            match (theirs, absent) {
                (Ok(theirs), Ok(absent)) => {
                    assert_eq!(operation, Operation::ListTasks, "{name} answers a stranger");
                    assert_eq!(theirs, absent);
                    assert_eq!(theirs["totalSize"], 0, "{other:?}");
                }
                // The very same answer (O-A02).
                (Err(theirs), Err(absent)) => {
                    assert_eq!(bare(&theirs, id), bare(&absent, "absent"), "{name}");
                    let expected = match operation {
                        Operation::CreateTaskPushNotificationConfig
                        | Operation::GetTaskPushNotificationConfig
                        | Operation::ListTaskPushNotificationConfigs
                        | Operation::DeleteTaskPushNotificationConfig => {
                            ErrorKind::PushNotificationNotSupported
                        }
                        Operation::GetExtendedAgentCard => ErrorKind::UnsupportedOperation,
                        _ => ErrorKind::TaskNotFound,
                    };
                    assert_eq!(theirs.kind(), expected, "{name}");
                }
                (theirs, absent) => panic!("{name}: {theirs:?} but {absent:?}"),
            }
        }
    }
    // All that did not touch it.
    let after = call_as(server, owner, "GetTask", &json!({"id": id}))
        .await
        .expect("it is there");
    assert_eq!(after, task["task"]);
    let list = call_as(server, owner, "ListTasks", &json!({}))
        .await
        .expect("it is there");
    assert_eq!(list["totalSize"], 1);
}

// A2A-SEC-6, A2A-SEC-7, A2A-SEC-8, O-A01, O-A02: every operation, every stranger.
#[tokio::test]
async fn a_task_does_not_exist_for_others() {
    let of = |issuer: &str, kind: &str| {
        Caller::new().with_principal(Some(Principal::new(kind, issuer, "a")))
    };
    let others = [
        Caller::new(),
        user("b"),
        of("https://other.example.com", "user"),
        of("https://issuer.example.com", "service"),
        user("a").in_tenant("acme"),
        Caller::new().in_tenant("acme"),
    ];
    everybody_else_finds_nothing(&scripted_server(), &user("a"), &others).await;
    // What nobody in particular made is not for those who are known, and the reverse.
    let others = [user("a"), Caller::new().in_tenant("acme")];
    everybody_else_finds_nothing(&scripted_server(), &Caller::new(), &others).await;
    let others = [user("a"), Caller::new(), Caller::new().in_tenant("acme")];
    let owner = user("a").in_tenant("acme");
    everybody_else_finds_nothing(&scripted_server(), &owner, &others).await;
}

// O-A06, A2A-OP-9, A2A-OP-10: in the body and in the address; unknown tenants.
#[tokio::test]
async fn the_tenant_is_part_of_every_key() {
    let server = scripted_server();
    let tenant = |mut params: Value, tenant: &str| {
        params["tenant"] = json!(tenant);
        params
    };
    let caller = Caller::new();
    let task = call_as(
        &server,
        &caller,
        "SendMessage",
        &tenant(send("ask"), "acme"),
    )
    .await
    .expect("a tenant of the card");
    let id = task["task"]["id"].as_str().expect("an id");
    for operation in Operation::ALL {
        let name = operation.as_str();
        let mut params = attempt(operation, id);
        if operation == Operation::CancelTask {
            continue;
        }
        let without = call_as(&server, &caller, name, &params).await;
        params["tenant"] = json!("acme");
        let within = call_as(&server, &caller, name, &params).await;
        params["tenant"] = json!("umbrella");
        let unknown = call_as(&server, &caller, name, &params).await;
        match operation {
            Operation::SendMessage | Operation::GetTask | Operation::SubscribeToTask => {
                assert_eq!(
                    without.expect_err("another key").kind(),
                    ErrorKind::TaskNotFound
                );
                assert_eq!(
                    unknown.expect_err("no tenant").kind(),
                    ErrorKind::TaskNotFound
                );
            }
            Operation::ListTasks => {
                assert_eq!(without.expect("a list")["totalSize"], 0);
                assert_eq!(within.expect("a list")["totalSize"], 1);
                assert_eq!(unknown.expect_err("no tenant").code(), -32602);
            }
            Operation::SendStreamingMessage
            | Operation::CancelTask
            | Operation::CreateTaskPushNotificationConfig
            | Operation::GetTaskPushNotificationConfig
            | Operation::ListTaskPushNotificationConfigs
            | Operation::DeleteTaskPushNotificationConfig
            | Operation::GetExtendedAgentCard => {
                // Over by now, or not served at all.
                assert!(
                    without.is_err() && within.is_err() && unknown.is_err(),
                    "{name}"
                );
            }
        }
    }
    let caller = Caller::new().in_tenant("acme");
    let params = tenant(json!({"id": id}), "other");
    let error = call_as(&server, &caller, "GetTask", &params)
        .await
        .expect_err("two tenants");
    assert_eq!(error.violations()[0].field(), "tenant");
    let params = tenant(json!({"id": id}), "acme");
    call_as(&server, &caller, "GetTask", &params)
        .await
        .expect("the same twice");
    let open = Server::builder(
        portcullis_a2a::server::executor_fn(crate::support::scripted),
        card(),
    );
    let open = server_of(open.tenants(Tenants::Any));
    let params = tenant(send("complete"), "anybody");
    call_as(&open, &Caller::new(), "SendMessage", &params)
        .await
        .expect("any");
}

/// Answers with the session, the tenant and who asks.
fn mirror() -> Server {
    let mirror = agent_fn(async |scope: Scope, _prompt: Prompt, out| {
        let principal = scope.principal().map_or("-", Principal::subject);
        let tenant = scope.tenant().unwrap_or("-");
        let shown = format!("{} {tenant} {principal}", scope.session());
        out.emit(AgentEvent::text(shown)).await;
        Ok(())
    });
    server_of(Server::agent_builder(mirror, card()))
}

async fn reflection(server: &Server, caller: &Caller, context_id: &str) -> String {
    let mut params = json!({"message": message("m", "x")});
    params["message"]["contextId"] = json!(context_id);
    let task = call_as(server, caller, "SendMessage", &params)
        .await
        .expect("answered");
    assert_eq!(state_of(&task), "TASK_STATE_COMPLETED");
    // The client's own id comes back as it was (A2A-OP-16).
    assert_eq!(task["task"]["contextId"], context_id);
    task["task"]["artifacts"][0]["parts"][0]["text"]
        .as_str()
        .expect("a text")
        .to_owned()
}

// Ruling 18, critique A9: naming somebody's context gives nothing of it.
#[tokio::test]
async fn a_context_id_is_a_different_session_for_each_owner() {
    let server = mirror();
    assert_eq!(reflection(&server, &Caller::new(), "c").await, "c - -");
    let callers = [
        user("a"),
        user("b"),
        user("a").in_tenant("acme"),
        Caller::new().in_tenant("acme"),
        // The parts do not run into one another.
        Caller::new().with_principal(Some(Principal::new(
            "ser",
            "https://issuer.example.comu",
            "a",
        ))),
    ];
    let mut sessions = HashSet::new();
    for caller in &callers {
        for context_id in ["c", "d"] {
            let one = reflection(&server, caller, context_id).await;
            let session = one.split(' ').next().expect("a session").to_owned();
            assert!(session.starts_with("ctx:"), "{session}");
            // Stable, also over a restart.
            assert_eq!(reflection(&mirror(), caller, context_id).await, one);
            assert!(sessions.insert(session));
        }
    }
}

// O-A05.
#[tokio::test]
async fn a_hundred_callers_each_see_themselves() {
    let server = mirror();
    let calls = (0..100).map(|number| {
        let server = server.clone();
        async move {
            let name = format!("user-{number}");
            let caller = user(&name).in_tenant("acme");
            let shown = reflection(&server, &caller, "c").await;
            assert!(shown.ends_with(&format!(" acme {name}")), "{shown}");
        }
    });
    futures_util::future::join_all(calls).await;
}
