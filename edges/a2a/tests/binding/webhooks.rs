//! Webhooks over every binding: registered, read, listed, removed, and posted to.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Empty, Full};
use portcullis_a2a::{
    binding::{Layout, OnePort},
    client::{Binding, Client},
    model::{
        AgentCard, AgentInterface, AuthenticationInfo, DeleteTaskPushNotificationConfigRequest,
        ErrorKind, GetTaskPushNotificationConfigRequest, ListTaskPushNotificationConfigsRequest,
        Message, Part, SendMessageConfiguration, SendMessageRequest, SendMessageResponse,
        TaskPushNotificationConfig, TaskState,
    },
    server::{
        Server, executor_fn,
        push::{HttpDelivery, Push},
    },
};
use serde_json::{Value, json};
use tower::{ServiceExt, service_fn};

type Posted = Arc<Mutex<Vec<Value>>>;

/// A service that answers alike on every binding, and what it posts.
fn service() -> (OnePort, Posted) {
    let posted = Posted::default();
    let receiver = {
        let posted = Arc::clone(&posted);
        service_fn(move |request: Request<Full<Bytes>>| {
            let posted = Arc::clone(&posted);
            async move {
                let body = request.into_body().collect().await?.to_bytes();
                let body = serde_json::from_slice(&body).expect("JSON");
                posted.lock().expect("not poisoned").push(body);
                Ok::<_, Infallible>(Response::new(Empty::<Bytes>::new()))
            }
        })
    };
    let executor = executor_fn(async |ctx, out| {
        out.emit(ctx.status(TaskState::Working)).await;
        out.emit(ctx.status(TaskState::Completed)).await;
    });
    let card = AgentCard::new("a", "a", AgentInterface::json_rpc("http://in.process/"));
    let push = Push::new(HttpDelivery::new(receiver));
    let server = Server::builder(executor, card).push(push).build();
    (OnePort::with_layout(server, &Layout::new()), posted)
}

fn url(binding: Binding) -> http::Uri {
    let url = match binding {
        Binding::Rest => "http://in.process/rest",
        _ => "http://in.process/",
    };
    url.parse().expect("an address")
}

fn webhook(task: &str) -> TaskPushNotificationConfig {
    let mut config = TaskPushNotificationConfig::new(task, "https://hooks.example.net/a2a");
    config.token = "tok-2".to_owned();
    config.authentication = Some(AuthenticationInfo::new("Bearer", "s3cret"));
    config
}

/// A2A-PUSH-1, A2A-OP-94, A2A-OP-95, A2A-OP-100, A2A-OP-101, EX-15 and EX-23, O-P09, O-P12,
/// A2A-OP-99, over the real client.
#[tokio::test]
async fn webhooks_over_every_binding() {
    for &binding in Binding::ALL {
        let (service, posted) = service();
        let client = Client::over(binding, service, url(binding));
        let mut send = SendMessageRequest::new(Message::user("m-1", [Part::text("go")]));
        let mut wishes = SendMessageConfiguration::new();
        wishes.task_push_notification_config = Some(webhook(""));
        send.configuration = Some(wishes);
        let SendMessageResponse::Task(task) = client.send_message(&send).await.expect("a task")
        else {
            panic!("{binding}: no task");
        };
        for _ in 0..1_000 {
            if posted.lock().expect("not poisoned").len() == 2 {
                break;
            }
            tokio::task::yield_now().await;
        }
        let states: Vec<Value> = posted
            .lock()
            .expect("not poisoned")
            .iter()
            .map(|update| update["statusUpdate"]["status"]["state"].clone())
            .collect();
        assert_eq!(
            states,
            [json!("TASK_STATE_WORKING"), json!("TASK_STATE_COMPLETED")],
            "{binding}: a webhook has one form, whatever the binding (A2A-PUSH-2)"
        );

        let created = client.create_push_config(&webhook(&task.id)).await;
        let created = created.unwrap_or_else(|error| panic!("{binding}: {error}"));
        assert_eq!(created.task_id, task.id, "{binding}");
        assert_eq!(created.token, "tok-2", "{binding}");
        let name = GetTaskPushNotificationConfigRequest::new(&*task.id, &*created.id);
        let read = client.push_config(&name).await.expect("it is there");
        assert_eq!(read, created.clone().redacted(), "{binding}");
        let list = ListTaskPushNotificationConfigsRequest::new(&*task.id);
        let listed = client.list_push_configs(&list).await.expect("a list");
        assert_eq!(listed.configs.len(), 2, "{binding}");
        assert!(listed.configs.contains(&read), "{binding}");
        let remove = DeleteTaskPushNotificationConfigRequest::new(&*task.id, &*created.id);
        for _ in 0..2 {
            let removed = client.delete_push_config(&remove).await;
            removed.unwrap_or_else(|error| panic!("{binding}: {error}"));
        }
        let gone = client.push_config(&name).await.expect_err("it is gone");
        assert_eq!(
            gone.as_refusal().map(|error| error.kind()),
            Some(ErrorKind::TaskNotFound),
            "{binding}: {gone}"
        );
    }
}

/// O-P12: the path names the task; a body that names another one is refused.
#[tokio::test]
async fn over_http_json_the_path_names_the_task() {
    let (service, _posted) = service();
    let client = Client::over(Binding::Rest, service.clone(), url(Binding::Rest));
    let send = SendMessageRequest::new(Message::user("m-1", [Part::text("go")]));
    let SendMessageResponse::Task(task) = client.send_message(&send).await.expect("a task") else {
        panic!("no task");
    };
    for (body, status) in [
        (json!({"url": "https://hooks.example.net/a"}), 200),
        (
            json!({"taskId": task.id, "url": "https://hooks.example.net/a"}),
            200,
        ),
        (
            json!({"taskId": "other", "url": "https://hooks.example.net/a"}),
            400,
        ),
        (json!({"taskId": task.id}), 400),
    ] {
        let request = Request::post(format!("/rest/tasks/{}/pushNotificationConfigs", task.id))
            .header("content-type", "application/a2a+json")
            .header("a2a-version", "1.0")
            .body(Full::<Bytes>::from(body.to_string()))
            .expect("a request");
        let response = service.clone().oneshot(request).await.expect("it answers");
        assert_eq!(response.status(), status, "{body}");
    }
}
