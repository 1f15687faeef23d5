//! What the parts of the layer suite share.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use super::LayerOptions;
use crate::{
    Prompt, Scope, UsageSink,
    conformance::{
        Breach, Check, Place, ProbeAgent, ProbeLog, Report, drive::Driven, probe::TurnMark,
        subject::Subject,
    },
};

pub(super) struct Suite<'a> {
    pub(super) make: &'a dyn Fn(ProbeAgent) -> Subject,
    pub(super) options: LayerOptions,
    pub(super) report: Report,
}

/// A layer over a probe.
pub(super) struct Stack {
    pub(super) subject: Subject,
    pub(super) log: ProbeLog,
    /// How often the sink of the caller was reported to.
    pub(super) reports: Arc<AtomicUsize>,
}

pub(super) const PROMPT: &str = "What is the weather like?";

impl Stack {
    pub(super) fn turn(&self, session: &str) -> Driven<'_> {
        let mut scope = Scope::new(session);
        scope.extensions_mut().insert(TurnMark::default());
        let reports = Arc::clone(&self.reports);
        scope.add_usage_sink(UsageSink::new(move |usage| {
            if usage.id().ends_with("late") {
                reports.fetch_add(1, Ordering::Relaxed);
            }
        }));
        let events = self.subject.start(scope, Prompt::text(PROMPT));
        Driven::new(self.log.taking(events))
    }

    pub(super) fn reports(&self) -> usize {
        self.reports.load(Ordering::Relaxed)
    }
}

impl Suite<'_> {
    pub(super) fn stack(&self, probe: &ProbeAgent) -> Stack {
        let probe = probe.renewed();
        Stack {
            log: probe.log(),
            subject: (self.make)(probe),
            reports: Arc::default(),
        }
    }

    pub(super) fn breach(
        &mut self,
        check: Check,
        scenario: &str,
        state: Place,
        details: impl Into<String>,
    ) {
        self.report.breach(Breach::new(
            check,
            scenario,
            state.to_string(),
            state.event(),
            details,
        ));
    }
}
