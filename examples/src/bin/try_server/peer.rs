use bytes::Bytes;
use futures_util::StreamExt as _;
use http_body_util::Full;
use hyper_util::client::legacy::connect::HttpConnector;
use portcullis_a2a::{
    client::{Binding, CallError, Client, Event},
    model::{
        AgentCard, ErrorKind, GetTaskRequest, Message, Part, SendMessageConfiguration,
        SendMessageRequest, SendMessageResponse, StreamResponse, Task, TaskState,
    },
};
use portcullis_net::{HttpClient, HttpClientBuilder};

pub(crate) type Http = HttpClient<HttpConnector, Full<Bytes>>;

/// Why a check failed.
pub(crate) type Why = String;

/// One interface of the server, and what checks ask of it.
#[derive(Clone)]
pub(crate) struct Peer {
    pub(crate) client: Client<Http>,
}

impl Peer {
    pub(crate) fn of(card: &AgentCard, binding: Binding) -> Option<Self> {
        let http = HttpClientBuilder::new();
        let http = match binding {
            Binding::Grpc => http.http2_only(),
            _ => http,
        }
        .build();
        let client = Client::of_card_over(&[binding], http, card).ok()?;
        Some(Self { client })
    }

    /// Sends, waits and expects a task.
    pub(crate) async fn task(&self, request: &SendMessageRequest) -> Result<Task, Why> {
        match self.client.send_message(request).await.map_err(why)? {
            SendMessageResponse::Task(task) => Ok(task),
            other => Err(format!("a task was expected, not {other:?}")),
        }
    }

    pub(crate) async fn get(&self, id: &str) -> Result<Task, Why> {
        self.client
            .get_task(&GetTaskRequest::new(id))
            .await
            .map_err(why)
    }

    /// Sends and reads the stream to its end.
    pub(crate) async fn stream(&self, request: &SendMessageRequest) -> Result<Vec<Event>, Why> {
        let mut stream = self
            .client
            .send_streaming_message(request)
            .await
            .map_err(why)?;
        let mut events = Vec::new();
        while let Some(event) = stream.next().await {
            events.push(event.map_err(why)?);
        }
        Ok(events)
    }

    /// Starts a stream, reads as far as the task works, and leaves. Answers with its id.
    pub(crate) async fn leave_working(&self, prefix: &str) -> Result<String, Why> {
        let mut stream = self
            .client
            .send_streaming_message(&ask(prefix))
            .await
            .map_err(why)?;
        while let Some(event) = stream.next().await {
            let event = event.map_err(why)?;
            if state_of(&event.response) == Some(TaskState::Working) {
                let id = stream.task_id().ok_or("the stream told no task")?;
                return Ok(id.to_owned());
            }
        }
        Err("the stream ended and the task never worked".to_owned())
    }
}

/// A message whose id says what is to be done.
pub(crate) fn message(prefix: &str, part: Part) -> Message {
    let unique = std::time::SystemTime::UNIX_EPOCH
        .elapsed()
        .map_or(0, |since| since.as_nanos());
    Message::user(format!("{prefix}-{unique}"), [part])
}

pub(crate) fn ask(prefix: &str) -> SendMessageRequest {
    SendMessageRequest::new(message(prefix, Part::text("hello")))
}

pub(crate) fn ask_at_once(prefix: &str) -> SendMessageRequest {
    ask(prefix).with_configuration(SendMessageConfiguration::new().returning_immediately())
}

/// The state that a frame tells.
pub(crate) fn state_of(response: &StreamResponse) -> Option<TaskState> {
    match response {
        StreamResponse::Task(task) => Some(task.status.state),
        StreamResponse::StatusUpdate(update) => Some(update.status.state),
        _ => None,
    }
}

/// Demands this refusal.
pub(crate) fn refused<T: std::fmt::Debug>(
    result: Result<T, CallError>,
    kind: ErrorKind,
) -> Result<(), Why> {
    match result {
        Err(CallError::Refused(error)) if error.kind() == kind => Ok(()),
        Err(other) => Err(format!("{kind:?} was expected, not {}", why(other))),
        Ok(answer) => Err(format!("{kind:?} was expected, not {answer:?}")),
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "reads better where it is called"
)]
pub(crate) fn same<T: PartialEq + std::fmt::Debug>(got: T, expected: T) -> Result<(), Why> {
    if got == expected {
        Ok(())
    } else {
        Err(format!("{expected:?} was expected, not {got:?}"))
    }
}

/// An error and what is behind it.
#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
pub(crate) fn why(error: CallError) -> Why {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
