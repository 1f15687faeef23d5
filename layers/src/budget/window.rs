use std::{fmt, time::Duration};

use super::Limits;

/// A time after which a limit is whole again.
///
/// There are no borders at full hours, where two hours' worth could be used within a
/// minute: a limit of `n` an hour gives back `n` an hour, continuously, to the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Window(u64);

impl Window {
    /// A minute.
    pub const MINUTE: Self = Self(60_000_000);
    /// An hour.
    pub const HOUR: Self = Self(3_600_000_000);
    /// A day of 24 hours.
    pub const DAY: Self = Self(86_400_000_000);

    /// A window. `None` for less than a millisecond, or for more than a thousand years.
    #[must_use]
    pub fn new(time: Duration) -> Option<Self> {
        let micros = u64::try_from(time.as_micros()).ok()?;
        (1_000..=32_000_000_000_000_000)
            .contains(&micros)
            .then_some(Self(micros))
    }

    /// Its length, in microseconds.
    #[must_use]
    pub const fn micros(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::MINUTE => f.write_str("minute"),
            Self::HOUR => f.write_str("hour"),
            Self::DAY => f.write_str("day"),
            Self(micros) => write!(f, "{:?}", Duration::from_micros(micros)),
        }
    }
}

/// Limits, for ever or for each window of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    pub(super) limits: Limits,
    pub(super) window: Option<Window>,
}

impl Allowance {
    /// The limits.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The time in which what was used comes back. `None`: never.
    #[must_use]
    pub const fn window(&self) -> Option<Window> {
        self.window
    }
}

/// For the life of what they are limits of.
impl From<Limits> for Allowance {
    fn from(limits: Limits) -> Self {
        Self {
            limits,
            window: None,
        }
    }
}
