//! HTTP+JSON: what the client sends, and what it makes of answers.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures_util::{StreamExt, future};
use http::{Request, Response};
use http_body_util::Full;
use portcullis_a2a::{
    client::{Binding, CallError, Client, NoInterface},
    model::{
        AgentCard, AgentInterface, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest,
        ErrorKind, GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest,
        GetTaskRequest, ListTaskPushNotificationConfigsRequest, ListTasksRequest, StreamResponse,
        SubscribeToTaskRequest, TaskPushNotificationConfig, TaskState,
    },
};
use serde_json::{Value, json};
use tower::Service;

use crate::support::{Fake, frames, message};

fn rest(fake: &Fake) -> Client<Fake> {
    let url = "http://agent.example/base/?key=1".parse().unwrap();
    Client::over(Binding::Rest, fake.clone(), url)
}

#[tokio::test]
async fn every_operation_has_its_address() {
    // O-R03, A2A-REST-1, A2A-REST-7
    let fake = Fake::json("{}");
    let client = rest(&fake).tenant("acme/x").extensions(["urn:a"]);
    let mut list = ListTasksRequest::new();
    list.context_id = "a&status=x".to_owned();
    list.page_token = "+/=".to_owned();
    list.status = TaskState::InputRequired;
    list.page_size = Some(2);
    list.history_length = Some(0);
    list.include_artifacts = Some(false);
    list.status_timestamp_after = Some("2026-01-15T10:00:00Z".parse().unwrap());
    // The answers do not matter here, and are wrong for some.
    drop(client.send_message(&message()).await);
    drop(client.send_streaming_message(&message()).await);
    drop(client.get_task(&GetTaskRequest::new("../admin")).await);
    drop(client.list_tasks(&list).await);
    drop(
        client
            .cancel_task(&CancelTaskRequest::new("a:cancel"))
            .await,
    );
    let subscribe = SubscribeToTaskRequest::new("..");
    drop(client.subscribe_to_task(&subscribe, Some("41")).await);
    let config = TaskPushNotificationConfig::new("t 1", "https://h.example/");
    drop(client.create_push_config(&config).await);
    drop(
        client
            .push_config(&GetTaskPushNotificationConfigRequest::new("t", "p/1"))
            .await,
    );
    drop(
        client
            .list_push_configs(&ListTaskPushNotificationConfigsRequest::new("t"))
            .await,
    );
    let delete = DeleteTaskPushNotificationConfigRequest::new("t", "p");
    drop(client.delete_push_config(&delete).await);
    drop(
        client
            .extended_card(&GetExtendedAgentCardRequest::new())
            .await,
    );

    let asked = fake.asked();
    let lines: Vec<_> = asked
        .iter()
        .map(|asked| {
            let path = asked
                .uri
                .strip_prefix("http://agent.example/base/acme%2Fx")
                .unwrap();
            format!(
                "{} {}",
                asked.verb,
                path.strip_suffix("?key=1").unwrap_or(path)
            )
        })
        .collect();
    assert_eq!(
        lines,
        [
            "POST /message:send",
            "POST /message:stream",
            "GET /tasks/..%2Fadmin",
            "GET /tasks?key=1&contextId=a%26status%3Dx&status=TASK_STATE_INPUT_REQUIRED&pageSize=2&pageToken=%2B%2F%3D&historyLength=0&statusTimestampAfter=2026-01-15T10%3A00%3A00.000Z&includeArtifacts=false",
            "POST /tasks/a%3Acancel:cancel",
            "POST /tasks/..:subscribe",
            "POST /tasks/t%201/pushNotificationConfigs",
            "GET /tasks/t/pushNotificationConfigs/p%2F1",
            "GET /tasks/t/pushNotificationConfigs",
            "DELETE /tasks/t/pushNotificationConfigs/p",
            "GET /extendedAgentCard",
        ]
    );
    for asked in &asked {
        assert_eq!(asked.headers["a2a-version"], "1.0");
        assert_eq!(asked.headers["a2a-extensions"], "urn:a");
        let accept = asked.headers["accept"].to_str().unwrap();
        assert!(
            accept.ends_with("application/a2a+json, application/json"),
            "{accept}"
        );
        let streams = asked.uri.contains("stream") || asked.uri.contains("subscribe");
        assert_eq!(accept.starts_with("text/event-stream"), streams);
        assert_eq!(
            asked.headers.contains_key("last-event-id"),
            asked.uri.contains("subscribe")
        );
        // A body says the tenant too, and nothing that the path says.
        let has_body = asked.body != Value::Null;
        assert_eq!(
            asked.headers.contains_key("content-type"),
            has_body,
            "{}",
            asked.uri
        );
        if has_body {
            assert_eq!(asked.headers["content-type"], "application/a2a+json");
            assert_eq!(asked.body["tenant"], "acme/x");
            assert!(asked.body.get("id").is_none() && asked.body.get("taskId").is_none());
        }
    }
    // O-R04: nothing is sent where nothing is due.
    assert_eq!(asked[5].body, Value::Null);
}

