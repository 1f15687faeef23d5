use portcullis::Failure;

use crate::{
    log::Chunk,
    model::{Artifact, Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent},
};

/// What an executor says happens.
///
/// Ids and times that are left empty are filled in by the server. What an emission says
/// against the protocol fails the task; where it is the first one, so that there is no task yet,
/// the caller is refused with `InvalidAgentResponse` instead (A2A-OP-44).
#[derive(Clone, Debug)]
pub struct Emission(pub(super) Kind);

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Status(TaskStatusUpdateEvent),
    Artifact(Chunk),
    /// The whole answer, if it comes first.
    Message(Message),
    Task(Box<Task>),
    Failed(Failure),
}

impl Emission {
    /// An artifact update whose text joins the text before it (ruling 15).
    pub(super) const fn merging(event: TaskArtifactUpdateEvent) -> Self {
        Self(Kind::Artifact(Chunk::merging(event)))
    }
}

impl From<TaskStatusUpdateEvent> for Emission {
    fn from(event: TaskStatusUpdateEvent) -> Self {
        Self(Kind::Status(event))
    }
}

impl From<TaskArtifactUpdateEvent> for Emission {
    fn from(event: TaskArtifactUpdateEvent) -> Self {
        Self(Kind::Artifact(Chunk::new(event)))
    }
}

/// The whole artifact.
impl From<Artifact> for Emission {
    fn from(artifact: Artifact) -> Self {
        TaskArtifactUpdateEvent::new("", "", artifact).into()
    }
}

/// The answer, where no task is needed. It has to come first, with a part at least, and nothing
/// follows it.
impl From<Message> for Emission {
    fn from(message: Message) -> Self {
        Self(Kind::Message(message))
    }
}

/// The task as the executor sees it: status, artifacts and metadata. Its history is the
/// server's.
impl From<Task> for Emission {
    fn from(task: Task) -> Self {
        Self(Kind::Task(Box::new(task)))
    }
}

/// The turn has failed.
impl From<Failure> for Emission {
    fn from(failure: Failure) -> Self {
        Self(Kind::Failed(failure))
    }
}

/// What an emission says, to look at.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum EmissionView<'a> {
    /// A new status.
    Status(&'a TaskStatusUpdateEvent),
    /// An artifact, or more of one.
    Artifact {
        /// The update.
        event: &'a TaskArtifactUpdateEvent,
        /// Whether its text joins the text before it.
        merges: bool,
    },
    /// The whole answer.
    Message(&'a Message),
    /// The task as the executor sees it.
    Task(&'a Task),
    /// The turn has failed.
    Failed(&'a Failure),
}

impl Emission {
    /// What it says.
    #[must_use]
    pub const fn view(&self) -> EmissionView<'_> {
        match &self.0 {
            Kind::Status(event) => EmissionView::Status(event),
            Kind::Artifact(chunk) => EmissionView::Artifact {
                event: chunk.event(),
                merges: chunk.merges(),
            },
            Kind::Message(message) => EmissionView::Message(message),
            Kind::Task(task) => EmissionView::Task(task),
            Kind::Failed(failure) => EmissionView::Failed(failure),
        }
    }
}
