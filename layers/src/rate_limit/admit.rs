use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use pin_project::pin_project;
use portcullis::{Failure, Prompt, Scope};

use super::{Decision, LimiterError, gate::judge};

/// Asks a limiter.
///
/// # Cancel safety
///
/// Dropping it withdraws the request, as far as the limiter can.
#[pin_project]
#[must_use = "futures do nothing unless polled"]
pub struct Admit<F> {
    #[pin]
    take: F,
    request: Option<(Scope, Prompt)>,
    admit_when_unreachable: bool,
}

impl<F> Admit<F> {
    pub(super) const fn new(take: F, request: (Scope, Prompt), open: bool) -> Self {
        Self {
            take,
            request: Some(request),
            admit_when_unreachable: open,
        }
    }
}

impl<F> Future for Admit<F>
where
    F: Future<Output = Result<Decision, LimiterError>>,
{
    type Output = Result<(Scope, Prompt, ()), Failure>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        judge(ready!(this.take.poll(cx)), *this.admit_when_unreachable)?;
        let (scope, prompt) = this.request.take().expect("polled after completion");
        Poll::Ready(Ok((scope, prompt, ())))
    }
}

impl<F> fmt::Debug for Admit<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Admit").finish_non_exhaustive()
    }
}
