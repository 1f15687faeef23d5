use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use portcullis::{Scope, UsageSink};

/// Counts the runs of a turn, so that no run overwrites the bill of another.
///
/// [`Stock`](crate::stock::Stock) puts one into the scope, where tower's layers clone it
/// with the request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs(Arc<AtomicU32>);

impl Runs {
    /// Begins a run of the turn: its number, and a scope whose sink numbers the ids.
    /// `None` where nobody counts.
    pub(super) fn begin(scope: &mut Scope) -> Option<u32> {
        let Self(runs) = scope.extensions().get::<Self>()?;
        let run = runs.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        if let Some(sink) = scope.usage_sink().cloned() {
            scope.set_usage_sink(Some(UsageSink::new(move |usage| {
                let mut usage = usage.clone();
                usage.number(run);
                sink.report(&usage);
            })));
        }
        Some(run)
    }
}
