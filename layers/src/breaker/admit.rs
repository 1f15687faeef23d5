use std::{
    fmt,
    hash::Hash,
    pin::Pin,
    task::{Context, Poll},
};

use portcullis::{Failure, FailureCode, Prompt, Scope};

use super::{BreakerLayer, turn::Judged};

/// Asks the breaker. It never waits.
///
/// # Cancel safety
///
/// Nothing is taken before it is polled.
#[must_use = "futures do nothing unless polled"]
pub struct Admit<K> {
    breaker: BreakerLayer<K>,
    /// Taken when it is polled.
    request: Option<(Scope, Prompt)>,
}

// Nothing is pinned in place.
impl<K> Unpin for Admit<K> {}

impl<K> Admit<K> {
    pub(super) const fn new(breaker: BreakerLayer<K>, scope: Scope, prompt: Prompt) -> Self {
        Self {
            breaker,
            request: Some((scope, prompt)),
        }
    }
}

impl<K: Clone + Eq + Hash> Future for Admit<K> {
    type Output = Result<(Scope, Prompt, Judged<K>), Failure>;

    fn poll(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Self::Output> {
        let (scope, prompt) = self.request.take().expect("polled after completion");
        let breaker = &self.breaker;
        Poll::Ready(match breaker.judge(&breaker.key.ask(&scope)) {
            Ok(judged) => Ok((scope, prompt, judged)),
            Err(remaining) => {
                let text = "the agent fails too often and is left alone for a while";
                let failure = Failure::with_code(FailureCode::UNAVAILABLE, text);
                Err(failure.retryable(true).retry_after(remaining))
            }
        })
    }
}

impl<K> fmt::Debug for Admit<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Admit").finish_non_exhaustive()
    }
}
