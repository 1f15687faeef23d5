use std::{fmt, sync::Arc};

use portcullis::{Peer, Principal, TraceContext};
use tokio::sync::{Mutex, mpsc};

use super::core::Core;
use crate::{
    log::{Owner, TaskKey, Unavailable},
    model::{
        Artifact, Message, Metadata, Part, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus,
        TaskStatusUpdateEvent,
    },
};

/// What an executor is asked, and by whom. Cloning is a reference count.
///
/// An agent finds it in the extensions of its scope.
#[derive(Clone)]
pub struct RequestContext(pub(super) Arc<Asked>);

pub(super) struct Asked {
    pub(super) core: Arc<Core>,
    pub(super) owner: Owner,
    pub(super) task_id: String,
    pub(super) context_id: String,
    pub(super) session: String,
    pub(super) message: Message,
    /// The task that is continued, as it was before.
    pub(super) task: Option<Arc<Task>>,
    pub(super) tenant: Option<String>,
    pub(super) principal: Option<Principal>,
    pub(super) trace: Option<TraceContext>,
    pub(super) peer: Option<Peer>,
    pub(super) extensions: Vec<String>,
    pub(super) metadata: Metadata,
    pub(super) accepted_output_modes: Vec<String>,
    pub(super) inbox: Option<Mutex<mpsc::Receiver<Message>>>,
}

impl RequestContext {
    /// How many tasks that a message refers to are read at most.
    pub const REFERENCES: usize = 32;

    /// The task. There is none yet if this is the first turn of it: the first emission
    /// that is not a message opens it.
    #[must_use]
    pub fn task_id(&self) -> &str {
        &self.0.task_id
    }

    /// The conversation, as the client knows it.
    #[must_use]
    pub fn context_id(&self) -> &str {
        &self.0.context_id
    }

    /// The conversation, as nobody else can name it: the key to keep state by.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.0.session
    }

    /// What the client says.
    #[must_use]
    pub fn message(&self) -> &Message {
        &self.0.message
    }

    /// The task that the message continues, as it was before.
    #[must_use]
    pub fn task(&self) -> Option<&Task> {
        self.0.task.as_deref()
    }

    /// The tasks that the message refers to, as they are now, in its order. Those that the
    /// caller may not read, or that are gone, are left out, and nobody learns which
    /// (A2A-OP-23). At most [`REFERENCES`](Self::REFERENCES) of them are read.
    ///
    /// # Errors
    /// When the log cannot be read.
    ///
    /// # Cancel safety
    /// Dropping it loses nothing.
    pub async fn reference_tasks(&self) -> Result<Vec<Task>, Unavailable> {
        let Asked {
            core,
            owner,
            message,
            ..
        } = &*self.0;
        let mut tasks = Vec::new();
        for id in message.reference_task_ids.iter().take(Self::REFERENCES) {
            let key = TaskKey::new(owner.clone(), id.as_str());
            if let Some(snapshot) = core.log.snapshot(&key).await? {
                tasks.push(snapshot.into_task());
            }
        }
        Ok(tasks)
    }

    /// On whose behalf the server runs.
    #[must_use]
    pub fn tenant(&self) -> Option<&str> {
        self.0.tenant.as_deref()
    }

    /// Who asks.
    #[must_use]
    pub fn principal(&self) -> Option<&Principal> {
        self.0.principal.as_ref()
    }

    /// Where the request stands in a distributed trace, for a call that the executor makes.
    #[must_use]
    pub fn trace(&self) -> Option<&TraceContext> {
        self.0.trace.as_ref()
    }

    /// Where the request comes from, as far as whoever serves it tells.
    #[must_use]
    pub fn peer(&self) -> Option<Peer> {
        self.0.peer
    }

    /// The extensions that are active.
    #[must_use]
    pub fn extensions(&self) -> &[String] {
        &self.0.extensions
    }

    /// Whether an extension is active.
    #[must_use]
    pub fn is_active(&self, uri: &str) -> bool {
        self.0.extensions.iter().any(|active| active == uri)
    }

    /// The metadata of the request.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.0.metadata
    }

    /// The media types that the caller can read; empty if any.
    #[must_use]
    pub fn accepted_output_modes(&self) -> &[String] {
        &self.0.accepted_output_modes
    }

    /// A new state of the task.
    #[must_use]
    pub fn status(&self, state: TaskState) -> TaskStatusUpdateEvent {
        let status = TaskStatus {
            state,
            message: None,
            timestamp: None,
        };
        TaskStatusUpdateEvent::new(self.task_id(), self.context_id(), status)
    }

    /// An artifact of the task.
    #[must_use]
    pub fn artifact(&self, artifact: Artifact) -> TaskArtifactUpdateEvent {
        TaskArtifactUpdateEvent::new(self.task_id(), self.context_id(), artifact)
    }

    /// An answer that needs no task.
    #[must_use]
    pub fn answer(&self, parts: impl IntoIterator<Item = Part>) -> Message {
        let mut message = Message::agent(parts);
        message.context_id = self.context_id().to_owned();
        message
    }

    /// Waits for the next message to the task while it works. `None` if this server
    /// [takes](super::ServerBuilder::takes_messages_while_working) none.
    pub async fn next_message(&self) -> Option<Message> {
        self.0.inbox.as_ref()?.lock().await.recv().await
    }
}

impl fmt::Debug for RequestContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestContext")
            .field("task_id", &self.task_id())
            .field("context_id", &self.context_id())
            .field("tenant", &self.tenant())
            .field("principal", &self.principal())
            .field("extensions", &self.extensions())
            .finish_non_exhaustive()
    }
}
