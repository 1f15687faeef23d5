use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use pin_project::pin_project;
use portcullis::{Failure, FailureCode, Prompt, Scope};

use super::{
    Claim, Denied, Ledger, Metered,
    plan::{Plan, Unreachable},
};

/// Reserves what a turn needs.
///
/// # Cancel safety
///
/// Dropping it withdraws the request.
#[pin_project]
#[must_use = "futures do nothing unless polled"]
pub struct Reserving<L: Ledger> {
    #[pin]
    reserve: Option<L::Reserve>,
    refused: Option<Failure>,
    plan: Arc<Plan>,
    claims: Vec<Claim>,
    /// Taken when the turn is admitted.
    request: Option<(Scope, Prompt)>,
}

impl<L: Ledger> Reserving<L> {
    pub(super) const fn new(
        reserve: Option<L::Reserve>,
        plan: Arc<Plan>,
        claims: Vec<Claim>,
        request: (Scope, Prompt),
    ) -> Self {
        Self {
            reserve,
            refused: None,
            plan,
            claims,
            request: Some(request),
        }
    }

    pub(super) fn refused(failure: Failure, plan: Arc<Plan>, request: (Scope, Prompt)) -> Self {
        Self {
            refused: Some(failure),
            ..Self::new(None, plan, Vec::new(), request)
        }
    }
}

impl<L: Ledger> Future for Reserving<L> {
    type Output = Result<(Scope, Prompt, Metered<L::Reservation>), Failure>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Some(failure) = this.refused.take() {
            return Poll::Ready(Err(failure));
        }
        let reservation = match this.reserve.as_pin_mut() {
            None => None,
            Some(reserve) => match ready!(reserve.poll(cx)) {
                Ok(reservation) => Some(reservation),
                Err(Denied::Exceeded(exceeded)) => return Poll::Ready(Err(exceeded.into())),
                Err(Denied::Unavailable(error)) => {
                    tracing::error!(error = &*error, "the ledger cannot be reached");
                    if this.plan.unreachable == Unreachable::Refuse {
                        let failure = Failure::with_code(
                            FailureCode::UNAVAILABLE,
                            "nobody can say what is left of the budget",
                        );
                        return Poll::Ready(Err(failure.retryable(true)));
                    }
                    None
                }
            },
        };
        let (mut scope, prompt) = this.request.take().expect("polled after completion");
        let plan = Arc::clone(this.plan);
        let turn = Metered::new(plan, reservation, this.claims, &mut scope);
        Poll::Ready(Ok((scope, prompt, turn)))
    }
}

impl<L: Ledger> fmt::Debug for Reserving<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reserving").finish_non_exhaustive()
    }
}
