/// A prompt was accepted. What becomes of it, [`SessionState::fates`] tells.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Accepted {
    id: u64,
}

impl Accepted {
    /// The receipt of the `id`-th prompt of a session.
    #[must_use]
    pub const fn new(id: u64) -> Self {
        Self { id }
    }

    /// Unique within the session.
    #[must_use]
    pub const fn id(&self) -> u64 {
        self.id
    }
}

/// What can be done to a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ControlCapabilities {
    /// The run that is under way takes prompts.
    pub steer: bool,
    /// Another run may follow within the turn.
    pub follow_up: bool,
    /// The turn can be stopped.
    pub abort: bool,
}

/// What became of an accepted prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fate {
    /// It waits.
    Queued,
    /// A run took it.
    Delivered,
    /// The turn ended first.
    Dropped,
}

/// What a session does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionState {
    /// Whether a turn runs.
    pub running: bool,
    /// What became of the prompts that were accepted last, oldest first. A bounded
    /// number is kept.
    pub fates: Vec<(Accepted, Fate)>,
}
