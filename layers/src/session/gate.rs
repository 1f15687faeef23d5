use std::{error::Error, fmt, time::Duration};

use portcullis::{Admitted, Policy, Prompt, Scope};
use tower_layer::Layer;

use super::{
    MemoryLock, SessionLock,
    admit::{GateAdmit, Gated},
};

/// One turn a session. See the [module docs](super#the-gate).
///
/// Clones, and all services that one value makes, share its lock.
#[derive(Clone)]
pub struct GateLayer<L = MemoryLock> {
    lock: L,
    queue: Option<Queue>,
}

/// An agent with one turn a session. See the [module docs](super#the-gate).
pub type Gate<S, L = MemoryLock> = Admitted<S, GateLayer<L>>;

#[derive(Clone, Copy, Debug)]
struct Queue {
    turns: usize,
    wait: Duration,
}

impl GateLayer {
    /// A gate with a lock of its own, for one process. Another turn of a session that has one
    /// is refused with `session_busy`.
    #[must_use]
    pub fn new() -> Self {
        Self::over(MemoryLock::new())
    }
}

impl Default for GateLayer {
    fn default() -> Self {
        Self::new()
    }
}

impl<L> GateLayer<L> {
    /// A gate over a lock that others have as well: gates of this process, or replicas.
    #[must_use]
    pub const fn over(lock: L) -> Self {
        Self { lock, queue: None }
    }

    /// Lets turns wait: so many of one session, first come, first served, and each so long. What
    /// comes on top, and who has waited so long, is refused with `session_busy`.
    ///
    /// # Errors
    ///
    /// When nobody could wait, or for no time.
    pub fn queue(mut self, turns: usize, wait: Duration) -> Result<Self, InvalidQueue> {
        if turns == 0 || wait.is_zero() {
            return Err(InvalidQueue(()));
        }
        self.queue = Some(Queue { turns, wait });
        Ok(self)
    }

    /// The lock.
    #[must_use]
    pub const fn lock(&self) -> &L {
        &self.lock
    }
}

impl<L: SessionLock> Policy for GateLayer<L> {
    type Turn = Gated<L::Held>;
    type Admit = GateAdmit<L::Acquire>;

    fn admit(&self, scope: Scope, prompt: Prompt) -> Self::Admit {
        let turns = self.queue.map_or(0, |queue| queue.turns);
        let acquire = self.lock.acquire(scope.session(), turns);
        GateAdmit::new(acquire, self.queue.map(|queue| queue.wait), scope, prompt)
    }
}

impl<S, L: Clone> Layer<S> for GateLayer<L> {
    type Service = Gate<S, L>;

    fn layer(&self, inner: S) -> Self::Service {
        Admitted::new(inner, self.clone())
    }
}

impl<L> fmt::Debug for GateLayer<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GateLayer")
            .field("queue", &self.queue)
            .finish_non_exhaustive()
    }
}

/// A queue in which nobody could wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidQueue(());

impl fmt::Display for InvalidQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a queue needs a place and a time to wait; without them, use none")
    }
}

impl Error for InvalidQueue {}
