use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::SystemTime,
};

use portcullis::{AgentEvent, End, Flow, Outbox, Principal, Scope, TraceContext, Turn};

use super::{Measure, Receipt, ReceiptSink};

/// The receipt of one turn, while it is written.
pub struct ReceiptTurn<K> {
    sink: Arc<K>,
    session: String,
    principal: Option<Principal>,
    tenant: Option<String>,
    source: Option<String>,
    trace: Option<TraceContext>,
    started: SystemTime,
    measure: Measure,
}

impl<K> ReceiptTurn<K> {
    pub(super) fn new(sink: Arc<K>, scope: &mut Scope) -> Self {
        Self {
            sink,
            session: scope.session().to_owned(),
            principal: scope.principal().cloned(),
            tenant: scope.tenant().map(str::to_owned),
            source: scope.source().map(str::to_owned),
            trace: scope.extensions().get().cloned(),
            started: SystemTime::now(),
            measure: Measure::begin(scope),
        }
    }
}

impl<K: ReceiptSink> Turn for ReceiptTurn<K> {
    fn on_event(&mut self, event: &mut AgentEvent, _out: &mut Outbox) -> Flow {
        self.measure.see(event);
        Flow::Forward
    }

    fn on_end(self, end: End<'_>) {
        let measured = self.measure.finish();
        let receipt = Receipt {
            session: self.session,
            principal: self.principal,
            tenant: self.tenant,
            source: self.source,
            trace: self.trace,
            started: self.started,
            duration: measured.duration,
            first_event: measured.first_event,
            first_token: measured.first_token,
            events: measured.events,
            tools: measured.tools,
            usage: measured.usage,
            attempts: measured.attempts,
            given_up: measured.given_up,
            outcome: end.into(),
        };
        // Inside of `drop`, during a panic, a second one would abort the process.
        if catch_unwind(AssertUnwindSafe(|| self.sink.take(receipt))).is_err() {
            tracing::error!("the sink of the receipts panicked; a receipt may be lost");
        }
    }
}

impl<K> fmt::Debug for ReceiptTurn<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReceiptTurn")
            .field("measure", &self.measure)
            .finish_non_exhaustive()
    }
}
