//! The kit is tested itself: an agent, a consumer and a layer that conform, and broken
//! ones that differ from them by one line each. The kit catches each by exactly the check
//! that is named for it. Cites known-faults O-B06, O-B10, O-B13, O-D02.
#![cfg(feature = "conformance")]

use std::{
    collections::BTreeSet,
    convert::Infallible,
    future::{Ready, poll_fn, ready},
    mem::{forget, take},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker, ready},
    time::Duration,
};

use futures_core::Stream;
use futures_util::StreamExt;
use portcullis::{
    Agent, AgentEvent, BoxEventStream, Completed, Emitter, Failure, Flow, Json, Outbox, Prompt,
    Scope, Turn, TurnLayer, agent_fn_with,
    conformance::{AnyLayer, Check, LayerOptions, ProbeAgent, Report, suite},
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    task::JoinSet,
};
use tower::{Layer, Service, layer::layer_fn};

/// What is broken, if anything.
type Broken = Option<Check>;

/// Whom a check looks at.
#[derive(Clone, Copy, Debug)]
enum Suite {
    Agent,
    Consumer,
    Layer,
    Portable,
}

/// No check without a mutant: a new one does not compile before it has an arm here.
const fn suites_of(check: Check) -> &'static [Suite] {
    match check {
        Check::EndsWithTerminal | Check::NothingAfterTerminal | Check::Wakes => {
            &[Suite::Agent, Suite::Layer]
        }
        Check::NoPanic => &[Suite::Agent, Suite::Consumer, Suite::Layer],
        Check::DropStops => &[Suite::Agent],
        Check::IgnoresUnknown | Check::KeepsThinkingApart => &[Suite::Consumer],
        Check::Portable => &[Suite::Portable],
        Check::PassesUnknown
        | Check::KeepsKnown
        | Check::KeepsOrder
        | Check::InsertsNothing
        | Check::EndsNoTurns
        | Check::DropReaches
        | Check::FreeAtTerminal
        | Check::ReturnsPermits
        | Check::ReservesNothing
        | Check::CallsWhenReady
        | Check::NothingAhead
        | Check::HearsPanics
        | Check::PassesRequest
        | Check::PassesSink => &[Suite::Layer],
    }
}

