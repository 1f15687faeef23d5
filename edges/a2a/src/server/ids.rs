use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
};

use uuid::Uuid;

/// Where a server gets the ids that it makes.
pub trait IdSource: Send + Sync + 'static {
    /// A new id, unlike any other of this kind.
    fn next(&self, kind: IdKind) -> String;
}

/// What an id is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IdKind {
    /// A task.
    Task,
    /// A context.
    Context,
    /// A message of the agent.
    Message,
    /// What a caller and the log call the same fault. Short.
    Reference,
    /// A webhook.
    Webhook,
}

/// Ids that are unique in space and time: UUIDs of version 7.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct RandomIds;

impl RandomIds {
    /// Random ids.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

impl IdSource for RandomIds {
    fn next(&self, kind: IdKind) -> String {
        let uuid = Uuid::now_v7();
        match kind {
            // The end of it is random; the beginning is the time.
            IdKind::Reference => uuid.simple().to_string().split_off(24),
            _ => uuid.to_string(),
        }
    }
}

/// `t-1`, `t-2`, … for tests and examples.
#[derive(Default)]
pub struct SequentialIds {
    counts: [AtomicU64; 5],
}

impl SequentialIds {
    /// Begins at 1.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl IdSource for SequentialIds {
    fn next(&self, kind: IdKind) -> String {
        let (prefix, count) = match kind {
            IdKind::Task => ("t-", &self.counts[0]),
            IdKind::Context => ("c-", &self.counts[1]),
            IdKind::Message => ("m-a", &self.counts[2]),
            IdKind::Reference => ("ref-", &self.counts[3]),
            IdKind::Webhook => ("p-", &self.counts[4]),
        };
        let number = count.fetch_add(1, Ordering::Relaxed) + 1;
        format!("{prefix}{number}")
    }
}

impl fmt::Debug for SequentialIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SequentialIds").finish_non_exhaustive()
    }
}
