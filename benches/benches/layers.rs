//! What a layer costs: a call, and an event on the pass-through path.
//!
//! Each turn has a thousand events that were allocated before; the figure of a bench is one
//! turn, so that nanoseconds an event are microseconds a turn. `turn` has one event: what
//! it adds to `bare` is the cost of a call.

use std::{
    convert::Infallible,
    future::{Ready, ready},
    hint::black_box,
    pin::Pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use futures_core::Stream;
use portcullis::{
    Agent, AgentEvent, AgentExt, BoxAgent, Completed, Emitter, Failure, Finish, Next, Policy,
    PolicyLayer, Principal, Prompt, Scope, Script, ScriptLayer, TurnLayer,
};
use portcullis_layers::{
    auth::AuthLayer,
    breaker::BreakerLayer,
    budget::{BudgetLayer, Limits, MemoryLedger, Meter},
    catch::CatchLayer,
    concurrency::ConcurrencyLayer,
    conform::ConformLayer,
    fallback::FallbackLayer,
    guard::{Action, GuardLayer, Rules},
    metrics::MetricsLayer,
    passthrough::PassthroughLayer,
    rate_limit::{Rate, RateLimitLayer},
    receipt::{Receipt, ReceiptLayer},
    record::{RecordLayer, Refused},
    retry::RetryLayer,
    session::SessionDesk,
    stock::StockLayer,
    structured::StructuredLayer,
    timeout::{Clocks, TimeoutLayer},
    trace::TraceLayer,
};
use tower::{Layer, Service, layer::util::Identity};

/// Yields `events` empty texts, and completes.
#[derive(Clone, Debug)]
struct Source {
    events: usize,
}

#[derive(Debug)]
struct Events(usize);

impl Service<(Scope, Prompt)> for Source {
    type Response = Events;
    type Error = Infallible;
    type Future = Ready<Result<Events, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: (Scope, Prompt)) -> Self::Future {
        ready(Ok(Events(self.events)))
    }
}

impl Stream for Events {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        Poll::Ready(match self.0.checked_sub(1) {
            Some(left) => {
                self.0 = left;
                // Not known to be empty, and no allocation.
                Some(AgentEvent::text(black_box(String::new())))
            }
            None => Some(AgentEvent::Completed(Completed::new())),
        })
    }
}

/// Admits everybody.
#[derive(Clone, Debug)]
struct Everybody;

impl Policy for Everybody {
    type Turn = ();
    type Admit = Ready<Result<(Scope, Prompt, ()), Failure>>;

    fn admit(&self, scope: Scope, prompt: Prompt) -> Self::Admit {
        ready(Ok((scope, prompt, ())))
    }
}

/// Hands over at once.
#[derive(Clone, Debug)]
struct HandsOver;

impl<S> Script<S> for HandsOver
where
    S: Agent<Future: Send, Response: Send> + Clone + Send + Sync + 'static,
{
    async fn run(
        self,
        scope: Scope,
        prompt: Prompt,
        mut next: Next<S>,
        _: Emitter,
    ) -> Result<Finish<S>, Failure> {
        Ok(next.invoke(scope, prompt).into())
    }
}

const EVENTS: usize = 1_000;

fn read<A: Agent + Clone>(agent: &A, scope: Scope, prompt: Prompt) -> usize {
    let mut cx = Context::from_waker(Waker::noop());
    let mut turn = std::pin::pin!(agent.invoke(scope, prompt));
    let mut events = 0;
    while let Poll::Ready(Some(event)) = turn.as_mut().poll_next(&mut cx) {
        black_box(&event);
        events += 1;
    }
    events
}

/// A scope that `auth` lets in.
fn named() -> Scope {
    Scope::new("session").with_principal(Principal::new("user", "test", "a"))
}

fn measure<L>(c: &mut Criterion, group: &str, name: &str, layer: L)
where
    L: Layer<Source, Service: Agent + Clone>,
{
    for (kind, events) in [("stream", EVENTS), ("turn", 0)] {
        let agent = layer.layer(Source { events });
        let mut group = c.benchmark_group(format!("{group}/{kind}"));
        group.throughput(Throughput::Elements(events as u64 + 1));
        group.bench_function(BenchmarkId::from_parameter(name), |b| {
            b.iter_batched(
                || (named(), Prompt::text("hello")),
                |(scope, prompt)| assert_eq!(read(&agent, scope, prompt), events + 1),
                BatchSize::SmallInput,
            );
        });
        group.finish();
    }
}

fn empty_turn() -> TurnLayer<fn(&mut Scope, &mut Prompt)> {
    TurnLayer::new(|_, _| ())
}

fn empty_policy() -> PolicyLayer<Everybody> {
    PolicyLayer::new(Everybody)
}

fn empty_script() -> ScriptLayer<HandsOver> {
    ScriptLayer::new(HandsOver)
}

