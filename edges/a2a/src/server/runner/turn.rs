use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use crate::{
    log::{AppendError, Seq, TaskKey},
    model::{Error, Message, Task},
    server::{RequestContext, admission::Admission, executor::Emissions, operations::Inline},
};

/// A turn to be run.
pub(in crate::server) struct Turn {
    pub(in crate::server) key: TaskKey,
    pub(in crate::server) cx: RequestContext,
    pub(in crate::server) emissions: Emissions,
    /// The task that is continued, with the message in its history.
    pub(in crate::server) existing: Option<(Seq, Arc<Task>)>,
    /// What continues it, if the log does not have that yet.
    pub(in crate::server) resumption: Option<Box<Resumption>>,
    /// Whether the task opens although nothing was emitted yet.
    pub(in crate::server) opens: Opens,
    /// Who waits for the task to be there, or for a refusal.
    pub(in crate::server) opening: oneshot::Sender<Result<Opening, Error>>,
    /// Of a task that is yet to be opened.
    pub(in crate::server) admission: Option<Admission>,
    /// Where messages to the running task go.
    pub(in crate::server) inbox: Option<mpsc::Sender<Message>>,
}

/// A message that continues a task. The turn stores it before the executor hears of it, whether or
/// not its caller still waits (A2A-OP-34).
pub(in crate::server) struct Resumption {
    pub(in crate::server) message: Message,
    /// The webhook that came with it.
    pub(in crate::server) webhook: Option<Inline>,
}

/// When a task opens by itself (ruling 13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum Opens {
    /// At the first emission that is not a message.
    AtFirstEmission,
    /// When the first poll of the turn has brought nothing: an agent's.
    AfterFirstPoll,
    /// Whatever the first poll brings, unless it is a message: the caller does not wait.
    AtOnce,
}

/// What a turn began with.
#[derive(Debug)]
pub(in crate::server) enum Opening {
    /// A task, as it was at a place.
    Task(Seq, Arc<Task>),
    /// A message, which is the whole answer.
    Message(Message),
    /// The log did not take the message that was to continue the task. Nothing has happened.
    NotResumed(AppendError),
}
