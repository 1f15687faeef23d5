use std::{
    fmt,
    sync::atomic::{AtomicI64, Ordering},
};

use crate::model::Timestamp;

/// What time it is. A server asks it for the timestamps of statuses.
pub trait Clock: Send + Sync + 'static {
    /// Now.
    fn now(&self) -> Timestamp;
}

/// The clock of the system.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct SystemClock;

impl SystemClock {
    /// The clock of the system.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// A clock that goes on by a fixed step each time it is read, for tests and examples.
pub struct StepClock {
    next_millis: AtomicI64,
    step_millis: i64,
}

impl StepClock {
    /// Shows `start` first.
    #[must_use]
    pub fn new(start: Timestamp, step_millis: i64) -> Self {
        Self {
            next_millis: AtomicI64::new(start.unix_millis()),
            step_millis,
        }
    }
}

impl Clock for StepClock {
    fn now(&self) -> Timestamp {
        let millis = self
            .next_millis
            .fetch_add(self.step_millis, Ordering::Relaxed);
        Timestamp::from_unix_millis(millis)
    }
}

impl fmt::Debug for StepClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StepClock").finish_non_exhaustive()
    }
}
