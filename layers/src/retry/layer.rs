use std::{sync::Arc, time::Duration};

use portcullis::{Failure, Scripted};
use tower_layer::Layer;

use super::{Backoff, allowance::Allowance};

/// Tries again. See the [module docs](super).
///
/// Clones, and all services that one value makes, share its allowance.
#[derive(Clone, Debug)]
pub struct RetryLayer {
    pub(super) retries: u32,
    pub(super) backoff: Backoff,
    pub(super) longest_hint: Duration,
    pub(super) classify: fn(&Failure) -> bool,
    pub(super) allowance: Arc<Allowance>,
}

/// An agent that is tried again. See the [module docs](super).
pub type Retry<S> = Scripted<S, RetryLayer>;

impl RetryLayer {
    /// So many retries after the first try. Zero is none.
    #[must_use]
    pub fn new(retries: u32) -> Self {
        Self {
            retries,
            backoff: Backoff::default(),
            longest_hint: Duration::from_secs(60),
            classify: Failure::is_retryable,
            allowance: Arc::new(Allowance::new(10, 20)),
        }
    }

    /// How long to wait.
    #[must_use]
    pub const fn backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = backoff;
        self
    }

    /// Gives up when a failure asks to wait longer than this. The default is a minute.
    #[must_use]
    pub const fn longest_hint(mut self, wait: Duration) -> Self {
        self.longest_hint = wait;
        self
    }

    /// Says which failures are worth another try, instead of those that say so
    /// themselves.
    #[must_use]
    pub const fn classify(mut self, classify: fn(&Failure) -> bool) -> Self {
        self.classify = classify;
        self
    }

    /// Bounds the retries of all turns together: `reserve` at once, and then one for
    /// every hundred `percent` of turns. The default is ten and twenty: when everything
    /// fails, a fifth more calls are made and not three times as many.
    #[must_use]
    pub fn allowance(mut self, reserve: u32, percent: u8) -> Self {
        self.allowance = Arc::new(Allowance::new(reserve, percent));
        self
    }
}

impl<S> Layer<S> for RetryLayer {
    type Service = Retry<S>;

    fn layer(&self, inner: S) -> Retry<S> {
        Scripted::new(inner, self.clone())
    }
}
