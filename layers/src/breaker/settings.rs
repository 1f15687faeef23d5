use std::{error::Error, fmt, time::Duration};

/// When a breaker opens, and how it closes again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    pub(super) calls: usize,
    pub(super) within: Duration,
    pub(super) at_least: usize,
    pub(super) percent: u8,
    pub(super) open_for: Duration,
    pub(super) probes: usize,
    pub(super) probe_time: Duration,
    pub(super) max_keys: usize,
}

/// More is for ever, and would not fit a clock.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

impl Settings {
    /// Half of at least ten turns of the last minute, of which a hundred are kept; half a
    /// minute without turns, then one at a time.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            calls: 100,
            within: Duration::from_secs(60),
            at_least: 10,
            percent: 50,
            open_for: Duration::from_secs(30),
            probes: 1,
            probe_time: Duration::from_secs(60),
            max_keys: 10_000,
        }
    }

    /// Looks at the last so many turns, and of these at those that ended within the last so
    /// long. A key takes 24 bytes of memory for each.
    #[must_use]
    pub const fn window(mut self, calls: usize, within: Duration) -> Self {
        self.calls = calls;
        self.within = within;
        self
    }

    /// Does not open on fewer turns in the window.
    #[must_use]
    pub const fn at_least(mut self, calls: usize) -> Self {
        self.at_least = calls;
        self
    }

    /// Opens when so many hundredths of the turns in the window have failed.
    #[must_use]
    pub const fn percent(mut self, percent: u8) -> Self {
        self.percent = percent;
        self
    }

    /// Refuses all turns for so long.
    #[must_use]
    pub const fn open_for(mut self, time: Duration) -> Self {
        self.open_for = time;
        self
    }

    /// Then lets so many turns at once through, and closes when as many have succeeded.
    #[must_use]
    pub const fn probes(mut self, turns: usize) -> Self {
        self.probes = turns;
        self
    }

    /// A probe that runs longer makes place for another one. Its end counts all the same.
    #[must_use]
    pub const fn probe_time(mut self, time: Duration) -> Self {
        self.probe_time = time;
        self
    }

    /// Remembers so many keys. See the [module docs](super) for what is forgotten.
    #[must_use]
    pub const fn max_keys(mut self, keys: usize) -> Self {
        self.max_keys = keys;
        self
    }

    pub(super) fn check(self) -> Result<Self, InvalidBreaker> {
        let faults = [
            (self.calls == 0, "has a window of no turns"),
            (self.within.is_zero(), "has a window of no time"),
            (self.at_least == 0, "opens on no turns at all"),
            (
                self.at_least > self.calls,
                "needs more turns than the window keeps",
            ),
            (self.percent == 0, "opens without a failure"),
            (self.percent > 100, "needs more failures than turns"),
            (self.open_for.is_zero(), "is never open"),
            (self.probes == 0, "never closes again"),
            (self.probe_time.is_zero(), "gives a probe no time"),
            (self.max_keys == 0, "remembers no key"),
        ];
        match faults.into_iter().find(|(is_so, _)| *is_so) {
            Some((_, fault)) => Err(InvalidBreaker(fault)),
            None => Ok(Self {
                within: self.within.min(LONGEST),
                open_for: self.open_for.min(LONGEST),
                probe_time: self.probe_time.min(LONGEST),
                ..self
            }),
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::new()
    }
}

/// Settings of a breaker that make no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidBreaker(&'static str);

impl fmt::Display for InvalidBreaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this breaker {}", self.0)
    }
}

impl Error for InvalidBreaker {}
