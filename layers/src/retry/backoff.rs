use std::{error::Error, fmt, time::Duration};

/// How long to wait before another try: a random time up to a bound that grows with
/// every try, so that callers who failed together do not come back together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backoff {
    first: Duration,
    most: Duration,
    factor: f64,
    jitter: Jitter,
}

/// From where on the wait is random.
#[expect(clippy::exhaustive_enums, reason = "from nothing or from the middle")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Jitter {
    /// Between nothing and the bound: callers are spread most, and the shortest wait is
    /// none.
    #[default]
    Full,
    /// Between half of the bound and the bound: there is always a wait.
    Equal,
}

impl Backoff {
    /// Up to `first` before the second try, twice that before the third, and so on, up to
    /// `most`.
    ///
    /// # Errors
    ///
    /// When `first` is zero, so that nobody would ever wait, or `most` is less.
    pub fn new(first: Duration, most: Duration) -> Result<Self, InvalidBackoff> {
        if first.is_zero() {
            return Err(InvalidBackoff("the first bound is zero"));
        }
        if most < first {
            return Err(InvalidBackoff("the last bound is less than the first"));
        }
        Ok(Self {
            first,
            most,
            factor: 2.0,
            jitter: Jitter::default(),
        })
    }

    /// From where on the wait is random. The default is [`Jitter::Full`].
    #[must_use]
    pub const fn jitter(mut self, jitter: Jitter) -> Self {
        self.jitter = jitter;
        self
    }

    /// By what the bound grows, instead of two.
    ///
    /// # Errors
    ///
    /// When it is not a number, infinite, or less than one.
    pub fn factor(mut self, factor: f64) -> Result<Self, InvalidBackoff> {
        if !factor.is_finite() || factor < 1.0 {
            return Err(InvalidBackoff("the factor is no number from one upwards"));
        }
        self.factor = factor;
        Ok(self)
    }

    /// The bound before try number `attempt`; the first retry is number two.
    #[must_use]
    pub fn bound(&self, attempt: u32) -> Duration {
        let grown = self.factor.powf(f64::from(attempt.saturating_sub(2)));
        // Infinite, or out of the range of a duration: the cap.
        Duration::try_from_secs_f64(self.first.as_secs_f64() * grown)
            .map_or(self.most, |bound| bound.min(self.most))
    }

    /// A delay for a random number from zero to one.
    #[must_use]
    pub fn delay(&self, attempt: u32, random: f64) -> Duration {
        let bound = self.bound(attempt);
        let share = if random.is_nan() {
            1.0
        } else {
            random.clamp(0.0, 1.0)
        };
        let share = match self.jitter {
            Jitter::Full => share,
            Jitter::Equal => 0.5 + share / 2.0,
        };
        Duration::try_from_secs_f64(bound.as_secs_f64() * share).map_or(bound, |d| d.min(bound))
    }
}

/// Up to a quarter of a second, growing up to ten seconds.
impl Default for Backoff {
    fn default() -> Self {
        Self {
            first: Duration::from_millis(250),
            most: Duration::from_secs(10),
            factor: 2.0,
            jitter: Jitter::default(),
        }
    }
}

/// A back-off that makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidBackoff(&'static str);

impl fmt::Display for InvalidBackoff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Error for InvalidBackoff {}
