use std::{
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

use super::{Seq, TaskKey};
use crate::model::TaskState;

/// Who runs tasks: one name for each process, never used again.
///
/// A task is held by a holder's name, and a holder lives until a time that it
/// [renews](super::TaskLog::renew). So the heartbeat of a thousand running tasks is one
/// write. What a dead holder held is [orphaned](super::TaskLog::orphans).
#[derive(Clone)]
pub struct Holder {
    name: Arc<str>,
    namespace: Arc<str>,
}

impl Holder {
    /// The holder of this name.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self {
            name: name.into(),
            namespace: Arc::default(),
        }
    }

    /// Of several servers that share a log, each takes over the tasks of its own namespace and no
    /// others. Without one, a holder takes over what is in none.
    #[must_use]
    pub fn in_namespace(mut self, namespace: impl Into<Arc<str>>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The namespace, or an empty text.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.namespace
    }
}

/// A name is one holder's, wherever it takes tasks over.
impl PartialEq for Holder {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Holder {}

impl Hash for Holder {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Debug for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Holder").field(&self.name()).finish()
    }
}

/// A task that nobody runs any more, now held by who asked for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orphan {
    key: TaskKey,
    seq: Seq,
    state: TaskState,
}

impl Orphan {
    /// What a backend found.
    #[must_use]
    pub const fn new(key: TaskKey, seq: Seq, state: TaskState) -> Self {
        Self { key, seq, state }
    }

    /// Which task.
    #[must_use]
    pub const fn key(&self) -> &TaskKey {
        &self.key
    }

    /// Where its log ends.
    #[must_use]
    pub const fn seq(&self) -> Seq {
        self.seq
    }

    /// The state that it was left in.
    #[must_use]
    pub const fn state(&self) -> TaskState {
        self.state
    }

    /// Whether nothing was logged after the task was opened. Such a task may be run
    /// again, for nobody has seen anything of the first run. Every other one has to fail.
    #[must_use]
    pub fn is_untouched(&self) -> bool {
        self.seq == Seq::new(1) && self.state == TaskState::Submitted
    }
}
