use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use tokio::time::Instant;

/// The time since a limiter was made, on tokio's clock: paused in tests, and as long as a process lives.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    /// Set by the first look, which the limiter takes when it is made.
    epoch: Arc<OnceLock<Instant>>,
}

impl governor::clock::Clock for Clock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        let now = Instant::now();
        now.saturating_duration_since(*self.epoch.get_or_init(|| now))
    }
}
