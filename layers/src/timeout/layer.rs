use std::time::Duration;

use portcullis::{AgentEvent, MakeTurn, Prompt, Scope, Watched};
use tower_layer::Layer;

use super::{Clocks, NoClock, TimeoutTurn};

/// Ends turns that take too long. See the [module docs](super).
#[derive(Clone, Debug)]
pub struct TimeoutLayer {
    clocks: Clocks,
    meaningful: fn(&AgentEvent) -> bool,
}

/// An agent with clocks. See the [module docs](super).
pub type Timeout<S> = Watched<S, TimeoutLayer>;

impl TimeoutLayer {
    /// The layer with these clocks.
    ///
    /// # Errors
    ///
    /// When no clock is set: the layer would do nothing.
    pub const fn new(clocks: Clocks) -> Result<Self, NoClock> {
        if clocks.is_empty() {
            return Err(NoClock::new());
        }
        Ok(Self::with(clocks))
    }

    const fn with(clocks: Clocks) -> Self {
        Self {
            clocks,
            meaningful: is_meaningful,
        }
    }

    /// A clock until the first event.
    #[must_use]
    pub fn first_event(clock: Duration) -> Self {
        Self::with(Clocks::new().first_event(clock))
    }

    /// A clock for silence.
    #[must_use]
    pub fn idle(clock: Duration) -> Self {
        Self::with(Clocks::new().idle(clock))
    }

    /// A clock for the whole turn, and the deadline of the scope.
    #[must_use]
    pub fn total(clock: Duration) -> Self {
        Self::with(Clocks::new().total(clock))
    }

    /// The deadline of the scope, where it has one.
    #[must_use]
    pub const fn deadline() -> Self {
        Self::with(Clocks::new().deadline())
    }

    /// Says which events stop the clocks of the first event and of silence. See
    /// [`is_meaningful`] for the default.
    #[must_use]
    pub const fn meaningful(mut self, meaningful: fn(&AgentEvent) -> bool) -> Self {
        self.meaningful = meaningful;
        self
    }
}

/// Whether an event shows that the agent is alive: all do but `retrying`, empty text and
/// thinking, and unknown events whose type is `heartbeat`, `keepalive` or `ping`.
#[must_use]
pub fn is_meaningful(event: &AgentEvent) -> bool {
    match event {
        AgentEvent::Text(text) => !text.delta().is_empty(),
        AgentEvent::Thinking(text) => !text.delta().is_empty(),
        AgentEvent::Retrying(_) => false,
        AgentEvent::Extension(unknown) => {
            !matches!(unknown.type_name(), "heartbeat" | "keepalive" | "ping")
        }
        AgentEvent::ToolStarted(_)
        | AgentEvent::ToolEnded(_)
        | AgentEvent::Usage(_)
        | AgentEvent::Completed(_)
        | AgentEvent::Failed(_) => true,
    }
}

impl MakeTurn for TimeoutLayer {
    type Turn = TimeoutTurn;

    fn make_turn(&self, scope: &mut Scope, _prompt: &mut Prompt) -> TimeoutTurn {
        TimeoutTurn::new(self.clocks, self.meaningful, scope)
    }
}

impl<S> Layer<S> for TimeoutLayer {
    type Service = Timeout<S>;

    fn layer(&self, inner: S) -> Timeout<S> {
        Watched::new(inner, self.clone())
    }
}
