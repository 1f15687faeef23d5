use std::time::Duration;

/// How a breaker stands.
#[expect(clippy::exhaustive_enums, reason = "a breaker has these three states")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Turns go through.
    Closed,
    /// All turns are refused.
    Open {
        /// For how long.
        remaining: Duration,
    },
    /// A few turns go through, to see how it is.
    HalfOpen,
}

/// What a breaker does now, for a counter or a log.
#[expect(clippy::exhaustive_enums, reason = "a breaker has these three states")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// It begins to refuse, for so long.
    Opened(Duration),
    /// It lets the first probe through.
    Probing,
    /// It lets everything through again.
    Closed,
}
