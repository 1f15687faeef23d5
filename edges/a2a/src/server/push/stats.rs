use std::sync::atomic::{AtomicU64, Ordering};

/// What became of deliveries since the server was made.
#[derive(Debug, Default)]
pub struct PushStats {
    delivered: AtomicU64,
    failed: AtomicU64,
    skipped: AtomicU64,
    given_up: AtomicU64,
}

impl PushStats {
    /// Updates that a receiver acknowledged.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.delivered.load(Ordering::Relaxed)
    }

    /// Attempts that failed, whether or not another one followed.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    /// Updates that a receiver refused for good, and that were not tried again.
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.skipped.load(Ordering::Relaxed)
    }

    /// Webhooks that were given up after failing too often, or that had gone.
    #[must_use]
    pub fn given_up(&self) -> u64 {
        self.given_up.load(Ordering::Relaxed)
    }

    pub(super) fn count_delivered(&self) {
        self.delivered.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_failed(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_skipped(&self) {
        self.skipped.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_given_up(&self) {
        self.given_up.fetch_add(1, Ordering::Relaxed);
    }
}
