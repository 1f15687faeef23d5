use std::sync::Arc;

use tokio::sync::watch;

/// Counts what is going on: turns, and jobs on threads.
#[derive(Clone, Debug)]
pub struct Gauge(Arc<watch::Sender<usize>>);

/// One thing that goes on, until it is dropped.
#[derive(Debug)]
#[must_use]
pub(crate) struct Mark(Arc<watch::Sender<usize>>);

impl Gauge {
    pub(crate) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }

    pub(crate) fn enter(&self) -> Mark {
        self.0.send_modify(|count| *count += 1);
        Mark(Arc::clone(&self.0))
    }

    /// How much goes on now.
    #[must_use]
    pub fn count(&self) -> usize {
        *self.0.borrow()
    }

    /// Waits until nothing goes on.
    pub async fn still(&self) {
        let mut counts = self.0.subscribe();
        // No error: `self` holds the sender.
        while *counts.borrow_and_update() != 0 && counts.changed().await.is_ok() {}
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}
