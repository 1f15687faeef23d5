use std::time::Duration;

use crate::client::backoff::Backoff;

/// How often and how soon a stream that was cut is taken up again.
///
/// See [`Client::resuming`](crate::client::Client::resuming).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Resume {
    pub(super) tries: u32,
    pub(super) backoff: Backoff,
}

impl Resume {
    /// Up to five tries in a row, from a quarter of a second to ten seconds apart. An event that is
    /// new makes the count begin again.
    pub const fn new() -> Self {
        Self {
            tries: 5,
            backoff: Backoff {
                first: Duration::from_millis(250),
                most: Duration::from_secs(10),
            },
        }
    }

    /// Never: the stream stays as it is.
    pub const fn never() -> Self {
        Self::new().tries(0)
    }

    /// How many tries in a row may bring nothing new.
    pub const fn tries(mut self, tries: u32) -> Self {
        self.tries = tries;
        self
    }

    /// How long to wait before the first try, and at most before any. Each waits up to twice as
    /// long as the one before, or as long as the server asks for; one that asks for more than
    /// `most` is not waited for.
    pub const fn waits(mut self, first: Duration, most: Duration) -> Self {
        self.backoff = Backoff { first, most };
        self
    }
}

impl Default for Resume {
    fn default() -> Self {
        Self::new()
    }
}
