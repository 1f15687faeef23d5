use std::{error::Error, fmt, time::Duration};

/// Which clocks run. Zero is a time like any other; to switch a clock off, do not set
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clocks {
    pub(super) first_event: Option<Duration>,
    pub(super) idle: Option<Duration>,
    pub(super) total: Option<Duration>,
    pub(super) deadline: bool,
}

impl Clocks {
    /// No clock.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            first_event: None,
            idle: None,
            total: None,
            deadline: false,
        }
    }

    /// How long the first meaningful event may take.
    #[must_use]
    pub fn first_event(mut self, clock: impl Into<Option<Duration>>) -> Self {
        self.first_event = clock.into();
        self
    }

    /// How long the agent may be silent between meaningful events; before the first as
    /// well, if that has no clock of its own.
    #[must_use]
    pub fn idle(mut self, clock: impl Into<Option<Duration>>) -> Self {
        self.idle = clock.into();
        self
    }

    /// How long the turn may take, and the deadline of its scope: whichever is earlier.
    #[must_use]
    pub fn total(mut self, clock: impl Into<Option<Duration>>) -> Self {
        self.total = clock.into();
        self.deadline = true;
        self
    }

    /// The deadline of the scope, where it has one.
    #[must_use]
    pub const fn deadline(mut self) -> Self {
        self.deadline = true;
        self
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.first_event.is_none() && self.idle.is_none() && self.total.is_none() && !self.deadline
    }
}

/// A time-out layer without a clock would do nothing.
#[derive(Debug)]
pub struct NoClock(());

impl NoClock {
    pub(super) const fn new() -> Self {
        Self(())
    }
}

impl fmt::Display for NoClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no clock is set")
    }
}

impl Error for NoClock {}
