use std::sync::atomic::{AtomicU32, Ordering};

/// How many retries a target may still be burdened with: so many at the start, and one more for
/// every ten calls.
///
/// In an outage every call fails, and without it each would be made as often as its tries allow.
#[derive(Debug)]
pub(super) struct Budget(AtomicU32);

/// What a call pays in, and a retry takes out.
const CALL: u32 = 1;
const RETRY: u32 = 10;
/// Ten retries at the start, a hundred at most.
const START: u32 = 10 * RETRY;
const MOST: u32 = 100 * RETRY;

impl Budget {
    pub(super) const fn new() -> Self {
        Self(AtomicU32::new(START))
    }

    pub(super) fn pay_in(&self) {
        self.update(|balance| Some((balance + CALL).min(MOST)));
    }

    /// Whether one more retry is left.
    pub(super) fn take_out(&self) -> bool {
        self.update(|balance| balance.checked_sub(RETRY))
    }

    fn update(&self, change: impl FnMut(u32) -> Option<u32>) -> bool {
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, change)
            .is_ok()
    }
}
