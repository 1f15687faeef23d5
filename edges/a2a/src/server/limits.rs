use std::{borrow::Cow, time::Duration};

use super::push::PushLimits;
use crate::model::{Bounds, Error, ErrorKind};

/// How much a server takes, waits and keeps. Every default is safe to run with.
///
/// Whatever is too much is refused before anything is done:
///
/// | limit | refusal | HTTP | gRPC |
/// |---|---|---|---|
/// | `body_bytes` | -32600 | 413 | `RESOURCE_EXHAUSTED` |
/// | `body_wait` | -32600 | 408 | `DEADLINE_EXCEEDED` |
/// | `bounds`, `push.per_task`, `push.total` | -32602 | 200, 400 | `INVALID_ARGUMENT` |
/// | `open_streams`, `running_turns`, a shutdown | -32000, to be [tried again](Self::retry_after) | 503 | `UNAVAILABLE` |
/// | `owner_streams`, `owner_tasks`, `context_tasks`, `waiting_messages` | -32000, to be tried again | 429 | `RESOURCE_EXHAUSTED` |
/// | `task_updates` | the task fails | | |
///
/// An owner is a principal in a tenant. All callers that nobody knows by name are one owner, so
/// that those who are known by name keep their places. What an owner may have is counted without
/// a look at what others have, and answered the same way whatever that is.
///
/// How many bytes the log of one task may have, and how long finished tasks are kept, is for the
/// [log](crate::log). Connections, headers and handshakes are for whoever listens.
///
/// ```
/// use portcullis_a2a::server::Limits;
///
/// let mut limits = Limits::default();
/// limits.owner_streams = 100;
/// limits.push.per_task = 4;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// How large the pieces of a request may be: parts, nesting, ids, metadata.
    pub bounds: Bounds,
    /// How many bytes the body of a request may have; no binding reads more. 10 MiB by default.
    pub body_bytes: usize,
    /// How long the body of a request may take to come. 30 seconds by default.
    pub body_wait: Duration,
    /// How many streams may be open, of all owners. 10,000 by default.
    pub open_streams: usize,
    /// How many streams one owner may have open. 5,000 by default.
    pub owner_streams: usize,
    /// How many tasks of one owner may be unfinished: those that run, and those that wait for
    /// their caller, which nothing else bounds. 5,000 by default.
    ///
    /// Several processes on one log may together exceed it by what they open at the same time.
    pub owner_tasks: usize,
    /// How many tasks of one context may be unfinished. 1,000 by default.
    pub context_tasks: usize,
    /// How many updates the log of one task may have, whatever else the log would take. 250,000 by
    /// default.
    pub task_updates: u64,
    /// How many turns may run at once, of all owners. 10,000 by default.
    pub running_turns: usize,
    /// How many webhooks there may be, and how hard a delivery is tried.
    pub push: PushLimits,
    /// When to come again, as everybody is told who is refused for load. One second by default.
    pub retry_after: Duration,
    /// How long a blocking `SendMessage` waits before it answers with the task as it is
    /// (A2A-OP-32). Five minutes by default.
    pub blocking_wait: Duration,
    /// How long a turn may stay silent before its task fails (O-L18). A turn that waits
    /// for its caller may. An hour by default; `None` for ever.
    pub inactivity: Option<Duration>,
    /// How long `CancelTask` waits for a turn to stand still before it answers with the
    /// task as it is (A2A-OP-89). Five seconds by default.
    pub cancel_wait: Duration,
    /// How many updates one append takes at most. 64 by default.
    pub batch: usize,
    /// How many updates a watcher reads at once. 64 by default.
    pub read_ahead: usize,
    /// How long a process may be silent before others take its tasks for orphans. It says
    /// that it lives three times as often. 30 seconds by default.
    pub lease: Duration,
    /// How many messages may wait for a turn that takes messages while it works. 16 by
    /// default.
    pub waiting_messages: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bounds: Bounds::default(),
            body_bytes: 10 << 20,
            body_wait: Duration::from_secs(30),
            open_streams: 10_000,
            owner_streams: 5_000,
            owner_tasks: 5_000,
            context_tasks: 1_000,
            task_updates: 250_000,
            running_turns: 10_000,
            push: PushLimits::default(),
            retry_after: Duration::from_secs(1),
            blocking_wait: Duration::from_secs(5 * 60),
            inactivity: Some(Duration::from_secs(60 * 60)),
            cancel_wait: Duration::from_secs(5),
            batch: 64,
            read_ahead: 64,
            lease: Duration::from_secs(30),
            waiting_messages: 16,
        }
    }
}

impl Limits {
    /// For load: it may come again.
    pub(super) fn refusal(&self, kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Error {
        Error::with_message(kind, message).retry_after(Some(self.retry_after))
    }
}
