//! Having another agent follow an instruction.

use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use http_body_util::Full;
use hyper_util::client::legacy::connect::HttpConnector;
use portcullis_a2a::{
    client::{Binding, Client, fetch_card},
    model::{
        CancelTaskRequest, Message, SendMessageConfiguration, SendMessageRequest,
        SendMessageResponse, StreamResponse, SubscribeToTaskRequest, TaskPushNotificationConfig,
    },
};
use portcullis_net::{HttpClient, HttpClientBuilder};
use tokio::time::timeout;
use uuid::Uuid;

use crate::{
    BoxError,
    execute::FINISHED,
    instruction::{Behavior, CallAgent},
};

type Http = HttpClient<HttpConnector, Full<Bytes>>;

/// Longer than a task is held, at every agent of a circuit.
const PATIENCE: Duration = Duration::from_secs(60);

/// Calls an agent as the step says, and answers with the texts that it said.
pub(crate) async fn call(step: &CallAgent) -> Result<Vec<String>, BoxError> {
    let answer = timeout(PATIENCE, ask(step)).await;
    let why = match answer {
        Ok(Ok(texts)) => return Ok(texts),
        Ok(Err(error)) => error,
        Err(_) => "it does not answer".into(),
    };
    Err(format!("the call to {} failed: {why}", step.agent_card_uri).into())
}

async fn ask(step: &CallAgent) -> Result<Vec<String>, BoxError> {
    let client = connect(step).await?;
    let instruction = step.instruction.as_ref().ok_or("nothing to tell it")?;
    let message = Message::user(Uuid::now_v7().to_string(), [instruction.to_part()]);
    let mut request = SendMessageRequest::new(message);
    match &step.behavior {
        Some(Behavior::Resubscribe(_)) => return leave_and_return(&client, &request).await,
        Some(Behavior::PushNotification(webhook)) => {
            let url = match webhook.url.split_once("://") {
                Some(_) => format!("{}/notifications", webhook.url),
                None => format!("http://{}/notifications", webhook.url),
            };
            let mut config = TaskPushNotificationConfig::new("", url);
            config.token = "itk-token".to_owned();
            let mut wishes = SendMessageConfiguration::new();
            wishes.task_push_notification_config = Some(config);
            request = request.with_configuration(wishes);
        }
        Some(Behavior::SendMessage(_)) | None => {}
    }
    let mut texts = Vec::new();
    if step.streaming {
        let mut events = client.send_streaming_message(&request).await?;
        while let Some(event) = events.next().await {
            texts.extend(texts_of(&event?.response));
        }
    } else {
        let response = match client.send_message(&request).await? {
            SendMessageResponse::Task(task) => StreamResponse::Task(task),
            SendMessageResponse::Message(message) => StreamResponse::Message(message),
            other => return Err(format!("an answer that nobody knows: {other:?}").into()),
        };
        texts.extend(texts_of(&response));
    }
    Ok(texts)
}

async fn connect(step: &CallAgent) -> Result<Client<Http>, BoxError> {
    let binding = match step.transport.to_ascii_uppercase().as_str() {
        "" | "JSONRPC" => Binding::JsonRpc,
        "HTTP_JSON" | "HTTP+JSON" | "REST" => Binding::Rest,
        "GRPC" => Binding::Grpc,
        other => return Err(format!("no transport {other}").into()),
    };
    let card = fetch_card(&Http::new(), &step.agent_card_uri).await?;
    let http = HttpClientBuilder::new();
    let http = match binding {
        // Without TLS nothing says beforehand that it is HTTP/2.
        Binding::Grpc => http.http2_only(),
        _ => http,
    };
    Ok(Client::of_card_over(&[binding], http.build(), &card)?)
}

/// Starts a stream, leaves it with its first event, and comes back for the rest.
async fn leave_and_return(
    client: &Client<Http>,
    request: &SendMessageRequest,
) -> Result<Vec<String>, BoxError> {
    let mut events = client.send_streaming_message(request).await?;
    events.next().await.ok_or("an empty stream")??;
    let task = events
        .task_id()
        .ok_or("the stream tells no task")?
        .to_owned();
    drop(events);

    let again = SubscribeToTaskRequest::new(&task);
    let mut events = client.subscribe_to_task(&again, None).await?;
    let mut texts = Vec::new();
    while let Some(event) = events.next().await {
        let said = texts_of(&event?.response);
        let finished = said.iter().any(|text| text.contains(FINISHED));
        texts.extend(said.iter().map(|text| text.replace(FINISHED, "")));
        if finished {
            return Ok(texts);
        }
    }
    // It was not held as asked: nothing is left that runs.
    client.cancel_task(&CancelTaskRequest::new(&task)).await?;
    Ok(texts)
}

/// What the agent says in one frame. What it has said before is in the history of a task.
fn texts_of(response: &StreamResponse) -> Vec<String> {
    let messages: Vec<&Message> = match response {
        StreamResponse::Message(message) => vec![message],
        StreamResponse::StatusUpdate(update) => update.status.message.iter().collect(),
        StreamResponse::Task(task) => match &task.status.message {
            Some(message) => vec![message],
            None => {
                let said = |message: &&Message| message.role == portcullis_a2a::model::Role::Agent;
                task.history.iter().filter(said).collect()
            }
        },
        _ => Vec::new(),
    };
    let parts = messages.iter().flat_map(|message| &message.parts);
    parts
        .filter_map(|part| part.as_text())
        .map(str::to_owned)
        .collect()
}
