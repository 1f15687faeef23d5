use std::{error::Error, fmt, time::Duration};

use portcullis::{Failure, FailureCode};

/// A limiter that cannot decide: no fault of who asks.
#[derive(Debug)]
pub struct LimiterError(Kind);

#[derive(Debug)]
enum Kind {
    Full(Duration),
    Unreachable(Box<dyn Error + Send + Sync>),
}

impl LimiterError {
    /// It has no room for another key. There may be some after a while.
    #[must_use]
    pub const fn full(retry_after: Duration) -> Self {
        Self(Kind::Full(retry_after))
    }

    /// Where it counts cannot be reached. `source` is for the log.
    #[must_use]
    pub fn unreachable(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(Kind::Unreachable(source.into()))
    }

    /// Whether there is no room.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        matches!(self.0, Kind::Full(_))
    }

    pub(super) fn into_failure(self) -> Failure {
        match self.0 {
            Kind::Full(wait) => {
                Failure::with_code(FailureCode::OVERLOADED, "too many callers at once")
                    .retry_after(wait)
            }
            Kind::Unreachable(source) => Failure::with_code(
                FailureCode::UNAVAILABLE,
                "the rate limit cannot be looked up",
            )
            .caused_by(source),
        }
        .retryable(true)
    }
}

impl fmt::Display for LimiterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::Full(_) => "the limiter has no room for another key",
            Kind::Unreachable(_) => "the limiter cannot be reached",
        })
    }
}

impl Error for LimiterError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0 {
            Kind::Full(_) => None,
            Kind::Unreachable(source) => Some(&**source),
        }
    }
}

/// Too many requests.
pub(super) fn too_many(wait: Duration) -> Failure {
    Failure::with_code(FailureCode::RATE_LIMITED, "too many requests")
        .retryable(true)
        .retry_after(wait)
}
