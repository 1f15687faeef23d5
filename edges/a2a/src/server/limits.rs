use std::time::Duration;

use crate::model::Bounds;

/// How much a server takes, waits and keeps. Every default is safe to run with.
///
/// How long the log of one task may become, and how long finished tasks are kept, is for
/// the [log](crate::log).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// How large the pieces of a request may be.
    pub bounds: Bounds,
    /// How many turns may run at once; one more is refused for now. 10,000 by default.
    pub running_turns: usize,
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
            running_turns: 10_000,
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
