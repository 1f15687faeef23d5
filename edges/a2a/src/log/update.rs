use crate::model::{Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent};

/// What happens to a task.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Update {
    /// The task as it begins. The first update of a log, and no other.
    Opened(Box<Task>),
    /// A new status.
    Status(TaskStatusUpdateEvent),
    /// An artifact, or more of one.
    Artifact(Chunk),
    /// A message for the history. Watchers get no frame of it (A2A-OP-68).
    Message(Message),
}

impl From<Task> for Update {
    fn from(task: Task) -> Self {
        Self::Opened(Box::new(task))
    }
}

impl From<TaskStatusUpdateEvent> for Update {
    fn from(event: TaskStatusUpdateEvent) -> Self {
        Self::Status(event)
    }
}

impl From<TaskArtifactUpdateEvent> for Update {
    fn from(event: TaskArtifactUpdateEvent) -> Self {
        Self::Artifact(Chunk::new(event))
    }
}

impl From<Message> for Update {
    fn from(message: Message) -> Self {
        Self::Message(message)
    }
}

/// An artifact update, and whether its text joins what is there.
#[derive(Clone, Debug, PartialEq)]
pub struct Chunk {
    event: TaskArtifactUpdateEvent,
    merges: bool,
}

impl Chunk {
    /// An update whose parts stay as they are (A2A-OP-47): what an executor writes.
    #[must_use]
    pub const fn new(event: TaskArtifactUpdateEvent) -> Self {
        Self {
            event,
            merges: false,
        }
    }

    /// An update whose text joins the text before it, so that a long answer is an
    /// artifact of few parts. For the agent adapter only, which cut that text itself.
    #[must_use]
    pub const fn merging(event: TaskArtifactUpdateEvent) -> Self {
        Self {
            event,
            merges: true,
        }
    }

    /// The update.
    #[must_use]
    pub const fn event(&self) -> &TaskArtifactUpdateEvent {
        &self.event
    }

    /// Whether its text joins what is there.
    #[must_use]
    pub const fn merges(&self) -> bool {
        self.merges
    }

    /// The update.
    #[must_use]
    pub fn into_event(self) -> TaskArtifactUpdateEvent {
        self.event
    }
}
