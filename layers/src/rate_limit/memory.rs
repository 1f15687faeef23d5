use std::{
    cell::Cell,
    fmt,
    future::{Ready, ready},
    hash::{BuildHasher, RandomState},
    sync::Arc,
    time::Duration,
};

use governor::{RateLimiter, clock::Clock as _, middleware::NoOpMiddleware};

use super::{
    Decision, LimitKey, Limiter, LimiterError, Rate, Standing,
    clock::Clock,
    keys::{Asked, Keys, SharedKeys},
};

/// Counts in memory, for this process. Clones count together.
#[derive(Clone)]
pub struct MemoryLimiter(Arc<Inner>);

struct Inner {
    rate: Rate,
    governor: RateLimiter<Asked, SharedKeys, Clock, NoOpMiddleware<Duration>>,
    clock: Clock,
    keys: Arc<Keys>,
    /// Two, so that a digest has 128 bits; nobody outside knows their secrets.
    hashers: [RandomState; 2],
}

impl MemoryLimiter {
    /// Unless somebody says otherwise.
    pub(super) const MAX_KEYS: usize = 100_000;

    /// Counts at this rate, with a bucket for each of 100,000 keys.
    #[must_use]
    pub fn new(rate: Rate) -> Self {
        Self::with_max_keys(rate, Self::MAX_KEYS)
    }

    /// Counts at this rate, with so many buckets. With none, all keys share one.
    #[must_use]
    pub fn with_max_keys(rate: Rate, keys: usize) -> Self {
        let clock = Clock::default();
        let keys = Keys::new(clock.clone(), keys);
        let governor = RateLimiter::new(rate.quota(), SharedKeys(Arc::clone(&keys)), clock.clone());
        Self(Arc::new(Inner {
            rate,
            governor,
            clock,
            keys,
            hashers: [RandomState::new(), RandomState::new()],
        }))
    }

    /// How many keys have a bucket that is not full, for a gauge.
    #[must_use]
    pub fn keys(&self) -> usize {
        self.0.keys.len()
    }

    fn digest(&self, key: &LimitKey) -> u128 {
        let [one, other] = &self.0.hashers;
        (u128::from(one.hash_one(key)) << 64) | u128::from(other.hash_one(key))
    }

    fn decide(&self, key: &LimitKey) -> Result<Decision, LimiterError> {
        let asked = Asked {
            digest: self.digest(key),
            shared: Cell::new(false),
        };
        let Err(not_until) = self.0.governor.check_key(&asked) else {
            return Ok(Decision::Granted);
        };
        let wait = not_until.wait_time_from(self.0.clock.now());
        if asked.shared.get() {
            return Err(LimiterError::full(wait));
        }
        Ok(Decision::NotYet(wait))
    }
}

impl Limiter for MemoryLimiter {
    type Take = Ready<Result<Decision, LimiterError>>;
    type Look = Ready<Result<Standing, LimiterError>>;

    fn rate(&self) -> Rate {
        self.0.rate
    }

    fn take(&self, key: &LimitKey) -> Self::Take {
        ready(self.decide(key))
    }

    fn look(&self, key: &LimitKey) -> Self::Look {
        let (full_in, in_shared) = self.0.keys.full_in(self.digest(key));
        let standing = Standing::new(self.0.rate, Duration::from_nanos(full_in));
        ready(if in_shared && standing.remaining == 0 {
            Err(LimiterError::full(standing.next))
        } else {
            Ok(standing)
        })
    }
}

impl fmt::Debug for MemoryLimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryLimiter")
            .field("rate", &self.0.rate)
            .finish_non_exhaustive()
    }
}
