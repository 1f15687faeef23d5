use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use portcullis::{Usage, UsageSink, UsageTally};

use super::{Amounts, Meter};

/// What was reported of one turn, in the stream and past it.
#[derive(Debug, Default)]
pub(super) struct Reports {
    tally: Mutex<UsageTally>,
    /// Something has come that was not counted yet.
    news: AtomicBool,
}

impl Reports {
    pub(super) fn sink(reports: &Arc<Self>) -> UsageSink {
        let reports = Arc::clone(reports);
        UsageSink::new(move |usage| reports.record(usage))
    }

    fn lock(&self) -> MutexGuard<'_, UsageTally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn record(&self, usage: &Usage) {
        self.lock().record(usage);
        self.news.store(true, Ordering::Release);
    }

    pub(super) fn take_news(&self) -> bool {
        // A plain load first: this is asked at every event.
        self.news.load(Ordering::Relaxed) && self.news.swap(false, Ordering::Acquire)
    }

    pub(super) fn amounts(&self) -> Amounts {
        let tally = self.lock();
        // Not said is not counted: that is what `Unmeasured` is for.
        let said = |count: Option<u64>| count.unwrap_or(0);
        Amounts::ZERO
            .with(Meter::InputTokens, said(tally.input()))
            .with(Meter::OutputTokens, said(tally.output()))
            .with(Meter::Tokens, said(tally.tokens()))
            .with(Meter::ModelCalls, tally.calls() as u64)
    }

    /// Whether every call has given its last figures.
    pub(super) fn are_final(&self) -> bool {
        self.lock().records().iter().all(Usage::is_final)
    }
}
