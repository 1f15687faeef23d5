use std::error::Error as _;

use portcullis::{Failure, Scope};

use super::{Decision, Key, LimitKey, Limiter, LimiterError, error::too_many};

/// What both forms of the layer share: who is asked, and what their trouble means.
#[derive(Clone, Debug)]
pub(super) struct Gate<K, L> {
    pub(super) key: K,
    pub(super) named: L,
    pub(super) anonymous: L,
    pub(super) admit_when_unreachable: bool,
}

impl<K: Key, L: Limiter> Gate<K, L> {
    pub(super) fn limiter(&self, key: &LimitKey) -> &L {
        if key.is_anonymous() {
            &self.anonymous
        } else {
            &self.named
        }
    }

    pub(super) fn take(&self, scope: &Scope) -> L::Take {
        let key = self.key.key(scope);
        self.limiter(&key).take(&key)
    }
}

/// Whether the turn may begin.
pub(super) fn judge(
    decision: Result<Decision, LimiterError>,
    admit_when_unreachable: bool,
) -> Result<(), Failure> {
    match trouble(decision, admit_when_unreachable)? {
        Decision::Granted => Ok(()),
        Decision::NotYet(wait) => Err(too_many(wait)),
    }
}

/// What a limiter that cannot decide means for the turn.
pub(super) fn trouble(
    decision: Result<Decision, LimiterError>,
    admit_when_unreachable: bool,
) -> Result<Decision, Failure> {
    decision.or_else(|error| {
        if error.is_full() {
            tracing::warn!("the memory of the rate limit is full: callers share a bucket");
            return Err(error.into_failure());
        }
        tracing::warn!(
            error = %error,
            source = error.source().map(tracing::field::display),
            admitted = admit_when_unreachable,
            "no answer from the rate limiter"
        );
        if admit_when_unreachable {
            Ok(Decision::Granted)
        } else {
            Err(error.into_failure())
        }
    })
}
