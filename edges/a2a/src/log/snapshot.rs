use std::sync::Arc;

use super::Seq;
use crate::model::Task;

/// A task as it is after an update: the fold of its log up to there.
///
/// What is appended later does not change it (O-L12).
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    seq: Seq,
    task: Arc<Task>,
}

impl Snapshot {
    /// A task, and the update after which it is so.
    #[must_use]
    pub fn new(seq: Seq, task: impl Into<Arc<Task>>) -> Self {
        Self {
            seq,
            task: task.into(),
        }
    }

    /// The last update in it. Reading after it loses nothing.
    #[must_use]
    pub const fn seq(&self) -> Seq {
        self.seq
    }

    /// The task.
    #[must_use]
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// The task; a copy is made only where somebody else has it too.
    #[must_use]
    pub fn into_task(self) -> Task {
        Arc::unwrap_or_clone(self.task)
    }
}
