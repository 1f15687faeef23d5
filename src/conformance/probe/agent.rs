use std::{
    convert::Infallible,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use tower_service::Service;

use super::{
    ProbeFuture, ProbeLog,
    log::Request,
    plan::{Plan, Step},
};
use crate::{AgentEvent, Failure, Prompt, Scope, Usage};

/// An agent that does what it is told, step by step, and counts what is done to it.
///
/// Where the steps end, the stream ends; steps after a terminal event are done as well:
/// a probe may break the contract. Clones share the steps and the [`ProbeLog`]; like any
/// service, a clone starts unready.
///
/// ```
/// use portcullis::{AgentExt, Prompt, Scope, conformance::ProbeAgent};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let agent = ProbeAgent::new().usage("call-1").paid_call().text("hello").completed();
/// let log = agent.log();
/// let answer = portcullis::collect(agent.invoke(Scope::new("s"), Prompt::text("p"))).await;
/// assert_eq!(answer.expect("completed").text, "hello");
/// assert_eq!(log.paid_calls(), 1);
/// assert_eq!(log.live_runs(), 0);
/// # }
/// ```
#[must_use]
pub struct ProbeAgent {
    plan: Arc<Plan>,
    log: ProbeLog,
    pending: u32,
    reservation: Option<Reservation>,
}

/// Marks a turn, so that a probe knows its runs. The suites put it into the typed map.
#[derive(Clone, Default)]
pub(in crate::conformance) struct TurnMark(pub(in crate::conformance) Arc<AtomicUsize>);

impl ProbeAgent {
    /// A probe that ends at once, without a terminal event.
    pub fn new() -> Self {
        Self::of(Arc::default(), ProbeLog::default())
    }

    fn of(plan: Arc<Plan>, log: ProbeLog) -> Self {
        Self {
            pending: plan.ready_after.unwrap_or(0),
            plan,
            log,
            reservation: None,
        }
    }

    fn with(mut self, change: impl FnOnce(&mut Plan)) -> Self {
        change(Arc::make_mut(&mut self.plan));
        self.pending = self.plan.ready_after.unwrap_or(0);
        self
    }

    fn step(self, step: Step) -> Self {
        self.with(|plan| {
            let run = plan.runs.last_mut().expect("there is always one");
            run.push(step);
        })
    }

    /// What happens to this probe and its clones.
    #[must_use]
    pub fn log(&self) -> ProbeLog {
        self.log.clone()
    }

    /// The same steps with a log of its own.
    pub fn renewed(&self) -> Self {
        Self::of(Arc::clone(&self.plan), ProbeLog::default())
    }

    /// Is ready after so many polls that are pending.
    pub fn ready_after(self, polls: u32) -> Self {
        self.with(|plan| plan.ready_after = Some(polls))
    }

    /// Never is ready.
    pub fn never_ready(self) -> Self {
        self.with(|plan| plan.ready_after = None)
    }

    /// `poll_ready` panics.
    pub fn panic_at_ready(self) -> Self {
        self.with(|plan| plan.ready_panics = true)
    }

    /// `call` panics.
    pub fn panic_at_call(self) -> Self {
        self.with(|plan| plan.call_panics = true)
    }

    /// The future of the call panics.
    pub fn panic_at_future(self) -> Self {
        self.with(|plan| plan.future_panics = true)
    }

    /// Dropping a run panics.
    pub fn panic_at_drop(self) -> Self {
        self.with(|plan| plan.drop_panics = true)
    }

    /// The future of the call is pending for so many polls.
    pub fn call_pending(self, polls: u32) -> Self {
        self.with(|plan| plan.future_pending = polls)
    }

    /// Emits an event.
    pub fn emit(self, event: impl Into<AgentEvent>) -> Self {
        self.step(Step::Emit(event.into()))
    }

    /// Emits a piece of the answer.
    pub fn text(self, delta: &str) -> Self {
        self.emit(AgentEvent::text(delta))
    }

    /// Emits one token of usage.
    pub fn usage(self, id: &str) -> Self {
        self.emit(Usage::new(id).with_output(1))
    }

    /// Emits an event that nobody knows.
    pub fn unknown(self, number: u32) -> Self {
        self.emit(super::super::unknown::event(number))
    }

    /// Emits `completed`.
    pub fn completed(self) -> Self {
        self.emit(AgentEvent::completed())
    }

    /// Emits `failed`.
    pub fn failed(self, failure: Failure) -> Self {
        self.emit(failure)
    }

    /// Is pending for so many polls, and wakes each time.
    pub fn pending(self, polls: u32) -> Self {
        self.step(Step::Pending(polls))
    }

    /// Sleeps on tokio's clock.
    pub fn sleep(self, time: Duration) -> Self {
        self.step(Step::Sleep(time))
    }

    /// Is pending for ever.
    pub fn hang(self) -> Self {
        self.step(Step::Hang)
    }

    /// Does something that costs money.
    pub fn paid_call(self) -> Self {
        self.step(Step::PaidCall)
    }

    /// From here on, a run that is dropped reports this to the sink of its scope, once.
    pub fn report_on_drop(self, usage: Usage) -> Self {
        self.step(Step::ReportOnDrop(Box::new(usage)))
    }

    /// Polling the stream panics.
    pub fn panic(self) -> Self {
        self.step(Step::Panic)
    }

    /// What follows is what the next run of the same turn does. Without it, every run is
    /// the same.
    pub fn next_run(self) -> Self {
        self.with(|plan| plan.runs.push(Vec::new()))
    }
}

impl Default for ProbeAgent {
    fn default() -> Self {
        Self::new()
    }
}

/// A clone starts unready.
impl Clone for ProbeAgent {
    fn clone(&self) -> Self {
        Self::of(Arc::clone(&self.plan), self.log.clone())
    }
}

impl Service<(Scope, Prompt)> for ProbeAgent {
    type Response = super::ProbeStream;
    type Error = Infallible;
    type Future = ProbeFuture;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        if self.plan.ready_panics {
            self.log.panic_if_due("the probe panics in poll_ready");
        }
        if self.plan.ready_after.is_none() {
            return Poll::Pending;
        }
        if let Some(left) = self.pending.checked_sub(1) {
            self.pending = left;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if self.reservation.is_none() {
            self.reservation = Some(Reservation::new(&self.log));
        }
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, (scope, prompt): (Scope, Prompt)) -> ProbeFuture {
        let ready = self.reservation.take().is_some();
        self.pending = self.plan.ready_after.unwrap_or(0);
        let mark = scope.extensions().get::<TurnMark>();
        let call = self.log.calls_now(
            ready,
            Request {
                session: scope.session().to_owned(),
                prompt: prompt.as_text().to_owned(),
                marked: mark.is_some(),
            },
        );
        if self.plan.call_panics {
            self.log.panic_if_due("the probe panics in call");
        }
        let run = mark.map_or(call - 1, |mark| mark.0.fetch_add(1, Ordering::Relaxed));
        ProbeFuture::new(&self.plan, &self.log, call, run, &scope)
    }
}

impl fmt::Debug for ProbeAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProbeAgent")
            .field("plan", &self.plan)
            .field("log", &self.log)
            .field("ready", &self.reservation.is_some())
            .finish_non_exhaustive()
    }
}

/// A service that is ready and not called.
struct Reservation(ProbeLog);

impl Reservation {
    fn new(log: &ProbeLog) -> Self {
        log.reserves();
        Self(log.clone())
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.0.unreserves();
    }
}
