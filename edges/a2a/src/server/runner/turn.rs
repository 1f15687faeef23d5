use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use crate::{
    log::{Seq, TaskKey},
    model::{Error, Message, Task},
    server::{RequestContext, admission::Admission, executor::Emissions},
};

/// A turn to be run.
pub(in crate::server) struct Turn {
    pub(in crate::server) key: TaskKey,
    pub(in crate::server) cx: RequestContext,
    pub(in crate::server) emissions: Emissions,
    /// The task that is continued, with the message in its history.
    pub(in crate::server) existing: Option<(Seq, Arc<Task>)>,
    /// Whether the task opens although nothing was emitted yet.
    pub(in crate::server) opens: Opens,
    /// Who waits for the task to be there, or for a refusal.
    pub(in crate::server) opening: oneshot::Sender<Result<Opening, Error>>,
    /// Of a task that is yet to be opened.
    pub(in crate::server) admission: Option<Admission>,
    /// Where messages to the running task go.
    pub(in crate::server) inbox: Option<mpsc::Sender<Message>>,
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
}