fn refusal(code: u16, reason: &str) -> String {
    json!({"error": {"code": code, "status": "X", "message": "no", "details": [
        {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "a2a-protocol.org", "metadata": {"taskId": "t"}},
        {"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [{"field": "id", "description": "bad"}]},
    ]}})
    .to_string()
}

#[tokio::test]
async fn a_refusal_is_told_by_its_reason_and_else_by_its_status() {
    // A2A-REST-25, O-S09; the statuses of 1.0.0 too.
    for (status, reason, kind) in [
        (404, "TASK_NOT_FOUND", ErrorKind::TaskNotFound),
        (409, "TASK_NOT_CANCELABLE", ErrorKind::TaskNotCancelable),
        (
            415,
            "CONTENT_TYPE_NOT_SUPPORTED",
            ErrorKind::ContentTypeNotSupported,
        ),
        (
            502,
            "INVALID_AGENT_RESPONSE",
            ErrorKind::InvalidAgentResponse,
        ),
        (400, "INVALID_PARAMS", ErrorKind::InvalidParams),
        (400, "ELSE", ErrorKind::InvalidParams),
        (401, "", ErrorKind::Unauthenticated),
        (403, "", ErrorKind::PermissionDenied),
        (404, "", ErrorKind::MethodNotFound),
        (413, "", ErrorKind::InvalidRequest),
        (429, "", ErrorKind::ResourceExhausted),
        (500, "", ErrorKind::Internal),
        (503, "", ErrorKind::Unavailable),
        (504, "", ErrorKind::Unavailable),
    ] {
        for type_ in ["application/a2a+json", "application/problem+json"] {
            let fake = Fake::new(status, type_, vec![refusal(status, reason).into()]);
            let once = rest(&fake).send_message(&message()).await.unwrap_err();
            let streaming = rest(&fake)
                .send_streaming_message(&message())
                .await
                .unwrap_err();
            for error in [once, streaming] {
                let refusal = error.as_refusal().unwrap_or_else(|| panic!("{error:?}"));
                assert_eq!(refusal.kind(), kind, "{status} {reason}");
                assert_eq!(refusal.violations()[0].field(), "id");
            }
        }
    }
    let fake = Fake::new(502, "text/html", vec!["<h1>proxy</h1>".into()]);
    let error = rest(&fake).send_message(&message()).await.unwrap_err();
    assert!(matches!(error, CallError::Status { status, .. } if status.as_u16() == 502));
    for body in ["[]", "17", "<html>", "\"x\""] {
        let error = rest(&Fake::json(body))
            .send_message(&message())
            .await
            .unwrap_err();
        assert!(matches!(error, CallError::Protocol(_)), "{body}: {error:?}");
    }
    // A2A-REST-19: whatever a server says to a delete.
    for body in ["", "{}", "null "] {
        let delete = DeleteTaskPushNotificationConfigRequest::new("t", "p");
        let fake = Fake::json(if body == "null " { "{\"x\":1}" } else { body });
        rest(&fake).delete_push_config(&delete).await.unwrap();
    }
}

const TASK: &str =
    r#"{"task":{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_WORKING"}}}"#;
const DONE: &str = r#"{"statusUpdate":{"taskId":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_COMPLETED"}}}"#;

#[tokio::test]
async fn events_are_bare() {
    // O-S08
    let fake = Fake::events(frames(&[TASK, DONE]));
    let items: Vec<_> = rest(&fake)
        .send_streaming_message(&message())
        .await
        .unwrap()
        .collect()
        .await;
    assert!(
        items.iter().all(Result::is_ok) && items.len() == 2,
        "{items:?}"
    );
    // Cut before the task is over, and an error that says why (A2A-REST-28), with a name or not.
    let cut = Fake::events(frames(&[TASK]));
    let items: Vec<_> = rest(&cut)
        .send_streaming_message(&message())
        .await
        .unwrap()
        .collect()
        .await;
    assert!(
        matches!(&items[..], [Ok(_), Err(CallError::Cut { .. })]),
        "{items:?}"
    );
    let error =
        r#"{"error":{"code":500,"status":"INTERNAL","message":"Internal error","details":[]}}"#;
    for name in ["", "event: error\n"] {
        let text = format!("{}{name}{}", frames(&[TASK]), frames(&[error]));
        let fake = Fake::events(text);
        let mut stream = rest(&fake)
            .send_streaming_message(&message())
            .await
            .unwrap();
        stream.next().await.unwrap().unwrap();
        let error = stream.next().await.unwrap().unwrap_err();
        assert_eq!(error.as_refusal().unwrap().kind(), ErrorKind::Internal);
        assert!(stream.next().await.is_none());
    }
    // A whole answer to a streaming call.
    let one = Fake::json(DONE);
    let items: Vec<_> = rest(&one)
        .send_streaming_message(&message())
        .await
        .unwrap()
        .collect()
        .await;
    assert!(
        matches!(&items[..], [Ok(event)] if matches!(event.response, StreamResponse::StatusUpdate(_)))
    );
}

/// A server of 1.0.0: plain JSON only, and `GET` to subscribe.
#[derive(Clone, Default)]
struct Old {
    asked: Arc<Mutex<Vec<String>>>,
}

impl Service<Request<Full<Bytes>>> for Old {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = future::Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let type_ = request
            .headers()
            .get("content-type")
            .map(|type_| type_.to_str().unwrap().to_owned());
        let path = request.uri().path().to_owned();
        self.asked
            .lock()
            .unwrap()
            .push(format!("{} {path}", request.method()));
        let (status, type_, body) = match (request.method().as_str(), type_.as_deref()) {
            ("POST", _) if path.ends_with("gone:subscribe") => {
                (404, "application/json", refusal(404, "TASK_NOT_FOUND"))
            }
            ("POST", _) if path.ends_with(":subscribe") => {
                (404, "text/plain", "no route".to_owned())
            }
            ("GET", _) if path.ends_with(":subscribe") => {
                (200, "text/event-stream", frames(&[TASK, DONE]))
            }
            (_, Some("application/a2a+json")) => (415, "text/plain", String::new()),
            _ => (200, "application/json", TASK.to_owned()),
        };
        let response = Response::builder()
            .status(status)
            .header("content-type", type_)
            .header("retry-after", "7");
        future::ready(Ok(response.body(Full::from(body)).unwrap()))
    }
}

