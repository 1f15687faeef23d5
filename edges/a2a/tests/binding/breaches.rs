//! What an executor says against the protocol before there is a task: a refusal, in the form that
//! each binding has for it (A2A-OP-44).

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use portcullis::Emitter;
use portcullis_a2a::{
    binding::{Layout, OnePort},
    client::{Binding, Client},
    model::{
        AgentCard, Artifact, ErrorKind, ListTasksRequest, Message, Part, SendMessageConfiguration,
        SendMessageRequest, SendMessageResponse, Task, TaskState,
    },
    server::{Emission, RequestContext, Server, executor_fn},
};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::grpc;

/// What a message of this text is answered with, first of all.
fn breach(cx: &RequestContext, text: &str) -> Emission {
    match text {
        "nothing said" => cx.answer([]).into(),
        "no parts" => cx.artifact(Artifact::new("a-1", [])).into(),
        "more of nothing" => cx
            .artifact(Artifact::text("a-1", "more"))
            .appending()
            .into(),
        "no state" => cx.status(TaskState::Unknown).into(),
        "of another task" => {
            let mut event = cx.status(TaskState::Working);
            event.task_id = "t-other".to_owned();
            event.into()
        }
        "another task" => Task::new("t-other", "", cx.status(TaskState::Working).status).into(),
        "a task with an empty artifact" => {
            let mut task = Task::new("", "", cx.status(TaskState::Working).status);
            task.artifacts.push(Artifact::new("a-1", []));
            task.into()
        }
        other => panic!("{other}"),
    }
}

const BREACHES: [&str; 7] = [
    "nothing said",
    "no parts",
    "more of nothing",
    "no state",
    "of another task",
    "another task",
    "a task with an empty artifact",
];

fn service() -> OnePort {
    let executor = executor_fn(async |cx: RequestContext, out: Emitter<Emission>| {
        out.emit(breach(&cx, &cx.message().text())).await;
        out.emit(cx.status(TaskState::Completed)).await;
    });
    let card = AgentCard::of_interfaces("n", "d", Layout::new().interfaces("http://h"));
    OnePort::new(Server::builder(executor, card).build())
}

fn client(service: &OnePort, binding: Binding) -> Client<OnePort> {
    let url = match binding {
        Binding::Rest => "http://h/rest",
        _ => "http://h/",
    };
    Client::over(binding, service.clone(), url.parse().unwrap())
}

fn say(text: &str) -> SendMessageRequest {
    SendMessageRequest::new(Message::user("m-1", [Part::text(text)]))
}

#[tokio::test]
async fn a_breach_before_there_is_a_task_is_a_refusal() {
    for &binding in Binding::ALL {
        let service = service();
        let client = client(&service, binding);
        for text in BREACHES {
            let once = client.send_message(&say(text)).await.map(drop);
            let streaming = client.send_streaming_message(&say(text)).await.map(drop);
            for answer in [once, streaming] {
                let error = answer.expect_err(text);
                let refusal = error.as_refusal().expect(text);
                let kind = ErrorKind::InvalidAgentResponse;
                assert_eq!(refusal.kind(), kind, "{binding}: {text}");
                assert_eq!(refusal.message(), kind.message(), "nothing of the inside");
            }
        }
        let tasks = client.list_tasks(&ListTasksRequest::new()).await.unwrap();
        assert_eq!(tasks.total_size, 0, "{binding}");
    }
}

// Who does not wait is given a task at once, unless the answer is a message; so that one fails.
#[tokio::test]
async fn a_breach_after_there_is_a_task_fails_it() {
    for &binding in Binding::ALL {
        for text in &BREACHES[1..] {
            let client = client(&service(), binding);
            let wishes = SendMessageConfiguration::new().returning_immediately();
            let request = say(text).with_configuration(wishes);
            let answer = client.send_message(&request).await.unwrap();
            assert!(matches!(answer, SendMessageResponse::Task(_)), "{text}");
            let tasks = loop {
                let tasks = client.list_tasks(&ListTasksRequest::new()).await.unwrap();
                if tasks.tasks[0].status.state.is_terminal() {
                    break tasks.tasks;
                }
                tokio::task::yield_now().await;
            };
            assert_eq!(tasks[0].status.state, TaskState::Failed, "{text}");
        }
    }
}

/// The numbers of each wire (A2A-RPC-27).
#[tokio::test]
async fn a_refusal_has_the_form_of_its_binding() {
    let post = async |path: &str, body: Value| {
        let request = Request::post(path)
            .header("content-type", "application/json")
            .header("a2a-version", "1.0")
            .body(Full::<Bytes>::from(body.to_string()))
            .unwrap();
        let response = service().oneshot(request).await.unwrap();
        let status = response.status();
        assert_eq!(response.headers().get("retry-after"), None);
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice::<Value>(&body).unwrap())
    };
    let params = json!({"message":
        {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "nothing said"}]}});
    for (method, path) in [
        ("SendMessage", "/rest/message:send"),
        ("SendStreamingMessage", "/rest/message:stream"),
    ] {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let (status, reply) = post("/", call).await;
        let error = &reply["error"];
        assert_eq!((status.as_u16(), &error["code"]), (200, &json!(-32006)));
        assert_eq!(error["data"][0]["reason"], "INVALID_AGENT_RESPONSE");

        let (status, reply) = post(path, params.clone()).await;
        let error = &reply["error"];
        assert_eq!((status.as_u16(), &error["code"]), (500, &json!(500)));
        assert_eq!(error["status"], "INTERNAL");
        assert_eq!(error["details"][0]["reason"], "INVALID_AGENT_RESPONSE");

        let reply = grpc::say_to(service(), method, "nothing said").await;
        assert_eq!(reply.code(), 13);
        assert_eq!(reply.reason().as_deref(), Some("INVALID_AGENT_RESPONSE"));
    }
}
