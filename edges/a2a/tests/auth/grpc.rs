//! The same over gRPC, with the client of this crate.

use std::fmt::Debug;

use bytes::Bytes;
use futures_util::StreamExt;
use http::{HeaderName, HeaderValue, Request, StatusCode};
use http_body_util::Full;
use portcullis::{AgentEvent, Principal, Prompt, Scope, agent_fn};
use portcullis_a2a::{
    binding::OnePort,
    client::{Binding, CallError, Client, Transport},
    model::{Decode, ErrorKind, TaskState, decode_request},
    server::{Operation, Server},
};
use portcullis_layers::auth::AuthLayer;
use serde::Serialize;
use serde_json::{Value, json};
use tower::{Layer, ServiceExt, service_fn};

use crate::{Gate, Person, asks_back, attempt, card, first_message, gate, mirror, people};

/// The gate over gRPC, with these headers.
fn client_with(gate: &Gate, headers: &[(&'static str, String)]) -> Client<impl Transport + use<>> {
    let headers: Vec<(HeaderName, HeaderValue)> = headers
        .iter()
        .map(|(name, value)| {
            (
                HeaderName::from_static(name),
                value.parse().expect("a value"),
            )
        })
        .collect();
    let gate = gate.clone();
    let transport = service_fn(move |mut request: Request<Full<Bytes>>| {
        request.headers_mut().extend(headers.clone());
        // As somebody in front may have left it behind.
        let left = Principal::new("user", "api-keys", "root");
        request.extensions_mut().insert(left);
        gate.clone().oneshot(request)
    });
    Client::over(
        Binding::Grpc,
        transport,
        "http://h/".parse().expect("a URL"),
    )
}

fn client_of(gate: &Gate, person: &Person) -> Client<impl Transport + use<>> {
    let bearer = format!("Bearer {}", person.key.reveal());
    client_with(gate, &[("authorization", bearer)])
}

/// An operation, and what comes of it.
async fn ask(
    client: &Client<impl Transport>,
    operation: Operation,
    params: &Value,
) -> Result<Value, CallError> {
    fn read<T: Decode + Debug>(params: &Value) -> T {
        decode_request(&params.to_string()).expect("a request")
    }
    fn value(answer: impl Serialize) -> Value {
        serde_json::to_value(answer).expect("JSON")
    }
    Ok(match operation {
        Operation::SendMessage => value(client.send_message(&read(params)).await?),
        Operation::SendStreamingMessage => {
            let mut stream = client.send_streaming_message(&read(params)).await?;
            value(stream.next().await.expect("a frame")?.response)
        }
        Operation::GetTask => value(client.get_task(&read(params)).await?),
        Operation::ListTasks => value(client.list_tasks(&read(params)).await?),
        Operation::CancelTask => value(client.cancel_task(&read(params)).await?),
        Operation::SubscribeToTask => {
            let mut stream = client.subscribe_to_task(&read(params), None).await?;
            value(stream.next().await.expect("a frame")?.response)
        }
        Operation::CreateTaskPushNotificationConfig => {
            value(client.create_push_config(&read(params)).await?)
        }
        Operation::GetTaskPushNotificationConfig => value(client.push_config(&read(params)).await?),
        Operation::ListTaskPushNotificationConfigs => {
            value(client.list_push_configs(&read(params)).await?)
        }
        Operation::DeleteTaskPushNotificationConfig => {
            client.delete_push_config(&read(params)).await?;
            Value::Null
        }
        Operation::GetExtendedAgentCard => value(client.extended_card(&read(params)).await?),
    })
}

/// All that a caller can tell of an outcome.
fn told(outcome: &Result<Value, CallError>) -> String {
    match outcome {
        Ok(value) => value.to_string(),
        Err(CallError::Refused(error)) => format!("{error:?}"),
        Err(error) => panic!("{error:?}"),
    }
}

async fn open_task(client: &Client<impl Transport>, params: &Value) -> String {
    let sent = ask(client, Operation::SendMessage, params)
        .await
        .expect("a task");
    sent["task"]["id"].as_str().expect("an id").to_owned()
}

// O-A01, O-A02, O-A04.
#[tokio::test]
async fn the_holder_of_another_key_finds_nothing_over_grpc() {
    let people = people(["alice", "bob"]);
    let gate = gate(asks_back(), &people);
    let [alice, bob] = people.each_ref().map(|person| client_of(&gate, person));
    let id = open_task(&alice, &first_message()).await;
    for operation in Operation::ALL {
        let try_it = async |id: &str| {
            let outcome = ask(&bob, operation, &attempt(operation, id)).await;
            told(&outcome).replace(id, "ID")
        };
        // What is somebody else's, and what does not exist, are the same.
        let theirs = try_it(&id).await;
        assert_eq!(theirs, try_it("absent").await, "{operation:?}");
        assert!(!theirs.contains("alice"), "{operation:?}: {theirs}");
        if operation == Operation::GetExtendedAgentCard {
            assert!(theirs.contains("bob"), "{theirs}");
        } else {
            assert!(!theirs.contains("private"), "{operation:?}: {theirs}");
        }
    }
    // It is as it was, and its owner has it.
    let task = ask(&alice, Operation::GetTask, &json!({ "id": id })).await;
    let task = task.expect("hers");
    assert_eq!(task["status"]["state"], TaskState::InputRequired.as_str());
    assert!(task.to_string().contains("private"), "{task}");
}

// A2A-SEC-1: HTTP says 401 before anything of gRPC is looked at, which its clients know.
#[tokio::test]
async fn nobody_gets_in_over_grpc() {
    let people = people(["alice"]);
    let gate = gate(asks_back(), &people);
    let id = open_task(&client_of(&gate, &people[0]), &first_message()).await;
    for headers in [&[][..], &[("authorization", "Bearer pk_wrong".to_owned())]] {
        let nobody = client_with(&gate, headers);
        for operation in Operation::ALL {
            for id in [&*id, "absent"] {
                let error = ask(&nobody, operation, &attempt(operation, id)).await;
                match error.expect_err("nobody") {
                    CallError::Refused(error) => {
                        assert_eq!(error.kind(), ErrorKind::Unauthenticated, "{operation:?}");
                        assert!(!format!("{error:?}").contains(id), "{error:?}");
                    }
                    CallError::Status { status, body, .. } => {
                        assert_eq!(status, StatusCode::UNAUTHORIZED, "{operation:?}");
                        assert!(!body.contains(id), "{body}");
                    }
                    other => panic!("{operation:?}: {other:?}"),
                }
            }
        }
    }
}

// O-A05, A2A-SEC-2.
#[tokio::test]
async fn nothing_in_metadata_names_a_principal() {
    let people = people(["alice"]);
    let [alice] = &people;
    let gate = gate(mirror(), &people);
    let mut claims = first_message();
    claims["metadata"] = json!({"principal": "root", "user": {"subject": "root"}});
    let mut headers = vec![("authorization", format!("Bearer {}", alice.key.reveal()))];
    for name in [
        "x-principal",
        "x-user",
        "x-forwarded-user",
        "a2a-principal",
        "from",
    ] {
        headers.push((name, "root".to_owned()));
    }
    let client = client_with(&gate, &headers);
    let sent = ask(&client, Operation::SendMessage, &claims)
        .await
        .expect("a task");
    let shown = sent["task"]["artifacts"][0]["parts"][0]["text"].as_str();
    let shown = shown.unwrap_or_else(|| panic!("{sent}"));
    assert!(shown.starts_with("alice - ctx:"), "{shown}");
    assert!(!shown.contains("root"), "{shown}");
    assert!(shown.contains("[false, false]"), "{shown}");
    assert!(!shown.contains(alice.key.reveal()), "{shown}");
}

// O-A06.
#[tokio::test]
async fn a_key_opens_no_other_tenant_over_grpc() {
    let people = people(["alice", "bob"]);
    let gate = gate(asks_back(), &people);
    let [alice, bob] = people.each_ref().map(|person| client_of(&gate, person));
    let mut first = first_message();
    first["tenant"] = json!("acme");
    let id = open_task(&alice, &first).await;
    let get = async |client: &Client<_>, tenant: &str| {
        let found = ask(
            client,
            Operation::GetTask,
            &json!({"id": id, "tenant": tenant}),
        )
        .await;
        match found {
            Ok(task) => task["id"] == json!(id),
            Err(error) => {
                let kind = error.as_refusal().expect("a refusal").kind();
                assert_eq!(kind, ErrorKind::TaskNotFound);
                false
            }
        }
    };
    assert!(get(&alice, "acme").await);
    for tenant in ["", "other"] {
        assert!(!get(&alice, tenant).await, "{tenant:?}");
    }
    for tenant in ["", "other", "acme"] {
        assert!(!get(&bob, tenant).await, "{tenant:?}");
    }
}

#[tokio::test]
async fn over_grpc_an_agent_that_demands_a_principal_is_never_reached_without() {
    let engine = agent_fn(async |_: Scope, _: Prompt, out| {
        out.emit(AgentEvent::text("private")).await;
        Ok(())
    });
    let server = Server::agent_builder(AuthLayer::demand().layer(engine), card()).build();
    let open = Client::over(
        Binding::Grpc,
        OnePort::new(server),
        "http://h/".parse().expect("a URL"),
    );
    let error = ask(&open, Operation::SendMessage, &first_message()).await;
    let error = error.expect_err("nobody");
    let kind = error.as_refusal().expect("a refusal").kind();
    assert_eq!(kind, ErrorKind::Unauthenticated);
    let list = ask(&open, Operation::ListTasks, &json!({}))
        .await
        .expect("none");
    assert_eq!(list["totalSize"], 0, "{list}");
}
