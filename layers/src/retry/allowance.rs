use std::sync::{
    Arc,
    atomic::{AtomicU32, AtomicU64, Ordering},
};

/// How many retries a layer may still make: without a bound, an outage is amplified by
/// everybody's retries.
///
/// Every turn pays in a share of a retry, every retry takes a whole one out.
#[derive(Debug)]
pub(super) struct Allowance {
    /// In hundredths of a retry.
    left: AtomicU64,
    most: u64,
    per_turn: u64,
}

const ONE: u64 = 100;

impl Allowance {
    pub(super) fn new(reserve: u32, percent: u8) -> Self {
        let most = u64::from(reserve) * ONE;
        Self {
            left: AtomicU64::new(most),
            most,
            per_turn: percent.into(),
        }
    }

    fn update(&self, change: impl Fn(u64) -> Option<u64>) -> bool {
        self.left
            .try_update(Ordering::Relaxed, Ordering::Relaxed, change)
            .is_ok()
    }

    pub(super) fn pay_in(&self) {
        self.update(|left| Some(left.saturating_add(self.per_turn).min(self.most)));
    }

    pub(super) fn take(&self) -> bool {
        self.update(|left| left.checked_sub(ONE))
    }
}

/// How many retries a turn has left. The outermost retry of a turn puts it into the
/// scope, and those below draw on the same (O-B15).
#[derive(Clone, Debug)]
pub(super) struct Shared(Arc<AtomicU32>);

impl Shared {
    pub(super) fn new(retries: u32) -> Self {
        Self(Arc::new(AtomicU32::new(retries)))
    }

    pub(super) fn take(&self) -> bool {
        self.0
            .try_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(1)
            })
            .is_ok()
    }

    /// Gives one back that was not made.
    pub(super) fn give_back(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
