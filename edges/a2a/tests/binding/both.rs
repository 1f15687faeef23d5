//! What every binding does alike: one suite over the client's bindings. An operation that is added
//! does not compile until it stands here.

use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::StreamExt;
use http::{Request, Response};
use http_body_util::Full;
use portcullis::Principal;
use portcullis_a2a::{
    binding::{OnePort, ResponseBody, ResponseFuture},
    client::{Binding, CallError, Client, EventStream, Transport},
    model::{
        CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, ErrorKind,
        GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest,
        ListTaskPushNotificationConfigsRequest, ListTasksRequest, Message, Part,
        SendMessageConfiguration, SendMessageRequest, SubscribeToTaskRequest,
        TaskPushNotificationConfig, TaskState,
    },
    server::Operation,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use tower::Service;

use crate::support::{Rig, Step, card, rig, rig_of};

pub(crate) fn texts(text: &str) -> Vec<Step> {
    match text {
        "artifact" => vec![
            Step::working(),
            Step::artifact(
                r#"{"artifactId": "a-1", "parts": [{"text": "héllo"}, {"data": {"n": 1.5}}]}"#,
            ),
            Step::completed(),
        ],
        "ask" => vec![Step::input_required("what?")],
        "say" => vec![Step::message("pong")],
        "hang" => vec![Step::working(), Step::wait(), Step::completed()],
        _ => vec![Step::completed()],
    }
}

/// A service that somebody calls whom a layer in front has recognised.
#[derive(Clone)]
pub(crate) struct As {
    service: OnePort,
    principal: Option<Principal>,
}

impl As {
    pub(crate) fn new(service: OnePort, who: Option<&str>) -> Self {
        Self {
            service,
            principal: who.map(|who| Principal::new("user", "issuer", who)),
        }
    }
}

impl Service<Request<Full<Bytes>>> for As {
    type Response = Response<ResponseBody>;
    type Error = std::convert::Infallible;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<Full<Bytes>>) -> Self::Future {
        if let Some(principal) = &self.principal {
            request.extensions_mut().insert(principal.clone());
        }
        self.service.call(request)
    }
}

/// A client of the rig, where JSON-RPC is at `/rpc`.
pub(crate) fn client(rig: &Rig, binding: Binding, who: Option<&str>) -> Client<As> {
    client_at("http://in.process/rpc", rig.service(), binding, who)
}

/// A client of a service of the usual layout.
pub(crate) fn client_of(service: OnePort, binding: Binding, who: Option<&str>) -> Client<As> {
    client_at("http://in.process/", service, binding, who)
}

fn client_at(json_rpc: &str, service: OnePort, binding: Binding, who: Option<&str>) -> Client<As> {
    let url = match binding {
        Binding::JsonRpc => json_rpc,
        Binding::Rest => "http://in.process/rest/",
        Binding::Grpc => "http://in.process",
        other => panic!("where is {other}?"),
    };
    let service = As::new(service, who);
    Client::over(binding, service, url.parse().unwrap())
}

pub(crate) fn say(text: &str) -> SendMessageRequest {
    SendMessageRequest::new(Message::user("m-u1", [Part::text(text)]))
}

pub(crate) fn to(task: &str, text: &str) -> SendMessageRequest {
    let mut message = Message::user("m-u2", [Part::text(text)]);
    message.task_id = task.to_owned();
    SendMessageRequest::new(message)
}

pub(crate) type Answer = Result<Value, CallError>;

async fn events(stream: Result<EventStream, CallError>) -> Answer {
    let mut events = Vec::new();
    let mut stream = stream?;
    while let Some(event) = stream.next().await {
        let event = event?;
        events.push(json!([event.id.as_deref(), event.response]));
    }
    Ok(events.into())
}

pub(crate) fn value(answer: impl serde::Serialize) -> Value {
    serde_json::to_value(answer).unwrap()
}

