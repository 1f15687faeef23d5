use std::time::Duration;

use crate::json::{Extra, ExtraMut, Json};

/// Advisory: a transient failure inside, and another try after a delay.
///
/// The numbers keep their text (`812.4` stays `812.4`), since JavaScript engines
/// emit fractions here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retrying {
    pub(super) attempt: Json,
    pub(super) max_attempts: Json,
    pub(super) delay_ms: Json,
    pub(super) reason: String,
    pub(super) extra: Extra,
}

impl Retrying {
    /// The `attempt`-th of `max_attempts` tries begins after `delay`.
    #[must_use]
    pub fn new(
        attempt: u32,
        max_attempts: u32,
        delay: Duration,
        reason: impl Into<String>,
    ) -> Self {
        let number = |n: u64| Json::checked(&n.to_string());
        Self {
            attempt: number(attempt.into()),
            max_attempts: number(max_attempts.into()),
            delay_ms: number(u64::try_from(delay.as_millis()).unwrap_or(u64::MAX)),
            reason: reason.into(),
            extra: Extra::new(),
        }
    }

    /// The number of the try that comes.
    #[must_use]
    pub fn attempt(&self) -> f64 {
        decode(&self.attempt)
    }

    /// How many tries there may be.
    #[must_use]
    pub fn max_attempts(&self) -> f64 {
        decode(&self.max_attempts)
    }

    /// The delay in milliseconds.
    #[must_use]
    pub fn delay_ms(&self) -> f64 {
        decode(&self.delay_ms)
    }

    /// For people.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Replaces what people read.
    pub fn set_reason(&mut self, reason: impl Into<String>) {
        self.reason = reason.into();
    }

    /// Members that this version does not know.
    #[must_use]
    pub const fn extra(&self) -> &Extra {
        &self.extra
    }

    /// Members that this version does not know, to be edited.
    pub const fn extra_mut(&mut self) -> ExtraMut<'_> {
        ExtraMut::new(
            &mut self.extra,
            &["type", "attempt", "maxAttempts", "delayMs", "reason"],
        )
    }
}

/// A number out of the range of `f64` is infinite, as it is to every JavaScript reader.
fn decode(number: &Json) -> f64 {
    number.as_str().parse().unwrap_or(f64::NAN)
}
