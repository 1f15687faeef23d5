use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use pin_project::pin_project;
use portcullis::{Failure, FailureCode, Outbox, Prompt, Scope, Turn};
use tokio::time::{Instant, Sleep, sleep_until};

use super::{Held, NotAcquired};

/// Waits for the session of a turn.
///
/// # Cancel safety
///
/// Dropping it leaves the queue.
#[pin_project]
#[must_use = "futures do nothing unless polled"]
pub struct GateAdmit<A> {
    #[pin]
    acquire: A,
    wait: Option<Duration>,
    /// Taken when the turn is admitted.
    request: Option<(Scope, Prompt)>,
    clock: Clock,
}

/// One box, for a turn that waits and does not wait for ever.
enum Clock {
    /// The turn has not had to wait yet.
    NotSet,
    Endless,
    Runs(Pin<Box<Sleep>>, Failure),
}

impl<A> GateAdmit<A> {
    pub(super) const fn new(
        acquire: A,
        wait: Option<Duration>,
        scope: Scope,
        prompt: Prompt,
    ) -> Self {
        Self {
            acquire,
            wait,
            request: Some((scope, prompt)),
            clock: Clock::NotSet,
        }
    }
}

fn busy() -> Failure {
    let details = "the session has a turn that runs";
    Failure::with_code(FailureCode::SESSION_BUSY, details).retryable(true)
}

fn refusal(error: NotAcquired) -> Failure {
    match error {
        NotAcquired::Busy => busy(),
        NotAcquired::Unavailable(error) => {
            let details = "the session cannot be taken now";
            Failure::with_code(FailureCode::UNAVAILABLE, details)
                .retryable(true)
                .caused_by(error)
        }
    }
}

impl Clock {
    fn start(wait: Option<Duration>, scope: &Scope) -> Self {
        let bound = wait
            .and_then(|wait| Instant::now().checked_add(wait))
            .map(|at| (at, busy()));
        let deadline = scope.deadline().map(|at| {
            let failure = Failure::with_code(FailureCode::TIMEOUT, "the deadline has passed");
            (Instant::from_std(at), failure.retryable(true))
        });
        let earliest = match (bound, deadline) {
            (Some(bound), Some(deadline)) if bound.0 <= deadline.0 => Some(bound),
            (bound, deadline) => deadline.or(bound),
        };
        match earliest {
            Some((at, failure)) => Self::Runs(Box::pin(sleep_until(at)), failure),
            None => Self::Endless,
        }
    }
}

impl<H, A> Future for GateAdmit<A>
where
    A: Future<Output = Result<H, NotAcquired>>,
{
    type Output = Result<(Scope, Prompt, Gated<H>), Failure>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        // Session first, then clock.
        if let Poll::Ready(answer) = this.acquire.poll(cx) {
            let (scope, prompt) = this.request.take().expect("polled after completion");
            return Poll::Ready(match answer {
                Ok(held) => Ok((scope, prompt, Gated { held })),
                Err(error) => Err(refusal(error)),
            });
        }
        if let Clock::NotSet = this.clock {
            let (scope, _) = this.request.as_ref().expect("polled after completion");
            *this.clock = Clock::start(*this.wait, scope);
        }
        if let Clock::Runs(sleep, failure) = this.clock
            && sleep.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(Err(failure.clone()));
        }
        Poll::Pending
    }
}

impl<A> fmt::Debug for GateAdmit<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GateAdmit")
            .field("waiting", &!matches!(self.clock, Clock::NotSet))
            .finish_non_exhaustive()
    }
}

/// A turn that has its session. The session is free when this is dropped, and that is after
/// everything below is gone.
pub struct Gated<H> {
    held: H,
}

impl<H: Held> Turn for Gated<H> {
    fn poll_quiet(&mut self, cx: &mut Context<'_>, out: &mut Outbox) {
        if self.held.poll_lost(cx).is_ready() {
            let details = "another turn has the session now";
            let lost = Failure::with_code(FailureCode::UNAVAILABLE, details);
            out.fail(lost.retryable(true));
        }
    }
}

impl<H> fmt::Debug for Gated<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gated").finish_non_exhaustive()
    }
}
