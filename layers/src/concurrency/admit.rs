use std::{
    fmt,
    hash::Hash,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use portcullis::{Failure, FailureCode, Prompt, Scope};
use tokio::time::{Instant, Sleep, sleep_until};

use super::turn::Held;
use crate::turnstile::{Permit, Place, Turnstile};

/// How long turns wait, and how many.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Patience {
    pub(super) at_most: Option<Duration>,
    /// How many of one key wait.
    pub(super) turns: Option<usize>,
}

/// Waits for a place.
///
/// # Cancel safety
///
/// Dropping it leaves the queue.
#[must_use = "futures do nothing unless polled"]
pub struct Admit<K: Clone + Eq + Hash> {
    /// `None` if nobody is ever admitted.
    turnstile: Option<Arc<Turnstile<K>>>,
    patience: Patience,
    /// Taken when the turn is admitted.
    request: Option<(Scope, Prompt, K)>,
    place: Option<Place<K>>,
    /// One box, for a turn that waits and does not wait for ever.
    clock: Option<(Pin<Box<Sleep>>, Failure)>,
}

// Nothing is pinned in place.
impl<K: Clone + Eq + Hash> Unpin for Admit<K> {}

impl<K: Clone + Eq + Hash> Admit<K> {
    pub(super) const fn new(
        turnstile: Option<Arc<Turnstile<K>>>,
        key: K,
        patience: Patience,
        scope: Scope,
        prompt: Prompt,
    ) -> Self {
        Self {
            turnstile,
            patience,
            request: Some((scope, prompt, key)),
            place: None,
            clock: None,
        }
    }

    fn admitted(&mut self, permit: Permit<K>) -> <Self as Future>::Output {
        self.place = None;
        self.clock = None;
        let (scope, prompt, _) = self.request.take().expect("polled after completion");
        Ok((scope, prompt, Held::new(permit)))
    }
}

fn overloaded() -> Failure {
    Failure::with_code(FailureCode::OVERLOADED, "no place is free").retryable(true)
}

fn clock(patience: Patience, scope: &Scope) -> Option<(Pin<Box<Sleep>>, Failure)> {
    let bound = patience
        .at_most
        .and_then(|most| Instant::now().checked_add(most))
        .map(|at| (at, overloaded()));
    let deadline = scope.deadline().map(|at| {
        let failure = Failure::with_code(FailureCode::TIMEOUT, "the deadline has passed");
        (Instant::from_std(at), failure.retryable(true))
    });
    let earliest = match (bound, deadline) {
        (Some(bound), Some(deadline)) if bound.0 <= deadline.0 => Some(bound),
        (bound, deadline) => deadline.or(bound),
    };
    earliest.map(|(at, failure)| (Box::pin(sleep_until(at)), failure))
}

impl<K: Clone + Eq + Hash> Future for Admit<K> {
    type Output = Result<(Scope, Prompt, Held<K>), Failure>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if this.place.is_none() {
            let Some(turnstile) = &this.turnstile else {
                return Poll::Ready(Err(overloaded()));
            };
            let (scope, _, key) = this.request.as_ref().expect("polled after completion");
            if let Some(permit) = turnstile.try_take(key) {
                return Poll::Ready(this.admitted(permit));
            }
            match turnstile.join(key.clone(), this.patience.turns, cx) {
                Some(place) => this.place = Some(place),
                None => return Poll::Ready(Err(overloaded())),
            }
            this.clock = clock(this.patience, scope);
        }
        let place = this.place.as_mut().expect("joined above");
        // Place first, then clock.
        if let Poll::Ready(permit) = place.poll(cx) {
            return Poll::Ready(this.admitted(permit));
        }
        if let Some((sleep, _)) = &mut this.clock
            && sleep.as_mut().poll(cx).is_ready()
        {
            this.place = None;
            let (_, failure) = this.clock.take().expect("matched above");
            return Poll::Ready(Err(failure));
        }
        Poll::Pending
    }
}

impl<K: Clone + Eq + Hash> fmt::Debug for Admit<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Admit")
            .field("waiting", &self.place.is_some())
            .finish_non_exhaustive()
    }
}
