use std::{sync::Arc, time::Duration};

use portcullis::{AgentEvent, Failure, Scripted};
use tower_layer::Layer;

use super::{Backoff, allowance::Allowance};
use crate::commit::{Rule, is_visible};

/// Tries again. See the [module docs](super).
///
/// Clones, and all services that one value makes, share its allowance.
#[derive(Clone, Debug)]
pub struct RetryLayer {
    pub(super) retries: u32,
    pub(super) backoff: Backoff,
    pub(super) longest_hint: Duration,
    pub(super) max_elapsed: Option<Duration>,
    pub(super) classify: Rule<Failure>,
    pub(super) visible: Rule<AgentEvent>,
    /// Bytes.
    pub(super) buffer: Option<usize>,
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
            max_elapsed: None,
            classify: Rule::new(Failure::is_retryable),
            visible: Rule::new(is_visible),
            buffer: None,
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

    /// Begins no try later than this after the first one. The default is no bound but the
    /// scope's deadline.
    #[must_use]
    pub const fn max_elapsed(mut self, time: Duration) -> Self {
        self.max_elapsed = Some(time);
        self
    }

    /// Says which failures are worth another try, instead of those that say so
    /// themselves.
    #[must_use]
    pub fn classify(mut self, worth_it: impl Fn(&Failure) -> bool + Send + Sync + 'static) -> Self {
        self.classify = Rule::new(worth_it);
        self
    }

    /// Says which events are visible, so that nothing begins again after them. The default is
    /// [`AgentEvent::is_visible`] without the extension event `context`.
    ///
    /// To call an event invisible that a caller shows means that it may be shown twice.
    #[must_use]
    pub fn visible(
        mut self,
        visible: impl Fn(&AgentEvent) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.visible = Rule::new(visible);
        self
    }

    /// Holds visible events back until a run has completed, so that it can be tried again
    /// after them too: for calls whose caller waits for the whole answer anyway. What goes
    /// beyond so many `bytes` of memory is shown, and ends retrying.
    ///
    /// `usage` and other advisory events go through at once, before what is held back.
    #[must_use]
    pub const fn buffered(mut self, bytes: usize) -> Self {
        self.buffer = Some(bytes);
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
