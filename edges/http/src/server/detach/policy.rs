use std::time::Duration;

/// How turns may outlive their connections.
///
/// ```
/// use std::time::Duration;
/// use portcullis_http::server::{Detach, TurnService};
///
/// # use portcullis::{Emitter, Prompt, Scope, agent_fn};
/// # let agent = agent_fn(async |_: Scope, _: Prompt, _: Emitter| Ok(()));
/// let policy = Detach::new(Duration::from_secs(60)).turns(1_000);
/// let service = TurnService::new(agent).detach(policy);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Detach {
    pub(super) grace: Duration,
    pub(super) turns: usize,
    pub(super) turns_per_owner: usize,
    pub(super) room: usize,
}

impl Detach {
    /// For so long at most after the connection is gone. 256 turns without a reader, 16 of each
    /// owner, and 1 MiB of a turn's events each way.
    #[must_use]
    pub const fn new(grace: Duration) -> Self {
        Self {
            grace,
            turns: 256,
            turns_per_owner: 16,
            room: 1 << 20,
        }
    }

    /// How many turns may be without a reader. One more ends the one that was left first.
    #[must_use]
    pub const fn turns(mut self, limit: usize) -> Self {
        self.turns = limit;
        self
    }

    /// How many turns of one owner may be without a reader. One more ends the one that was left
    /// first. Callers whom nobody knows are one owner.
    #[must_use]
    pub const fn turns_per_owner(mut self, limit: usize) -> Self {
        self.turns_per_owner = limit;
        self
    }

    /// How many bytes of events a turn keeps of those that were read, so that a reader that lost the
    /// last ones can have them again; and of those that nobody has read, which are never let go: the
    /// turn waits instead. Each may be exceeded by one event.
    #[must_use]
    pub const fn room(mut self, bytes: usize) -> Self {
        self.room = bytes;
        self
    }
}
