use std::{fmt, hash::Hash};

use portcullis::{AgentEvent, End, Failure, Flow, Outbox, Turn};

use super::{Dropped, Outcome, desk::Ticket};
use crate::commit::Rule;

/// A turn that a breaker has let through, and judges by its end.
pub struct Judged<K: Clone + Eq + Hash> {
    pub(super) ticket: Ticket<K>,
    pub(super) failed: Rule<Failure, Outcome>,
    pub(super) dropped: Rule<Dropped, Outcome>,
    pub(super) answered: bool,
}

impl<K: Clone + Eq + Hash> Turn for Judged<K> {
    #[inline]
    fn on_event(&mut self, event: &mut AgentEvent, _: &mut Outbox) -> Flow {
        self.answered |= event.is_visible();
        Flow::Forward
    }

    fn on_end(mut self, end: End<'_>) {
        let outcome = match end {
            End::Completed => Outcome::Success,
            End::Failed(failure) => self.failed.ask(failure),
            End::Truncated | End::Panicked => Outcome::Failure,
            End::Cancelled => self.dropped.ask(&Dropped {
                answered: self.answered,
                after: self.ticket.age(),
            }),
        };
        self.ticket.settle(outcome);
    }
}

impl<K: Clone + Eq + Hash> fmt::Debug for Judged<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Judged")
            .field("answered", &self.answered)
            .finish_non_exhaustive()
    }
}
