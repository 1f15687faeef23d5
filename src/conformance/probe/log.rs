use std::{
    fmt, panic,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures_core::Stream;

use super::Taking;
use crate::AgentEvent;

/// What happened to a [`ProbeAgent`](super::ProbeAgent) and its clones.
#[derive(Clone, Default)]
pub struct ProbeLog(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    reserved: usize,
    reservations: usize,
    calls: usize,
    unready_calls: usize,
    live: usize,
    dropped: usize,
    paid: usize,
    panics: usize,
    /// Counts the polls of whoever reads.
    now: u64,
    emitted: Vec<Emitted>,
    requests: Vec<Request>,
    disarmed: bool,
}

/// An event that the probe emitted.
#[derive(Clone)]
pub(in crate::conformance) struct Emitted {
    pub(in crate::conformance) event: AgentEvent,
    pub(in crate::conformance) run: usize,
    /// When the probe was polled after it.
    passed: Option<u64>,
    /// When the caller took it.
    taken: Option<u64>,
}

/// What the probe was asked.
#[derive(Clone)]
pub(in crate::conformance) struct Request {
    pub(in crate::conformance) session: String,
    pub(in crate::conformance) prompt: String,
    /// Whether the typed map came along.
    pub(in crate::conformance) marked: bool,
}

impl ProbeLog {
    fn state(&self) -> MutexGuard<'_, State> {
        // A probe panics on purpose, though never while it holds this.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many services are ready and not called: what is reserved now.
    #[must_use]
    pub fn reserved(&self) -> usize {
        self.state().reserved
    }

    /// How often a service was made ready.
    #[must_use]
    pub fn reservations(&self) -> usize {
        self.state().reservations
    }

    /// How often the agent was called.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.state().calls
    }

    /// How often it was called although it was not ready.
    #[must_use]
    pub fn unready_calls(&self) -> usize {
        self.state().unready_calls
    }

    /// How many runs are alive: called, and not dropped.
    #[must_use]
    pub fn live_runs(&self) -> usize {
        self.state().live
    }

    /// How many runs were dropped before their end.
    #[must_use]
    pub fn dropped_runs(&self) -> usize {
        self.state().dropped
    }

    /// How many events were emitted.
    #[must_use]
    pub fn emitted(&self) -> usize {
        self.state().emitted.len()
    }

    /// How many events the caller took. Needs [`taking`](Self::taking).
    #[must_use]
    pub fn taken(&self) -> usize {
        let state = self.state();
        let taken = state.emitted.iter().filter(|event| event.taken.is_some());
        taken.count()
    }

    /// How often the agent went on after an event that its caller, who did get it, had
    /// not taken yet. Needs [`taking`](Self::taking).
    #[must_use]
    pub fn ran_ahead(&self) -> usize {
        self.ran_ahead_of(|_| true)
    }

    /// The same, of some events.
    pub(in crate::conformance) fn ran_ahead_of(&self, of: impl Fn(&AgentEvent) -> bool) -> usize {
        let state = self.state();
        let ahead = |it: &&Emitted| it.ran_ahead() && of(&it.event);
        state.emitted.iter().filter(ahead).count()
    }

    /// How many paid calls were made.
    #[must_use]
    pub fn paid_calls(&self) -> usize {
        self.state().paid
    }

    /// The prompts, in the order of the calls.
    #[must_use]
    pub fn prompts(&self) -> Vec<String> {
        let state = self.state();
        let prompts = state.requests.iter().map(|request| request.prompt.clone());
        prompts.collect()
    }

    /// Tells the log which events the reader of this stream takes. It has to be
    /// outermost.
    pub fn taking<St: Stream<Item = AgentEvent>>(&self, events: St) -> Taking<St> {
        Taking::new(events, self.clone())
    }

    pub(in crate::conformance) fn requests(&self) -> Vec<Request> {
        self.state().requests.clone()
    }

    pub(in crate::conformance) fn events(&self) -> Vec<Emitted> {
        self.state().emitted.clone()
    }

    /// The probe does not panic any more.
    pub(in crate::conformance) fn disarm(&self) {
        self.state().disarmed = true;
    }

    /// Panics, and counts it, unless disarmed. The panic hook is not called: a test that
    /// passes prints nothing, and a report is not lost among backtraces.
    pub(super) fn panic_if_due(&self, text: &'static str) {
        let mut state = self.state();
        if !state.disarmed {
            state.panics += 1;
            drop(state);
            panic::resume_unwind(Box::new(text));
        }
    }

    /// How often the probe panicked.
    #[must_use]
    pub fn panics(&self) -> usize {
        self.state().panics
    }

    pub(super) fn polls(&self) {
        self.state().now += 1;
    }

    pub(super) fn takes(&self, event: &AgentEvent) {
        let mut state = self.state();
        let now = state.now;
        let mut waiting = state.emitted.iter_mut().filter(|it| it.taken.is_none());
        if let Some(emitted) = waiting.find(|it| it.event == *event) {
            emitted.taken = Some(now);
        }
    }

    pub(super) fn reserves(&self) {
        let mut state = self.state();
        state.reserved += 1;
        state.reservations += 1;
    }

    pub(super) fn unreserves(&self) {
        self.state().reserved -= 1;
    }

    /// Returns the number of the call.
    pub(super) fn calls_now(&self, ready: bool, request: Request) -> usize {
        let mut state = self.state();
        state.calls += 1;
        state.unready_calls += usize::from(!ready);
        state.requests.push(request);
        state.calls
    }

    pub(super) fn begins(&self) {
        self.state().live += 1;
    }

    pub(super) fn ends(&self, finished: bool) {
        let mut state = self.state();
        state.live -= 1;
        state.dropped += usize::from(!finished);
    }

    pub(super) fn pays(&self) {
        self.state().paid += 1;
    }

    pub(super) fn emits(&self, run: usize, event: AgentEvent) {
        self.state().emitted.push(Emitted {
            event,
            run,
            passed: None,
            taken: None,
        });
    }

    /// A run is polled: it goes on after the last event that it emitted.
    pub(super) fn passes(&self, run: usize) {
        let mut state = self.state();
        let now = state.now;
        let mut of_run = state.emitted.iter_mut().rev().filter(|it| it.run == run);
        if let Some(last) = of_run.next() {
            last.passed.get_or_insert(now);
        }
    }
}

impl Emitted {
    fn ran_ahead(&self) -> bool {
        // Not taken: a layer withheld it, or cut the turn in its place.
        matches!((self.passed, self.taken), (Some(passed), Some(taken)) if passed <= taken)
    }
}

impl fmt::Debug for ProbeLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        f.debug_struct("ProbeLog")
            .field("reserved", &state.reserved)
            .field("calls", &state.calls)
            .field("live", &state.live)
            .field("dropped", &state.dropped)
            .field("emitted", &state.emitted.len())
            .field("paid", &state.paid)
            .finish_non_exhaustive()
    }
}
