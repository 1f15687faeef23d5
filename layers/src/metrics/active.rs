use std::fmt;

use ::metrics::{Gauge, SharedString, gauge};

use super::describe::ACTIVE;
use crate::semconv;

/// One turn more on the gauge, until this is dropped.
pub(super) struct Active(Gauge);

impl Active {
    pub(super) fn new(agent: SharedString) -> Self {
        // The instrument is kept: up and down go to the same recorder.
        let gauge = gauge!(ACTIVE, semconv::AGENT => agent);
        gauge.increment(1.0);
        Self(gauge)
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        self.0.decrement(1.0);
    }
}

impl fmt::Debug for Active {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Active").finish_non_exhaustive()
    }
}