/// An operation on a task.
pub(crate) async fn attempt<T: Transport>(
    client: &Client<T>,
    operation: Operation,
    id: &str,
) -> Answer {
    Ok(match operation {
        Operation::SendMessage => value(client.send_message(&to(id, "artifact")).await?),
        Operation::SendStreamingMessage => {
            events(client.send_streaming_message(&to(id, "artifact")).await).await?
        }
        Operation::GetTask => value(client.get_task(&GetTaskRequest::new(id)).await?),
        Operation::ListTasks => {
            let mut request = ListTasksRequest::new();
            request.include_artifacts = Some(true);
            request.history_length = Some(9);
            value(client.list_tasks(&request).await?)
        }
        Operation::CancelTask => value(client.cancel_task(&CancelTaskRequest::new(id)).await?),
        Operation::SubscribeToTask => {
            let request = SubscribeToTaskRequest::new(id);
            let mut stream = client.subscribe_to_task(&request, None).await?;
            // A task that waits ends no stream.
            let first = stream.next().await.expect("the task")?;
            value(first.response)
        }
        Operation::CreateTaskPushNotificationConfig => {
            let config = TaskPushNotificationConfig::new(id, "https://hooks.example.net/a2a");
            value(client.create_push_config(&config).await?)
        }
        Operation::GetTaskPushNotificationConfig => {
            let request = GetTaskPushNotificationConfigRequest::new(id, "p-1");
            value(client.push_config(&request).await?)
        }
        Operation::ListTaskPushNotificationConfigs => {
            let request = ListTaskPushNotificationConfigsRequest::new(id);
            value(client.list_push_configs(&request).await?)
        }
        Operation::DeleteTaskPushNotificationConfig => {
            let request = DeleteTaskPushNotificationConfigRequest::new(id, "p-1");
            client.delete_push_config(&request).await?;
            Value::Null
        }
        Operation::GetExtendedAgentCard => value(
            client
                .extended_card(&GetExtendedAgentCardRequest::new())
                .await?,
        ),
    })
}

/// What of an answer has to be the same everywhere.
pub(crate) fn comparable(answer: Answer) -> Result<Value, Value> {
    answer.map_err(|error| {
        let refusal = error.as_refusal().unwrap_or_else(|| panic!("{error:?}"));
        let metadata: Vec<_> = refusal.metadata().collect();
        let violations: Vec<_> = refusal
            .violations()
            .iter()
            .map(ToString::to_string)
            .collect();
        json!([
            format!("{:?}", refusal.kind()),
            refusal.message(),
            metadata,
            violations
        ])
    })
}

// A2A-GEN-3: every operation, on a task that waits, on one that is over, on none, and in one
// process after the other the very same ids and times.
#[tokio::test]
async fn bindings_answer_alike() {
    for text in ["ask", "artifact", "absent", "bad"] {
        for operation in Operation::ALL {
            let mut answers = Vec::new();
            for &binding in Binding::ALL {
                let mut card = card();
                card["capabilities"]["extendedAgentCard"] = json!(true);
                let rig = rig_of(&card, texts);
                let client = client(&rig, binding, Some("me"));
                let task = value(client.send_message(&say(text)).await.unwrap());
                let id = match text {
                    "absent" => "no/such task?",
                    "bad" => "\u{7}",
                    _ => task["task"]["id"].as_str().unwrap(),
                };
                let answer = comparable(attempt(&client, operation, id).await);
                let after = comparable(attempt(&client, Operation::ListTasks, id).await);
                answers.push((answer, after));
            }
            assert_eq!(answers[0], answers[1], "{operation} on {text}");
            // Events of gRPC have no ids. Its numbers are floats (A2A-DATA-11), so none here is written as a
            // float would not be.
            let [_, rest, grpc] = &mut answers[..] else {
                panic!("a binding is not compared");
            };
            if let Ok(Value::Array(events)) = &mut rest.0 {
                events.iter_mut().for_each(|event| event[0] = Value::Null);
            }
            assert_eq!(rest, grpc, "{operation} on {text}");
        }
    }
}

// A2A-OP-2, A2A-OP-3, A2A-SEC-5..8, Issue 4.6: over every binding a task does not exist for others,
// and the answer is that to a task that does not.
#[tokio::test]
async fn bindings_keep_owners_apart() {
    for &binding in Binding::ALL {
        let rig = rig(texts);
        let mine = client(&rig, binding, Some("me"));
        let task = value(mine.send_message(&say("ask")).await.unwrap())["task"].clone();
        let id = task["id"].as_str().unwrap();
        for other in [Some("you"), None] {
            let theirs = client(&rig, binding, other);
            for operation in Operation::ALL {
                let on_mine = comparable(attempt(&theirs, operation, id).await);
                let on_none = comparable(attempt(&theirs, operation, "absent").await);
                let text = |answer: &Result<Value, Value>| format!("{answer:?}");
                assert_eq!(
                    text(&on_mine).replace(id, "ID"),
                    text(&on_none).replace("absent", "ID"),
                    "{binding} {operation}"
                );
                match operation {
                    Operation::ListTasks => assert_eq!(on_mine.unwrap()["totalSize"], 0),
                    Operation::SendMessage
                    | Operation::SendStreamingMessage
                    | Operation::GetTask
                    | Operation::CancelTask
                    | Operation::SubscribeToTask => {
                        assert_eq!(on_mine.unwrap_err()[0], "TaskNotFound", "{operation}");
                    }
                    Operation::CreateTaskPushNotificationConfig
                    | Operation::GetTaskPushNotificationConfig
                    | Operation::ListTaskPushNotificationConfigs
                    | Operation::DeleteTaskPushNotificationConfig
                    | Operation::GetExtendedAgentCard => assert!(on_mine.is_err(), "{operation}"),
                }
            }
        }
        let after = value(mine.get_task(&GetTaskRequest::new(id)).await.unwrap());
        assert_eq!(after, task, "nobody touched it");
    }
}

