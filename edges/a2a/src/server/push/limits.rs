use std::time::Duration;

/// How many webhooks there may be, and how hard a delivery is tried. Every default is safe to run
/// with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PushLimits {
    /// Webhooks of one task: each update goes to all of them. 32 by default.
    pub per_task: usize,
    /// Webhooks that are active, of all tasks together. 10,000 by default.
    pub total: usize,
    /// How long one attempt may take (A2A-PUSH-9). 15 seconds by default.
    pub attempt: Duration,
    /// The pause after the first failed attempt; it doubles with each further one, and a part of
    /// it is random. One second by default.
    pub first_pause: Duration,
    /// The longest pause, also of one that a receiver asks for. Five minutes by default.
    pub longest_pause: Duration,
    /// After so many failed attempts in a row, whatever the update, the webhook is given up. Ten
    /// by default.
    pub failures: u32,
    /// Whether artifacts are delivered, besides statuses. They are by default.
    pub artifacts: bool,
}

impl Default for PushLimits {
    fn default() -> Self {
        Self {
            per_task: 32,
            total: 10_000,
            attempt: Duration::from_secs(15),
            first_pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(5 * 60),
            failures: 10,
            artifacts: true,
        }
    }
}

impl PushLimits {
    /// The pause after the nth failure in a row, from 1 on: between half and all of what doubling
    /// says, so that receivers which failed together are not called together.
    pub(super) fn pause(&self, failures: u32, asked: Option<Duration>) -> Duration {
        let doubled = self
            .first_pause
            .saturating_mul(
                1_u32
                    .checked_shl(failures.saturating_sub(1))
                    .unwrap_or(u32::MAX),
            )
            .min(self.longest_pause);
        let spread = doubled.mul_f64(0.5 + fastrand::f64() / 2.0);
        asked.map_or(spread, |asked| asked.min(self.longest_pause).max(spread))
    }
}
