use std::sync::atomic::{AtomicBool, Ordering};

/// What a turn shows of itself to those who are not in it.
#[derive(Debug, Default)]
pub(super) struct Signs {
    begun: AtomicBool,
    asks: AtomicBool,
}

impl Signs {
    /// It has said something.
    pub(super) fn begin(&self) {
        self.begun.store(true, Ordering::Relaxed);
    }

    pub(super) fn has_begun(&self) -> bool {
        self.begun.load(Ordering::Relaxed)
    }

    /// The last state that it has set is one in which it waits for its caller, or is not. To be said
    /// before that state is stored.
    pub(super) fn ask(&self, asks: bool) {
        self.asks.store(asks, Ordering::Relaxed);
    }

    /// Whether it waits for its caller. That the task does says nothing of a turn that has just
    /// begun: it was an earlier one that asked.
    pub(super) fn asks(&self) -> bool {
        self.asks.load(Ordering::Relaxed)
    }
}