// What one binding began, the other goes on with: one core.
#[tokio::test]
async fn a_task_is_the_same_over_every_binding() {
    let rig = rig(texts);
    let clients: Vec<_> = Binding::ALL
        .iter()
        .map(|binding| client(&rig, *binding, None))
        .collect();
    for (one, two) in (0..3).map(|at| (&clients[at], &clients[(at + 1) % 3])) {
        let mut request = say("hang");
        let wishes = SendMessageConfiguration::new().returning_immediately();
        request = request.with_configuration(wishes);
        let task = value(one.send_message(&request).await.unwrap());
        let id = task["task"]["id"].as_str().unwrap();
        let watch = SubscribeToTaskRequest::new(id);
        let watchers = [
            one.subscribe_to_task(&watch, None).await,
            two.subscribe_to_task(&watch, None).await,
        ];
        rig.go_on();
        let [first, second] = watchers.map(events);
        let (first, second) = (first.await.unwrap(), second.await.unwrap());
        let last = |events: &Value| events.as_array().unwrap().last().unwrap()[1].clone();
        assert_eq!(last(&first), last(&second));
        let read = two.get_task(&GetTaskRequest::new(id)).await.unwrap();
        assert_eq!(read.status.state, TaskState::Completed);
        assert_eq!(
            value(read),
            value(one.get_task(&GetTaskRequest::new(id)).await.unwrap())
        );
    }
}

// O-R03: whatever an id or a filter is, the server reads what the client meant.
#[tokio::test]
async fn ids_and_filters_arrive_as_they_are() {
    let rig = rig(texts);
    for &binding in Binding::ALL {
        let client = client(&rig, binding, None);
        for id in [
            "../admin", "..", ".", "a/b?c#d", "a:cancel", "a&b=c", "é ü", "%2F", "+", "tasks",
        ] {
            let error = client.get_task(&GetTaskRequest::new(id)).await.unwrap_err();
            let refusal = error
                .as_refusal()
                .unwrap_or_else(|| panic!("{id}: {error:?}"));
            assert_eq!(refusal.kind(), ErrorKind::TaskNotFound);
            assert_eq!(
                refusal.metadata().collect::<Vec<_>>(),
                [("taskId", id)],
                "{binding}"
            );
            let error = client
                .cancel_task(&CancelTaskRequest::new(id))
                .await
                .unwrap_err();
            let refusal = error.as_refusal().unwrap();
            assert_eq!(
                refusal.metadata().collect::<Vec<_>>(),
                [("taskId", id)],
                "{binding}"
            );
        }
        for context in ["a&status=x", "+/=", "a b", "é%20", "?#"] {
            let mut request = say("x");
            request.message.context_id = format!("{context}{binding}");
            client.send_message(&request).await.unwrap();
            let mut list = ListTasksRequest::new();
            list.context_id = request.message.context_id;
            list.status = TaskState::Completed;
            assert_eq!(
                client.list_tasks(&list).await.unwrap().total_size,
                1,
                "{context}"
            );
        }
        let mut list = ListTasksRequest::new();
        list.page_token = "+/=&".to_owned();
        let error = client.list_tasks(&list).await.unwrap_err();
        assert_eq!(
            error.as_refusal().unwrap().violations()[0].field(),
            "pageToken"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_id_arrives(id in "[^\u{0}-\u{1f}\u{7f}-\u{9f}]{1,40}") {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            for binding in [Binding::Rest, Binding::Grpc] {
                let client = client(&rig(texts), binding, None);
                let error = client.get_task(&GetTaskRequest::new(&*id)).await.unwrap_err();
                let refusal = error.as_refusal().unwrap_or_else(|| panic!("{id}: {error:?}"));
                assert_eq!(refusal.metadata().collect::<Vec<_>>(), [("taskId", &*id)]);
            }
        });
    }
}
