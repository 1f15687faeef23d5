use std::time::Duration;

use crate::budget::{Amounts, Limits, Meter, Window};

/// What an account has used, and what comes back of it: all that a store keeps of it.
///
/// Times are microseconds on the clock of the ledger, which never goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Balance {
    /// What turns that are over have used, and what has not come back of it.
    pub used: Amounts,
    /// What has come back of the next unit, in parts of the window.
    pub carry: Amounts,
    /// The limits as somebody last claimed them: in a window they are the rate of the
    /// refill.
    pub limits: Limits,
    /// Until when the refill is in `used`.
    pub at: u64,
}

impl Balance {
    /// Nothing used.
    #[must_use]
    pub const fn new(limits: Limits, at: u64) -> Self {
        Self {
            used: Amounts::ZERO,
            carry: Amounts::ZERO,
            limits,
            at,
        }
    }

    /// Whether there is nothing to remember.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.used == Amounts::ZERO
    }

    /// Lets come back what does until `now`. Exact: the parts of a unit are kept. A time
    /// that lies back changes nothing.
    pub fn refill(&mut self, window: Option<Window>, now: u64) {
        let elapsed = now.saturating_sub(self.at);
        self.at = self.at.max(now);
        let Some(window) = window else { return };
        let window = u128::from(window.micros());
        for (meter, limit) in self.limits.iter() {
            let used = self.used.of(meter);
            let parts = u128::from(elapsed) * u128::from(limit);
            let parts = parts.saturating_add(u128::from(self.carry.of(meter)));
            let back = u64::try_from(parts / window).unwrap_or(u64::MAX);
            // Nobody saves up: what is not used up comes back to nothing.
            let (used, carry) = match used.checked_sub(back) {
                None | Some(0) => (0, 0),
                Some(left) => (left, parts % window),
            };
            self.used = self.used.with(meter, used);
            self.carry = self
                .carry
                .with(meter, u64::try_from(carry).unwrap_or(u64::MAX));
        }
    }

    /// How long it takes until so much of a meter has come back. `None`: it never does.
    #[must_use]
    pub fn time_for(&self, window: Window, meter: Meter, amount: u64) -> Option<Duration> {
        let rate = u128::from(self.limits.on(meter).filter(|limit| *limit > 0)?);
        let parts = u128::from(amount) * u128::from(window.micros());
        let parts = parts.saturating_sub(u128::from(self.carry.of(meter)));
        let micros = u64::try_from(parts.div_ceil(rate)).unwrap_or(u64::MAX);
        Some(Duration::from_micros(micros))
    }

    /// When it can be forgotten without giving anybody anything: all has come back. With
    /// `forget_after`, an account without a window as well, when nobody has used it for so
    /// many microseconds. `None`: never.
    #[must_use]
    pub fn forgettable_at(&self, window: Option<Window>, forget_after: Option<u64>) -> Option<u64> {
        if self.is_empty() {
            return Some(self.at);
        }
        let Some(window) = window else {
            return forget_after.map(|idle| self.at.saturating_add(idle));
        };
        let times = self.limits.iter().map(|(meter, _)| {
            let used = self.used.of(meter);
            // A limit of zero refuses whatever was used.
            let time = self.time_for(window, meter, used).unwrap_or_default();
            u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
        });
        Some(self.at.saturating_add(times.max().unwrap_or(0)))
    }
}
