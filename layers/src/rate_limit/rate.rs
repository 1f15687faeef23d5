use std::{error::Error, fmt, num::NonZeroU32, time::Duration};

use governor::Quota;

/// So many requests in a while: a bucket that so many go into, and that one drips into in every
/// [`interval`](Self::interval).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rate {
    interval: Duration,
    burst: NonZeroU32,
}

/// A full bucket must be within what the arithmetic in nanoseconds can hold.
const LONGEST: Duration = Duration::from_secs(10 * 366 * 24 * 3600);

impl Rate {
    /// `requests` in each `period`, all of them at once if nobody asked before.
    ///
    /// # Errors
    ///
    /// When it is no request, more than a million a second, or so slow that a
    /// bucket takes more than ten years to fill.
    pub fn new(requests: u32, period: Duration) -> Result<Self, InvalidRate> {
        let burst = NonZeroU32::new(requests).ok_or(InvalidRate("no request is ever admitted"))?;
        let interval = period / requests;
        if interval < Duration::from_micros(1) {
            return Err(InvalidRate("more than a million requests a second"));
        }
        Self { interval, burst }.checked()
    }

    fn checked(self) -> Result<Self, InvalidRate> {
        match self.interval.checked_mul(self.burst.get()) {
            Some(full) if full <= LONGEST => Ok(self),
            _ => Err(InvalidRate("the bucket takes more than ten years to fill")),
        }
    }

    /// So many a second. See [`new`](Self::new).
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn per_second(requests: u32) -> Result<Self, InvalidRate> {
        Self::new(requests, Duration::from_secs(1))
    }

    /// So many a minute. See [`new`](Self::new).
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn per_minute(requests: u32) -> Result<Self, InvalidRate> {
        Self::new(requests, Duration::from_secs(60))
    }

    /// So many an hour. See [`new`](Self::new).
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn per_hour(requests: u32) -> Result<Self, InvalidRate> {
        Self::new(requests, Duration::from_secs(3600))
    }

    /// How many may come at once, instead of all of a period.
    ///
    /// # Errors
    ///
    /// When it is none, or so many that the bucket takes more than ten years to fill.
    pub fn burst(mut self, requests: u32) -> Result<Self, InvalidRate> {
        self.burst = NonZeroU32::new(requests).ok_or(InvalidRate("no request is ever admitted"))?;
        self.checked()
    }

    /// How many may come at once.
    #[must_use]
    pub const fn most_at_once(&self) -> u32 {
        self.burst.get()
    }

    /// How long it takes until there is one more.
    #[must_use]
    pub const fn interval(&self) -> Duration {
        self.interval
    }

    pub(super) fn quota(&self) -> Quota {
        Quota::with_period(self.interval)
            .expect("checked when it was made")
            .allow_burst(self.burst)
    }
}

/// A rate that makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidRate(&'static str);

impl fmt::Display for InvalidRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Error for InvalidRate {}
