use std::{error::Error, fmt};

/// How much a [`SessionDesk`](super::SessionDesk) takes and remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Limits {
    pub(super) follow_ups: usize,
    pub(super) steers: usize,
    pub(super) fates: usize,
    pub(super) sessions: usize,
    pub(super) events: usize,
    pub(super) bytes: usize,
}

impl Limits {
    /// The defaults: 16 follow-ups and 16 steers wait for a turn, 64 fates of a session are kept and
    /// those of 10,000 sessions without a turn, and an observer may lag by 1024 events or 1 MiB.
    pub const fn new() -> Self {
        Self {
            follow_ups: 16,
            steers: 16,
            fates: 64,
            sessions: 10_000,
            events: 1024,
            bytes: 1 << 20,
        }
    }

    /// So many follow-ups may wait for one turn. With zero a turn takes none: it is one run.
    pub const fn follow_ups(mut self, prompts: usize) -> Self {
        self.follow_ups = prompts;
        self
    }

    /// So many prompts may wait in the inbox of a run. With zero no engine is offered one.
    pub const fn steers(mut self, prompts: usize) -> Self {
        self.steers = prompts;
        self
    }

    /// What became of so many prompts of one session is kept; of those that still wait, always.
    pub const fn fates(mut self, prompts: usize) -> Self {
        self.fates = prompts;
        self
    }

    /// The fates of so many sessions without a turn are kept, those that ended last.
    pub const fn sessions(mut self, sessions: usize) -> Self {
        self.sessions = sessions;
        self
    }

    /// So many events of a turn, and so many bytes of them, are kept for the slowest of its
    /// observers. They share what is kept: a turn that nobody observes keeps nothing.
    pub const fn observed(mut self, events: usize, bytes: usize) -> Self {
        self.events = events;
        self.bytes = bytes;
        self
    }

    pub(super) const fn check(self) -> Result<Self, InvalidLimits> {
        if self.fates == 0 {
            return Err(InvalidLimits("what became of prompts"));
        }
        if self.events == 0 || self.bytes == 0 {
            return Err(InvalidLimits("an event for observers"));
        }
        Ok(self)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}

/// Limits that leave no room for what is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidLimits(&'static str);

impl fmt::Display for InvalidLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the limits leave no room to keep {}", self.0)
    }
}

impl Error for InvalidLimits {}
