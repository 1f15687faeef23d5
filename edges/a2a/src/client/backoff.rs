use std::time::Duration;

/// How long to wait before another try: twice as long each time, up to a bound, and a random part
/// of it less, so that those who failed together do not come back together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Backoff {
    pub(super) first: Duration,
    pub(super) most: Duration,
}

impl Backoff {
    /// Before the first try, or the second, and so on. Between a half of the bound and all of it.
    pub(super) fn delay(&self, tries: u32) -> Duration {
        let factor = 1_u32.checked_shl(tries).unwrap_or(u32::MAX);
        let bound = self.first.saturating_mul(factor).min(self.most);
        let half = bound / 2;
        half + half.mul_f64(fastrand::f64())
    }

    /// The same, or as long as the server asks for; `None` if that is longer than anybody waits.
    pub(super) fn delay_after(&self, tries: u32, asked: Option<Duration>) -> Option<Duration> {
        match asked {
            Some(asked) if asked > self.most => None,
            asked => Some(self.delay(tries).max(asked.unwrap_or_default())),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_wait_grows_and_never_passes_its_bound(
            first in any::<u64>(), most in any::<u64>(), tries in any::<u32>(),
        ) {
            // O-B05
            let backoff = Backoff {
                first: Duration::from_nanos(first),
                most: Duration::from_nanos(most),
            };
            let delay = backoff.delay(tries);
            prop_assert!(delay <= backoff.most);
            let least = backoff.first.min(backoff.most) / 2;
            prop_assert!(delay >= least);
        }
    }

    #[test]
    fn extremes_saturate() {
        // O-B05
        let longest = Backoff {
            first: Duration::MAX,
            most: Duration::MAX,
        };
        for tries in [0, 1, 31, 32, 64, u32::MAX] {
            assert!(longest.delay(tries) >= Duration::MAX / 2);
        }
        assert_eq!(
            longest.delay_after(0, Some(Duration::MAX)),
            Some(Duration::MAX)
        );
        let short = Backoff {
            first: Duration::from_millis(1),
            most: Duration::from_secs(1),
        };
        assert_eq!(short.delay_after(0, Some(Duration::from_secs(2))), None);
    }
}
