use std::{
    collections::VecDeque,
    convert::Infallible,
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    thread,
};

use futures_core::Stream;
use tokio::time::Sleep;

use super::{
    ProbeLog,
    plan::{Plan, Step},
};
use crate::{AgentEvent, Scope, Usage, UsageSink};

/// A call of a [`ProbeAgent`](super::ProbeAgent).
#[must_use = "futures do nothing unless polled"]
pub struct ProbeFuture {
    run: Option<Run>,
    pending: u32,
}

impl ProbeFuture {
    pub(super) fn new(
        plan: &Arc<Plan>,
        log: &ProbeLog,
        call: usize,
        run: usize,
        scope: &Scope,
    ) -> Self {
        let steps = plan.runs.get(run).or(plan.runs.last());
        log.begins();
        Self {
            pending: plan.future_pending,
            run: Some(Run {
                steps: steps.into_iter().flatten().cloned().collect(),
                plan: Arc::clone(plan),
                log: log.clone(),
                call,
                sink: scope.usage_sink().cloned(),
                report: None,
                finished: false,
            }),
        }
    }
}

impl Future for ProbeFuture {
    type Output = Result<ProbeStream, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Some(left) = self.pending.checked_sub(1) {
            self.pending = left;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let run = self.run.take().expect("polled after completion");
        if run.plan.future_panics {
            run.log.panic_if_due("the probe panics in its future");
        }
        Poll::Ready(Ok(ProbeStream { run, sleep: None }))
    }
}

impl fmt::Debug for ProbeFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProbeFuture").finish_non_exhaustive()
    }
}

/// The events of a [`ProbeAgent`](super::ProbeAgent).
#[must_use = "streams do nothing unless polled"]
pub struct ProbeStream {
    run: Run,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Stream for ProbeStream {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        let Self { run, sleep } = &mut *self;
        run.log.passes(run.call);
        if let Some(sleeping) = sleep {
            ready!(sleeping.as_mut().poll(cx));
            *sleep = None;
        }
        loop {
            match run.steps.pop_front() {
                None => {
                    run.finished = true;
                    return Poll::Ready(None);
                }
                Some(Step::Emit(event)) => {
                    run.finished |= event.is_terminal();
                    run.log.emits(run.call, event.clone());
                    return Poll::Ready(Some(event));
                }
                Some(Step::Pending(polls)) => {
                    if polls > 0 {
                        run.steps.push_front(Step::Pending(polls - 1));
                        cx.waker().wake_by_ref();
                        return Poll::Pending;
                    }
                }
                Some(Step::Hang) => {
                    run.steps.push_front(Step::Hang);
                    return Poll::Pending;
                }
                Some(Step::Sleep(time)) => {
                    let mut sleeping = Box::pin(tokio::time::sleep(time));
                    if sleeping.as_mut().poll(cx).is_pending() {
                        *sleep = Some(sleeping);
                        return Poll::Pending;
                    }
                }
                Some(Step::PaidCall) => run.log.pays(),
                Some(Step::ReportOnDrop(usage)) => run.report = Some(*usage),
                Some(Step::Panic) => {
                    run.log.panic_if_due("the probe panics in its stream");
                }
            }
        }
    }
}

impl fmt::Debug for ProbeStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProbeStream").finish_non_exhaustive()
    }
}

/// One run: alive from the call to the drop of its stream.
struct Run {
    steps: VecDeque<Step>,
    plan: Arc<Plan>,
    log: ProbeLog,
    call: usize,
    sink: Option<UsageSink>,
    report: Option<Usage>,
    finished: bool,
}

impl Drop for Run {
    fn drop(&mut self) {
        if let (Some(sink), Some(usage)) = (&self.sink, self.report.take()) {
            sink.report(&usage);
        }
        self.log.ends(self.finished);
        if self.plan.drop_panics && !thread::panicking() {
            self.log.panic_if_due("the probe panics in its drop");
        }
    }
}
