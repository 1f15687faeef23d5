use std::time::Duration;

use super::{LimitKey, LimiterError, Rate};

/// Where requests are counted: [in memory](super::MemoryLimiter), or in a store that several processes
/// share.
///
/// What it promises: `take` looks and counts in one step, so that a thousand who ask at once get no more than
/// there is. It counts what it grants, and nothing else.
pub trait Limiter {
    /// The answer. Dropping it withdraws the request, or counts it if it was too late.
    type Take: Future<Output = Result<Decision, LimiterError>>;
    /// How somebody stands.
    type Look: Future<Output = Result<Standing, LimiterError>>;

    /// The rate of each key.
    fn rate(&self) -> Rate;

    /// Takes one request, if there is one.
    fn take(&self, key: &LimitKey) -> Self::Take;

    /// How a key stands, without taking anything.
    fn look(&self, key: &LimitKey) -> Self::Look;
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is one or there is none")]
pub enum Decision {
    /// It is counted, and may go.
    Granted,
    /// It is not counted. There is one after so long, if nobody else takes it.
    NotYet(Duration),
}

/// How a key stands, at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Standing {
    /// How many requests a full bucket has.
    pub limit: u32,
    /// How many there are now.
    pub remaining: u32,
    /// How long until there is one. Zero if there is one.
    pub next: Duration,
    /// How long until the bucket is full.
    pub full: Duration,
}

impl Standing {
    /// The standing of a bucket of `rate` that is full after `full`.
    #[must_use]
    pub fn new(rate: Rate, full: Duration) -> Self {
        let (limit, interval) = (rate.most_at_once(), rate.interval());
        // Each request that is missing takes an interval.
        let missing = full.as_nanos().div_ceil(interval.as_nanos());
        let remaining = u128::from(limit).saturating_sub(missing);
        let remaining = u32::try_from(remaining).unwrap_or(limit);
        let next = match remaining {
            0 => full.saturating_sub(interval.saturating_mul(limit - 1)),
            _ => Duration::ZERO,
        };
        Self {
            limit,
            remaining,
            next,
            full,
        }
    }
}