macro_rules! times {
    ($layer:expr; 5) => {
        ($layer, $layer, $layer, $layer, $layer)
    };
    ($layer:expr; 10) => {
        (
            $layer, $layer, $layer, $layer, $layer, $layer, $layer, $layer, $layer, $layer,
        )
    };
}

/// Each layer boxed, as a stack from a configuration is.
struct Boxed<L>(L, usize);

impl<L> Layer<Source> for Boxed<L>
where
    L: Layer<BoxAgent>,
    L::Service: Agent<Future: Send, Response: Send> + Clone + Send + Sync + 'static,
{
    type Service = BoxAgent;

    fn layer(&self, inner: Source) -> BoxAgent {
        (0..self.1).fold(inner.boxed(), |agent, _| self.0.layer(agent).boxed())
    }
}

fn shapes(c: &mut Criterion) {
    measure(c, "generic", "bare", Identity::new());
    measure(c, "generic", "turn x1", empty_turn());
    measure(c, "generic", "turn x5", times!(empty_turn(); 5));
    measure(c, "generic", "turn x10", times!(empty_turn(); 10));
    measure(c, "generic", "policy x1", empty_policy());
    measure(c, "generic", "policy x5", times!(empty_policy(); 5));
    measure(c, "generic", "policy x10", times!(empty_policy(); 10));
    measure(c, "generic", "script x1", empty_script());
    measure(c, "generic", "script x5", times!(empty_script(); 5));
    measure(c, "generic", "script x10", times!(empty_script(); 10));
    for layers in [0, 1, 5, 10] {
        measure(
            c,
            "boxed",
            &format!("turn x{layers}"),
            Boxed(empty_turn(), layers),
        );
        measure(
            c,
            "boxed",
            &format!("policy x{layers}"),
            Boxed(empty_policy(), layers),
        );
        measure(
            c,
            "boxed",
            &format!("script x{layers}"),
            Boxed(empty_script(), layers),
        );
    }
}

/// The goal is 2.5 microseconds for a hundred events.
fn boxed_stack(c: &mut Criterion) {
    let agent = Boxed(empty_turn(), 10).layer(Source { events: 100 });
    c.bench_function("boxed/ten layers, a hundred events", |b| {
        b.iter_batched(
            || (Scope::new("session"), Prompt::text("hello")),
            |(scope, prompt)| assert_eq!(read(&agent, scope, prompt), 101),
            BatchSize::SmallInput,
        );
    });
}

fn shipped(c: &mut Criterion) {
    // tokio's clock is asked only when somebody waits.
    let clocks = Clocks::new()
        .first_event(Duration::from_secs(20))
        .idle(Duration::from_secs(60))
        .total(Duration::from_secs(600));
    let budget = BudgetLayer::per_session(MemoryLedger::new(), Limits::of(Meter::Tokens, u64::MAX))
        .and_per_turn(Limits::of(Meter::ToolCalls, 8));
    measure(c, "shipped", "catch", CatchLayer::new());
    measure(c, "shipped", "auth", AuthLayer::demand());
    measure(c, "shipped", "conform", ConformLayer::new());
    measure(c, "shipped", "trace", TraceLayer::new());
    measure(c, "shipped", "metrics", MetricsLayer::new());
    measure(c, "shipped", "receipt", ReceiptLayer::new(|_: Receipt| {}));
    measure(
        c,
        "shipped",
        "timeout",
        TimeoutLayer::new(clocks).expect("three clocks"),
    );
    measure(c, "shipped", "concurrency", ConcurrencyLayer::new(64));
    measure(c, "shipped", "budget", budget);
    let rate = Rate::per_second(1_000_000).expect("a rate");
    let limit = RateLimitLayer::per_session(rate);
    measure(c, "shipped", "rate_limit", limit.clone());
    let paced = limit.wait_at_most(Duration::from_secs(1));
    measure(c, "shipped", "rate_limit that waits", paced);
    // What it writes is thrown away: a copy more is what a sink costs.
    let record = RecordLayer::new(|_: &[u8]| Ok::<(), Refused>(()));
    measure(c, "shipped", "record", record);
    measure(
        c,
        "shipped",
        "guard",
        GuardLayer::new(Rules::new().secrets(&Action::stop())).expect("seven rules"),
    );
    let desk = SessionDesk::new();
    measure(c, "shipped", "session gate", desk.gate());
    measure(c, "shipped", "session window", desk.window());
    measure(c, "shipped", "retry", RetryLayer::new(2));
    let other = Source { events: 0 };
    measure(c, "shipped", "fallback", FallbackLayer::new("other", other));
    measure(c, "shipped", "breaker", BreakerLayer::default());
    measure(c, "shipped", "structured", StructuredLayer::new());
    measure(
        c,
        "shipped",
        "passthrough",
        PassthroughLayer::new(Identity::new()),
    );
    measure(c, "shipped", "stock", StockLayer::new(Identity::new()));
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(30);
    targets = shapes, boxed_stack, shipped
}
criterion_main!(benches);