async fn run(suite: Suite, broken: Broken) -> Report {
    match suite {
        Suite::Agent => suite::agent(|| Engine { broken }, ["tell me", "fail"]).await,
        Suite::Consumer => suite::consumer(async |events| consume(broken, events).await).await,
        Suite::Layer => suite::layer(|| relay(broken), LayerOptions::new()).await,
        Suite::Portable => {
            let make_agent = |store: &Store| memory(broken, store);
            suite::portable(Store::default, make_agent, ["one", "two", "three"]).await
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_conforms_passes() {
    for suite in [Suite::Agent, Suite::Consumer, Suite::Layer, Suite::Portable] {
        let report = run(suite, None).await;
        assert!(report.turns() > 3, "{suite:?}: {report}");
        report.assert();
    }
}

#[tokio::test(start_paused = true)]
async fn each_mutant_is_caught_by_the_check_that_is_named_for_it() {
    for check in Check::ALL {
        for suite in suites_of(*check) {
            let report = run(*suite, Some(*check)).await;
            let expected = BTreeSet::from([*check]);
            assert_eq!(report.failed(), expected, "{check} of {suite:?}: {report}");
            let first = report.breaches()[0].to_string();
            assert!(first.starts_with(check.as_str()), "{first}");
            assert!(first.contains(check.promise()), "{first}");
        }
    }
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "passes-unknown: \"every kind of event\"")]
async fn a_report_says_what_where_and_why() {
    run(Suite::Layer, Some(Check::PassesUnknown)).await.assert();
}

/// A layer that spends too much shows, where it says how much it allows.
#[tokio::test(start_paused = true)]
async fn a_layer_is_held_to_what_it_allows() {
    let options = LayerOptions::new().paid_calls_at_most(3);
    let report = suite::layer(|| relay(None), options).await;
    assert_eq!(report.failed(), BTreeSet::from([Check::NothingAhead]));
}

/// A budget of two: it cuts at the event that spends it, or one event late.
#[derive(Clone, Copy)]
struct Spend {
    left: usize,
    late: bool,
}

impl Turn for Spend {
    fn on_event(&mut self, event: &mut AgentEvent, out: &mut Outbox) -> Flow {
        let spent = self.left == 0;
        if let AgentEvent::Usage(_) = event {
            self.left = self.left.saturating_sub(1);
        }
        if if self.late { spent } else { self.left == 0 } {
            out.fail(Failure::new("spent"));
        }
        Flow::Forward
    }
}

#[tokio::test(start_paused = true)]
async fn a_cut_that_comes_one_event_late_is_caught() {
    for (late, expected) in [(false, vec![]), (true, vec![Check::NothingAhead])] {
        let spend = Spend { left: 2, late };
        let layer = || TurnLayer::new(move |_: &mut Scope, _: &mut Prompt| spend);
        let report = suite::layer(layer, LayerOptions::new().paid_calls_at_most(1)).await;
        assert_eq!(report.failed(), BTreeSet::from_iter(expected), "{report}");
    }
}

/// A permit that is held until the stream is dropped (O-B06): the agent is gone, and
/// still nobody else gets in.
#[tokio::test(start_paused = true)]
async fn a_permit_that_outlives_the_terminal_event_is_caught() {
    let layer = || {
        let places = Arc::new(Semaphore::new(1));
        layer_fn(move |inner: ProbeAgent| Relay {
            inner,
            places: Arc::clone(&places),
            broken: None,
            keeps_permit: true,
        })
    };
    let report = suite::layer(layer, LayerOptions::new()).await;
    assert_eq!(
        report.failed(),
        BTreeSet::from([Check::FreeAtTerminal]),
        "{report}"
    );
}

/// The table of all ordered pairs finds what is wrong with one of its layers, and names
/// the pair.
#[tokio::test(start_paused = true)]
async fn the_matrix_names_the_pair() {
    type Entry = (&'static str, fn() -> AnyLayer, LayerOptions);
    let watch: Entry = (
        "watch",
        || AnyLayer::new(TurnLayer::new(|_: &mut Scope, _: &mut Prompt| ())),
        LayerOptions::new(),
    );
    let deaf: Entry = (
        "deaf",
        || AnyLayer::new(TurnLayer::new(|_: &mut Scope, _: &mut Prompt| Deaf)),
        LayerOptions::new(),
    );
    suite::matrix(&[watch, watch]).await.assert();
    let report = suite::matrix(&[watch, deaf]).await;
    assert_eq!(
        report.failed(),
        BTreeSet::from([Check::PassesUnknown]),
        "{report}"
    );
    let pairs = ["watch around deaf", "deaf around watch", "deaf around deaf"];
    for breach in report.breaches() {
        assert!(
            pairs.iter().any(|pair| breach.scenario().starts_with(pair)),
            "{breach}"
        );
    }
}

/// Withholds what it does not know.
struct Deaf;

impl Turn for Deaf {
    fn on_event(&mut self, event: &mut AgentEvent, _out: &mut Outbox) -> Flow {
        match event {
            AgentEvent::Extension(_) => Flow::Skip,
            _ => Flow::Forward,
        }
    }
}

/// What a layer does on purpose is no breach once it is declared.
#[tokio::test(start_paused = true)]
async fn what_is_declared_is_no_breach() {
    let declared = [
        (Check::KeepsKnown, LayerOptions::new().edits_events()),
        (Check::InsertsNothing, LayerOptions::new().inserts_events()),
        (Check::EndsNoTurns, LayerOptions::new().ends_turns()),
        (Check::PassesRequest, LayerOptions::new().edits_requests()),
    ];
    for (check, options) in declared {
        suite::layer(|| relay(Some(check)), options).await.assert();
    }
}

/// The suites are about virtual time; on a clock that runs they would wait for days.
#[tokio::test]
#[should_panic(expected = "start_paused = true")]
async fn a_clock_that_runs_is_refused() {
    let _ = suite::layer(|| relay(None), LayerOptions::new()).await;
}

// The agent.

#[derive(Clone)]
struct Engine {
    broken: Broken,
}

impl Service<(Scope, Prompt)> for Engine {
    type Response = Events;
    type Error = Infallible;
    type Future = Ready<Result<Events, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, (_, prompt): (Scope, Prompt)) -> Self::Future {
        let mut tool = JoinSet::new();
        tool.spawn(tokio::time::sleep(Duration::from_secs(5)));
        if self.broken == Some(Check::DropStops) {
            tool.detach_all();
        }
        let fails = prompt.as_text() == "fail";
        let mut events = vec![AgentEvent::text("a")];
        events.push(match fails {
            true => Failure::new("no").into(),
            false => AgentEvent::completed(),
        });
        match self.broken {
            Some(Check::EndsWithTerminal) => drop(events.pop()),
            Some(Check::NothingAfterTerminal) => events.push(AgentEvent::text("late")),
            _ => {}
        }
        ready(Ok(Events {
            events: events.into_iter(),
            tool,
            broken: self.broken,
        }))
    }
}

struct Events {
    events: std::vec::IntoIter<AgentEvent>,
    tool: JoinSet<()>,
    broken: Broken,
}

impl Stream for Events {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        let mut noop = Context::from_waker(Waker::noop());
        let cx = if self.broken == Some(Check::Wakes) {
            &mut noop
        } else {
            cx
        };
        while let Some(tool) = ready!(self.tool.poll_join_next(cx)) {
            tool.expect("no panic");
        }
        let event = self.events.next();
        if let (Some(Check::NoPanic), Some(AgentEvent::Failed(failure))) = (self.broken, &event) {
            panic!("{failure}");
        }
        Poll::Ready(event)
    }
}

// The consumer.

async fn consume(broken: Broken, mut events: BoxEventStream) -> (String, Option<Json>, bool) {
    let mut text = String::new();
    while let Some(event) = events.next().await {
        match event {
            AgentEvent::Text(piece) => text.push_str(piece.delta()),
            AgentEvent::Completed(completed) => {
                return (text, Completed::into_data(completed), true);
            }
            AgentEvent::Failed(failure) if broken == Some(Check::NoPanic) => panic!("{failure}"),
            AgentEvent::Failed(_) => return (text, None, false),
            AgentEvent::Thinking(piece) if broken == Some(Check::KeepsThinkingApart) => {
                text.push_str(piece.delta());
            }
            AgentEvent::Extension(_) if broken == Some(Check::IgnoresUnknown) => break,
            _ => {}
        }
    }
    (text, None, false)
}

// The agent that remembers.

type Store = Arc<Mutex<Vec<String>>>;

fn memory(broken: Broken, store: &Store) -> impl Agent + Clone + use<> {
    let memory = match broken {
        Some(Check::Portable) => Store::default(),
        _ => Arc::clone(store),
    };
    agent_fn_with(
        memory,
        async |memory: Store, _: Scope, prompt: Prompt, out: Emitter| {
            let said = {
                let mut said = memory.lock().expect("not poisoned");
                said.push(prompt.as_text().to_owned());
                said.join(", ")
            };
            out.emit(AgentEvent::text(said)).await;
            Ok(())
        },
    )
}

// The layer: one turn at a time.

fn relay(broken: Broken) -> impl Layer<ProbeAgent, Service = Relay<ProbeAgent>> {
    let places = Arc::new(Semaphore::new(1));
    layer_fn(move |inner| Relay {
        inner,
        places: Arc::clone(&places),
        broken,
        keeps_permit: false,
    })
}

#[derive(Clone)]
struct Relay<S> {
    inner: S,
    places: Arc<Semaphore>,
    broken: Broken,
    keeps_permit: bool,
}

/// The same scope, except that nobody hears of usage.
fn without_sink(scope: &Scope) -> Scope {
    let mut other = Scope::new(scope.session());
    *other.extensions_mut() = scope.extensions().clone();
    other
}

impl<S> Service<(Scope, Prompt)> for Relay<S>
where
    S: Agent<Response: Unpin> + Clone + 'static,
{
    type Response = Relayed<S::Response>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, (mut scope, mut prompt): (Scope, Prompt)) -> Self::Future {
        let (mut inner, broken) = (self.inner.clone(), self.broken);
        let places = Arc::clone(&self.places);
        match broken {
            Some(Check::PassesRequest) => prompt.text_mut().push('!'),
            Some(Check::PassesSink) => scope = without_sink(&scope),
            _ => {}
        }
        let start = async move {
            if broken == Some(Check::ReservesNothing) {
                let Ok(()) = poll_fn(|cx| inner.poll_ready(cx)).await;
            }
            let permit = places.acquire_owned().await.expect("never closed");
            if broken != Some(Check::CallsWhenReady) {
                let Ok(()) = poll_fn(|cx| inner.poll_ready(cx)).await;
            }
            let call = inner.call((scope, prompt));
            drop(inner);
            let Ok(events) = call.await;
            (events, permit)
        };
        ready(Ok(Relayed {
            start: Some(Box::pin(start)),
            below: None,
            permit: None,
            next: Vec::new(),
            ahead: None,
            greeted: false,
            over: false,
            broken,
            keeps_permit: self.keeps_permit,
        }))
    }
}

