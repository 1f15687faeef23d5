//! A server on the official Rust SDK, for our client to be tried against.
//!
//! usage: `official-server PORT`. JSON-RPC at the root, HTTP+JSON under `/rest`, on loopback. The
//! prefix of a message's id, or of its text, says what the agent does. Ends on SIGTERM.

use std::{sync::Arc, time::Duration};

use a2a::{
    A2AError, AgentCapabilities, AgentCard, Artifact, Message, Part, Role, StreamResponse, Task, TaskArtifactUpdateEvent,
    TaskState, TaskStatus, TaskStatusUpdateEvent,
};
use a2a_server::{
    AgentExecutor, DefaultRequestHandler, ExecutorContext, HttpPushSender, InMemoryPushConfigStore, InMemoryTaskStore,
    StaticAgentCard, agent_card::agent_card_router, jsonrpc::jsonrpc_router, rest::rest_router,
};
use futures::stream::BoxStream;
use serde_json::json;

type Events = BoxStream<'static, Result<StreamResponse, A2AError>>;

struct Agent;

/// The ids of a turn, from which its events are made.
struct Turn {
    task: String,
    context: String,
}

impl Turn {
    fn of(ctx: &ExecutorContext) -> Self {
        let (task, context) = ctx.task_info();
        Self { task, context }
    }

    fn said(&self, text: &str) -> Message {
        let mut message = Message::new(Role::Agent, vec![Part::text(text)]);
        message.task_id = Some(self.task.clone());
        message.context_id = Some(self.context.clone());
        message
    }

    fn status(&self, state: TaskState, message: Option<Message>) -> Result<StreamResponse, A2AError> {
        Ok(StreamResponse::StatusUpdate(TaskStatusUpdateEvent {
            task_id: self.task.clone(),
            context_id: self.context.clone(),
            status: TaskStatus { state, message, timestamp: None },
            metadata: None,
        }))
    }

    fn artifact(&self, part: Part, append: bool, last: bool) -> Result<StreamResponse, A2AError> {
        Ok(StreamResponse::ArtifactUpdate(TaskArtifactUpdateEvent {
            task_id: self.task.clone(),
            context_id: self.context.clone(),
            artifact: Artifact {
                artifact_id: "artifact".to_owned(),
                name: None,
                description: None,
                parts: vec![part],
                metadata: None,
                extensions: None,
            },
            append: Some(append),
            last_chunk: Some(last),
            metadata: None,
        }))
    }
}

/// What the message asks for: its id says so, or its text, since not every client chooses its ids.
fn asked(message: &Message) -> String {
    let id = &message.message_id;
    if id.starts_with("tck-") || id.starts_with("test-") {
        return id.clone();
    }
    message.text().unwrap_or_default().to_owned()
}

/// What the artifact of a prefix holds, the longest prefix first.
fn artifact_of(asked: &str) -> Option<Part> {
    let file = |mut part: Part| {
        part.filename = Some("output.txt".to_owned());
        part.with_media_type("text/plain")
    };
    let known = [
        ("tck-artifact-text", Part::text("Generated text content")),
        ("tck-artifact-file-url", file(Part::url("https://example.com/output.txt"))),
        ("tck-artifact-file", file(Part::raw(b"output".to_vec()))),
        ("tck-artifact-data", Part::data(json!({"key": "value", "count": 42}))),
        ("tck-stream-001", Part::text("Stream hello from TCK")),
        ("tck-stream-artifact-text", Part::text("Streamed text content")),
    ];
    known.into_iter().find(|(prefix, _)| asked.starts_with(prefix)).map(|(_, part)| part)
}

impl AgentExecutor for Agent {
    fn execute(&self, ctx: ExecutorContext) -> Events {
        Box::pin(async_stream::stream! {
            let turn = Turn::of(&ctx);
            let asked = ctx.message.as_ref().map(asked).unwrap_or_default();
            if asked.starts_with("tck-message-response") {
                yield Ok(StreamResponse::Message(Message::new(Role::Agent, vec![Part::text("Direct message response")])));
                return;
            }
            if ctx.stored_task.is_none() {
                yield Ok(StreamResponse::Task(Task {
                    id: turn.task.clone(),
                    context_id: turn.context.clone(),
                    status: TaskStatus { state: TaskState::Submitted, message: None, timestamp: None },
                    artifacts: None,
                    history: ctx.message.map(|message| vec![message]),
                    metadata: None,
                }));
            }
            if asked.starts_with("tck-input-required") {
                yield turn.status(TaskState::InputRequired, Some(turn.said("What else?")));
            } else if asked.starts_with("tck-reject-task") {
                yield turn.status(TaskState::Rejected, Some(turn.said("rejected")));
            } else if asked.starts_with("tck-task-failure") {
                yield turn.status(TaskState::Failed, Some(turn.said("it went wrong")));
            } else if asked.starts_with("tck-cancel") || asked.starts_with("test-resubscribe-message-id") {
                yield turn.status(TaskState::Working, None);
                let seconds = if asked.starts_with("tck-cancel") { 30 } else { 4 };
                tokio::time::sleep(Duration::from_secs(seconds)).await;
                yield turn.status(TaskState::Completed, None);
            } else if asked.starts_with("tck-stream-artifact-chunked") {
                yield turn.status(TaskState::Working, None);
                yield turn.artifact(Part::text("chunk-1 "), false, false);
                yield turn.artifact(Part::text("chunk-2"), true, true);
                yield turn.status(TaskState::Completed, None);
            } else if let Some(part) = artifact_of(&asked) {
                yield turn.status(TaskState::Working, None);
                yield turn.artifact(part, false, true);
                yield turn.status(TaskState::Completed, None);
            } else {
                yield turn.status(TaskState::Completed, Some(turn.said("Hello from TCK")));
            }
        })
    }

    fn cancel(&self, ctx: ExecutorContext) -> Events {
        let turn = Turn::of(&ctx);
        Box::pin(futures::stream::once(async move { turn.status(TaskState::Canceled, None) }))
    }
}

fn card(port: &str) -> AgentCard {
    let base = format!("http://127.0.0.1:{port}");
    serde_json::from_value(json!({
        "name": "official Rust SDK",
        "description": "What the official SDK makes of an agent.",
        "version": "1.0.0",
        "capabilities": {"streaming": true, "pushNotifications": true, "extendedAgentCard": true},
        "defaultInputModes": ["text/plain", "application/json"],
        "defaultOutputModes": ["text/plain", "application/json"],
        "skills": [{"id": "echo", "name": "echo", "description": "Does what the id says.", "tags": ["test"]}],
        "supportedInterfaces": [
            {"url": base, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
            {"url": format!("{base}/rest"), "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"},
        ],
    }))
    .expect("a card")
}

#[tokio::main]
async fn main() {
    let port = std::env::args().nth(1).expect("usage: official-server PORT");
    let card = card(&port);
    let capabilities = AgentCapabilities {
        streaming: Some(true),
        push_notifications: Some(true),
        extensions: None,
        extended_agent_card: Some(true),
    };
    let handler = DefaultRequestHandler::new(Agent, InMemoryTaskStore::new())
        .with_push_notifications(InMemoryPushConfigStore::new(), HttpPushSender::new(None))
        .with_extended_agent_card(card.clone())
        .with_capabilities(capabilities);
    let handler = Arc::new(handler);
    let app = jsonrpc_router(handler.clone())
        .nest("/rest", rest_router(handler))
        .merge(agent_card_router(Arc::new(StaticAgentCard::new(card))));
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{port}")).await.expect("a free port");
    axum::serve(listener, app).await.expect("serves");
}