#[tokio::test]
async fn an_old_server_is_asked_its_way() {
    // A2A-REST-3, A2A-REST-15: once more, and then remembered, by clones too.
    let old = Old::default();
    let client = Client::over(Binding::Rest, old.clone(), "http://h".parse().unwrap());
    for _ in 0..2 {
        client.clone().send_message(&message()).await.unwrap();
    }
    let gone = SubscribeToTaskRequest::new("gone");
    let error = client.subscribe_to_task(&gone, None).await.unwrap_err();
    let refusal = error.as_refusal().unwrap();
    assert_eq!(refusal.kind(), ErrorKind::TaskNotFound);
    assert_eq!(refusal.after(), Some(Duration::from_secs(7)), "Retry-After");
    for _ in 0..2 {
        let subscribe = SubscribeToTaskRequest::new("t-1");
        let stream = client.subscribe_to_task(&subscribe, None).await.unwrap();
        assert_eq!(stream.count().await, 2);
    }
    let expected = [
        "POST /message:send",
        "POST /message:send",
        "POST /message:send",
        "POST /tasks/gone:subscribe",
        "POST /tasks/t-1:subscribe",
        "GET /tasks/t-1:subscribe",
        "GET /tasks/t-1:subscribe",
    ];
    assert_eq!(*old.asked.lock().unwrap(), expected);
}

#[test]
fn the_card_says_which_binding() {
    let of = |interfaces: &[AgentInterface]| -> Result<Binding, NoInterface> {
        let card = AgentCard::of_interfaces("n", "d", interfaces.to_vec());
        Client::of_card(Fake::json(""), &card).map(|client| client.binding())
    };
    let [rest, rpc, grpc] = [
        AgentInterface::rest("http://h/rest"),
        AgentInterface::json_rpc("http://h/"),
        AgentInterface::new("h:1", "GRPC"),
    ];
    assert_eq!(
        of(&[grpc.clone(), rest.clone(), rpc.clone()]),
        Ok(Binding::Rest)
    );
    assert_eq!(of(&[rpc.clone(), rest.clone()]), Ok(Binding::JsonRpc));
    let mut old = rest.clone();
    old.protocol_version = "0.3".to_owned();
    assert_eq!(of(&[old.clone(), rpc]), Ok(Binding::JsonRpc));
    let told = of(&[grpc, old]).unwrap_err().to_string();
    assert_eq!(
        told,
        "the card offers no usable JSONRPC or HTTP+JSON 1.0, but GRPC 1.0, HTTP+JSON 0.3"
    );
}
