use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use super::{Clock, IdSource, Limits, admission::Admissions, streams::Streams};
use crate::log::{Holder, TaskKey, TaskLog};

/// What every part of a server needs.
pub(super) struct Core {
    pub(super) log: Arc<dyn TaskLog>,
    pub(super) ids: Box<dyn IdSource>,
    pub(super) clock: Box<dyn Clock>,
    pub(super) limits: Limits,
    pub(super) streams: Arc<Streams>,
    pub(super) admissions: Arc<Admissions>,
    pub(super) holder: Holder,
    /// Becomes true when streams have to end, since the server shuts down.
    pub(super) closing: watch::Sender<bool>,
    /// Held while orphans are taken up: who waits for it finds all of them taken up.
    pub(super) recovering: tokio::sync::Mutex<()>,
    /// Tasks whose turn is gone and whose log took no word of it.
    pub(super) left_behind: Mutex<Vec<TaskKey>>,
}

impl Core {
    /// Remembers a task that has to be failed when the log works again.
    pub(super) fn leave_behind(&self, key: TaskKey) {
        self.left_behind
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(key);
    }

    pub(super) fn take_left_behind(&self) -> Vec<TaskKey> {
        let mut left_behind = self
            .left_behind
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut left_behind)
    }
}
