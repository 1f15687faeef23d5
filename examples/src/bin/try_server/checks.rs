//! What any server of the protocol has to do for a client.

use std::{future::Future, pin::Pin};

use futures_util::StreamExt as _;
use portcullis_a2a::model::{
    CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, ErrorKind,
    GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest,
    ListTaskPushNotificationConfigsRequest, ListTasksRequest, Part, PartContent,
    SendMessageRequest, SendMessageResponse, StreamResponse, SubscribeToTaskRequest,
    TaskPushNotificationConfig, TaskState,
};

use super::peer::{Peer, Why, ask, ask_at_once, message, refused, same, state_of, why};

pub(crate) type Outcome = Pin<Box<dyn Future<Output = Result<(), Why>>>>;

macro_rules! checks {
    ($($name:ident),* $(,)?) => {
        &[$((stringify!($name), |peer| Box::pin($name(peer)))),*]
    };
}
pub(crate) use checks;

pub(crate) type Check = (&'static str, fn(Peer) -> Outcome);

pub(crate) const ALL: &[Check] = checks![
    send,
    send_and_return,
    message_response,
    failed,
    rejected,
    input_required,
    artifacts,
    image_and_data_arrive,
    get,
    unknown_task,
    list,
    stream,
    stream_chunks,
    stream_message,
    cancel,
    cancel_finished,
    subscribe_after_leaving,
    subscribe_finished,
    webhooks,
    extended_card,
];

async fn send(peer: Peer) -> Result<(), Why> {
    let task = peer.task(&ask("tck-complete-task")).await?;
    same(task.status.state, TaskState::Completed)?;
    let said = task.status.message.map(|message| message.text());
    same(said.as_deref(), Some("Hello from TCK"))
}

async fn send_and_return(peer: Peer) -> Result<(), Why> {
    let task = peer.task(&ask_at_once("tck-cancel")).await?;
    if task.status.state.is_terminal() {
        return Err(format!("{:?} at once", task.status.state));
    }
    // Leaves nothing behind that runs on.
    let request = CancelTaskRequest::new(task.id);
    let cancelled = peer.client.cancel_task(&request).await;
    cancelled.map(drop).map_err(why)
}

async fn message_response(peer: Peer) -> Result<(), Why> {
    match peer.client.send_message(&ask("tck-message-response")).await {
        Ok(SendMessageResponse::Message(message)) => {
            same(message.text().as_str(), "Direct message response")
        }
        Ok(other) => Err(format!("a message was expected, not {other:?}")),
        Err(error) => Err(why(error)),
    }
}

async fn failed(peer: Peer) -> Result<(), Why> {
    let task = peer.task(&ask("tck-task-failure")).await?;
    same(task.status.state, TaskState::Failed)
}

async fn rejected(peer: Peer) -> Result<(), Why> {
    let task = peer.task(&ask("tck-reject-task")).await?;
    same(task.status.state, TaskState::Rejected)
}

async fn input_required(peer: Peer) -> Result<(), Why> {
    let task = peer.task(&ask("tck-input-required")).await?;
    same(task.status.state, TaskState::InputRequired)?;
    let mut answer = ask("tck-complete-task");
    answer.message.task_id.clone_from(&task.id);
    answer.message.context_id.clone_from(&task.context_id);
    let later = peer.task(&answer).await?;
    same(later.id, task.id)?;
    same(later.status.state, TaskState::Completed)
}

async fn artifacts(peer: Peer) -> Result<(), Why> {
    for prefix in [
        "tck-artifact-text",
        "tck-artifact-file",
        "tck-artifact-file-url",
        "tck-artifact-data",
    ] {
        let task = peer.task(&ask(prefix)).await?;
        let [artifact] = &task.artifacts[..] else {
            return Err(format!("{prefix}: artifacts are {:?}", task.artifacts));
        };
        let [part] = &artifact.parts[..] else {
            return Err(format!("{prefix}: parts are {:?}", artifact.parts));
        };
        let right = match (prefix, &part.content) {
            ("tck-artifact-text", PartContent::Text(text)) => text == "Generated text content",
            ("tck-artifact-file", PartContent::Raw(_)) => part.filename == "output.txt",
            ("tck-artifact-file-url", PartContent::Url(url)) => {
                url == "https://example.com/output.txt"
            }
            ("tck-artifact-data", PartContent::Data(data)) => {
                let data: serde_json::Value = data.decode().map_err(|error| error.to_string())?;
                data["key"] == "value" && data["count"].as_f64() == Some(42.0)
            }
            _ => false,
        };
        if !right {
            return Err(format!("{prefix}: {part:?}"));
        }
    }
    Ok(())
}

/// What is no text reaches the history of the task as it was sent.
async fn image_and_data_arrive(peer: Peer) -> Result<(), Why> {
    let sent = message("tck-complete-task", Part::text("see this"));
    let mut request = SendMessageRequest::new(sent);
    let file = Part::raw([0, 159, 146, 150]).with_media_type("text/plain");
    request.message.parts.push(file.with_filename("bytes.txt"));
    let task = peer.task(&request).await?;
    let task = peer.get(&task.id).await?;
    let kept = task.history.first().ok_or("no history")?;
    match &kept.parts[..] {
        [_, file] => match &file.content {
            PartContent::Raw(bytes) => same(&bytes[..], &[0, 159, 146, 150]),
            other => Err(format!("raw bytes were expected, not {other:?}")),
        },
        other => Err(format!("two parts were expected, not {other:?}")),
    }
}

async fn get(peer: Peer) -> Result<(), Why> {
    let task = peer.task(&ask("tck-complete-task")).await?;
    let mut request = GetTaskRequest::new(&task.id);
    request.history_length = Some(0);
    let read = peer.client.get_task(&request).await.map_err(why)?;
    same(read.id, task.id)?;
    same(read.status.state, TaskState::Completed)?;
    same(read.history.len(), 0)
}

async fn unknown_task(peer: Peer) -> Result<(), Why> {
    let request = GetTaskRequest::new("there-is-none");
    refused(
        peer.client.get_task(&request).await,
        ErrorKind::TaskNotFound,
    )
}

async fn list(peer: Peer) -> Result<(), Why> {
    let first = peer.task(&ask("tck-input-required")).await?;
    let mut request = ListTasksRequest::new();
    request.context_id.clone_from(&first.context_id);
    let page = peer.client.list_tasks(&request).await.map_err(why)?;
    same(page.tasks.len(), 1)?;
    same(&page.tasks[0].id, &first.id)
}

async fn stream(peer: Peer) -> Result<(), Why> {
    let events = peer.stream(&ask("tck-stream-001")).await?;
    let states: Vec<_> = events
        .iter()
        .filter_map(|event| state_of(&event.response))
        .collect();
    same(states.last().copied(), Some(TaskState::Completed))?;
    if !matches!(events[0].response, StreamResponse::Task(_)) {
        return Err(format!("the first frame is {:?}", events[0].response));
    }
    let text: String = texts(&events.iter().map(|e| &e.response).collect::<Vec<_>>());
    same(text.as_str(), "Stream hello from TCK")
}

async fn stream_chunks(peer: Peer) -> Result<(), Why> {
    let events = peer.stream(&ask("tck-stream-artifact-chunked")).await?;
    let frames: Vec<_> = events.iter().map(|event| &event.response).collect();
    same(texts(&frames).as_str(), "chunk-1 chunk-2")?;
    let appends: Vec<bool> = frames
        .iter()
        .filter_map(|frame| match frame {
            StreamResponse::ArtifactUpdate(update) => Some(update.append),
            _ => None,
        })
        .collect();
    same(appends, vec![false, true])
}

async fn stream_message(peer: Peer) -> Result<(), Why> {
    let events = peer.stream(&ask("tck-message-response")).await?;
    match &events[..] {
        [only] if matches!(only.response, StreamResponse::Message(_)) => Ok(()),
        other => Err(format!("one message was expected, not {other:?}")),
    }
}

async fn cancel(peer: Peer) -> Result<(), Why> {
    let task = peer.task(&ask_at_once("tck-cancel")).await?;
    let request = CancelTaskRequest::new(&task.id);
    let cancelled = peer.client.cancel_task(&request).await.map_err(why)?;
    same(cancelled.status.state, TaskState::Canceled)?;
    same(peer.get(&task.id).await?.status.state, TaskState::Canceled)
}

async fn cancel_finished(peer: Peer) -> Result<(), Why> {
    let task = peer.task(&ask("tck-complete-task")).await?;
    let request = CancelTaskRequest::new(&task.id);
    let answer = peer.client.cancel_task(&request).await;
    refused(answer, ErrorKind::TaskNotCancelable)
}

async fn subscribe_after_leaving(peer: Peer) -> Result<(), Why> {
    let id = peer.leave_working("test-resubscribe-message-id").await?;
    let request = SubscribeToTaskRequest::new(&id);
    let mut stream = peer
        .client
        .subscribe_to_task(&request, None)
        .await
        .map_err(why)?;
    let mut last = None;
    while let Some(event) = stream.next().await {
        last = state_of(&event.map_err(why)?.response).or(last);
    }
    same(last, Some(TaskState::Completed))
}

async fn subscribe_finished(peer: Peer) -> Result<(), Why> {
    let task = peer.task(&ask("tck-complete-task")).await?;
    let request = SubscribeToTaskRequest::new(&task.id);
    let answer = match peer.client.subscribe_to_task(&request, None).await {
        // In gRPC a refusal may come with the first frame.
        Ok(mut stream) => match stream.next().await {
            Some(first) => first,
            None => return Err("an empty stream".to_owned()),
        },
        Err(error) => Err(error),
    };
    refused(answer, ErrorKind::UnsupportedOperation)
}

async fn webhooks(peer: Peer) -> Result<(), Why> {
    let task = peer.task(&ask("tck-input-required")).await?;
    let mut config = TaskPushNotificationConfig::new(&task.id, "https://example.com/webhook");
    config.id = "hook".to_owned();
    let client = &peer.client;
    let made = client.create_push_config(&config).await.map_err(why)?;
    same(made.url.as_str(), "https://example.com/webhook")?;
    let one = GetTaskPushNotificationConfigRequest::new(&task.id, &made.id);
    let read = client.push_config(&one).await.map_err(why)?;
    same(&read.id, &made.id)?;
    let all = ListTaskPushNotificationConfigsRequest::new(&task.id);
    let page = client.list_push_configs(&all).await.map_err(why)?;
    same(page.configs.len(), 1)?;
    let gone = DeleteTaskPushNotificationConfigRequest::new(&task.id, &made.id);
    client.delete_push_config(&gone).await.map_err(why)?;
    let page = client.list_push_configs(&all).await.map_err(why)?;
    same(page.configs.len(), 0)
}

async fn extended_card(peer: Peer) -> Result<(), Why> {
    let request = GetExtendedAgentCardRequest::new();
    let card = peer.client.extended_card(&request).await.map_err(why)?;
    same(card.skills.len(), 1)
}

/// The text of all pieces of artifacts, in order.
fn texts(frames: &[&StreamResponse]) -> String {
    let mut text = String::new();
    for frame in frames {
        if let StreamResponse::ArtifactUpdate(update) = frame {
            for part in &update.artifact.parts {
                text.push_str(part.as_text().unwrap_or_default());
            }
        }
    }
    text
}