type Start<St> = Pin<Box<dyn Future<Output = (St, OwnedSemaphorePermit)>>>;

struct Relayed<St> {
    start: Option<Start<St>>,
    below: Option<St>,
    permit: Option<OwnedSemaphorePermit>,
    /// Leaves before anything else.
    next: Vec<AgentEvent>,
    /// What was read too early.
    ahead: Option<Poll<Option<AgentEvent>>>,
    greeted: bool,
    over: bool,
    broken: Broken,
    keeps_permit: bool,
}

impl<St: Stream<Item = AgentEvent> + Unpin> Relayed<St> {
    fn poll_below(&mut self, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        let mut noop = Context::from_waker(Waker::noop());
        let cx = if self.broken == Some(Check::Wakes) {
            &mut noop
        } else {
            cx
        };
        let Some(below) = &mut self.below else {
            return Poll::Ready(None);
        };
        if self.broken != Some(Check::HearsPanics) {
            return Pin::new(below).poll_next(cx);
        }
        let polled = catch_unwind(AssertUnwindSafe(|| Pin::new(below).poll_next(cx)));
        polled.unwrap_or(Poll::Ready(None))
    }
}

impl<St: Stream<Item = AgentEvent> + Unpin> Stream for Relayed<St> {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        if let Some(start) = &mut self.start {
            let (below, permit) = ready!(start.as_mut().poll(cx));
            self.start = None;
            self.below = Some(below);
            self.permit = Some(permit);
        }
        if self.broken == Some(Check::InsertsNothing) && !std::mem::replace(&mut self.greeted, true)
        {
            return Poll::Ready(Some(AgentEvent::thinking("here we go")));
        }
        if let Some(event) = self.next.pop() {
            return Poll::Ready(Some(event));
        }
        loop {
            let polled = match self.ahead.take() {
                Some(Poll::Ready(event)) => Poll::Ready(event),
                _ => self.poll_below(cx),
            };
            let Some(event) = ready!(polled) else {
                self.below = None;
                self.permit = None;
                return Poll::Ready(None);
            };
            if event.is_terminal() {
                self.over = true;
                if self.broken != Some(Check::FreeAtTerminal) {
                    self.below = None;
                }
                if self.below.is_none() && !self.keeps_permit {
                    self.permit = None;
                }
            }
            match (self.broken, &event) {
                (Some(Check::EndsWithTerminal), AgentEvent::Completed(_)) => {
                    return Poll::Ready(None);
                }
                (Some(Check::NothingAfterTerminal), AgentEvent::Completed(_)) => {
                    self.next.push(AgentEvent::text("by the way"));
                }
                (Some(Check::EndsNoTurns), AgentEvent::Text(_)) => {
                    self.below = None;
                    self.permit = None;
                    self.over = true;
                    self.next.push(AgentEvent::Failed(Failure::new("enough")));
                }
                (Some(Check::NoPanic), AgentEvent::Failed(failure)) => panic!("{failure}"),
                (Some(Check::PassesUnknown), AgentEvent::Extension(_)) => continue,
                (Some(Check::KeepsKnown), AgentEvent::Thinking(_)) => continue,
                (Some(Check::KeepsOrder), AgentEvent::Text(text)) if text.delta() == "b " => {
                    self.next.push(event);
                    return self.poll_below(cx);
                }
                (Some(Check::NothingAhead), _) if !self.over => {
                    self.ahead = Some(self.poll_below(cx));
                }
                _ => {}
            }
            return Poll::Ready(Some(event));
        }
    }
}

impl<St> Drop for Relayed<St> {
    fn drop(&mut self) {
        match self.broken {
            Some(Check::DropReaches) => forget(self.below.take()),
            Some(Check::ReturnsPermits) if !self.over => forget(self.permit.take()),
            _ => {}
        }
        // Below first, then the permit.
        drop(take(&mut self.start));
        drop(self.below.take());
    }
}
