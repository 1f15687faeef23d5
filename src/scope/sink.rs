use std::{fmt, sync::Arc};

use crate::event::Usage;

/// Where an engine reports usage outside of the event stream.
///
/// After a cancellation no event reaches anybody, so an engine reports in its `Drop`
/// here. The same ids as in the stream, so that reporting twice does no harm. A report
/// that is made while the engine is dropped is counted before the turn is settled.
#[derive(Clone)]
pub struct UsageSink(Arc<dyn Fn(&Usage) + Send + Sync>);

impl UsageSink {
    /// A sink that calls a function. It runs inside `Drop`: it must not block.
    #[must_use]
    pub fn new(report: impl Fn(&Usage) + Send + Sync + 'static) -> Self {
        Self(Arc::new(report))
    }

    /// Reports the usage of one call.
    pub fn report(&self, usage: &Usage) {
        (self.0)(usage);
    }

    /// A sink that reports to both.
    pub(crate) fn and(self, other: Self) -> Self {
        Self::new(move |usage| {
            self.report(usage);
            other.report(usage);
        })
    }
}

impl fmt::Debug for UsageSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UsageSink").finish_non_exhaustive()
    }
}
