//! No layer allocates for an event that it only hands on.

use std::{
    convert::Infallible,
    future::{Ready, ready},
    pin::Pin,
    task::{Context, Poll, Waker},
};

use futures_core::Stream;
use portcullis::{Agent, AgentEvent, AgentExt, Principal, Prompt, Scope, TurnLayer, from_fn};
use portcullis_layers::{
    auth::{self, AuthLayer},
    breaker::BreakerLayer,
    budget::{BudgetLayer, Limits, MemoryLedger, Meter, Window},
    catch::CatchLayer,
    concurrency::ConcurrencyLayer,
    conform::ConformLayer,
    fallback::FallbackLayer,
    guard::{Action, GuardLayer, Rules},
    metrics::MetricsLayer,
    optional::OptionalLayer,
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

const EVENTS: usize = 10_000;

/// Yields texts that were allocated before.
#[derive(Clone, Debug)]
struct Prepared(Vec<AgentEvent>);

#[derive(Debug)]
struct Texts(std::vec::IntoIter<AgentEvent>);

impl Service<(Scope, Prompt)> for Prepared {
    type Response = Texts;
    type Error = Infallible;
    type Future = Ready<Result<Texts, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: (Scope, Prompt)) -> Self::Future {
        ready(Ok(Texts(self.0.clone().into_iter())))
    }
}

impl Stream for Texts {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        Poll::Ready(self.0.next())
    }
}

/// A scope that `auth` lets in.
fn named() -> Scope {
    Scope::new("s").with_principal(Principal::new("user", "test", "a"))
}

/// Allocations while all but the first and the last events go through.
fn allocations<A: Agent + Clone>(agent: &A) -> u64 {
    let mut cx = Context::from_waker(Waker::noop());
    let mut turn = Box::pin(agent.invoke(named(), Prompt::text("p")));
    let mut kept = Vec::with_capacity(EVENTS + 1);
    let mut poll = |polls: usize| {
        let mut got = 0;
        for _ in 0..polls {
            if let Poll::Ready(Some(event)) = turn.as_mut().poll_next(&mut cx) {
                // Dropped later: only what a layer makes counts.
                kept.push(event);
                got += 1;
            }
        }
        got
    };
    // The hand-over of a script takes a poll more.
    let begun = poll(2);
    let counted = allocation_counter::measure(|| {
        assert_eq!(poll(EVENTS - 2), EVENTS - 2);
    });
    assert_eq!(
        begun + poll(4) + EVENTS - 2,
        EVENTS + 1,
        "and the terminal event"
    );
    counted.count_total
}

macro_rules! allocates_nothing {
    ($($name:ident: $layer:expr;)*) => {
        $(#[tokio::test(start_paused = true)]
        async fn $name() {
            let mut events = vec![AgentEvent::text(" word"); EVENTS];
            events.push(AgentEvent::completed());
            let agent = $layer.layer(Prepared(events));
            assert_eq!(allocations(&agent), 0);
        })*
    };
}

allocates_nothing! {
    bare: Identity::new();
    empty_turn: TurnLayer::new(|_: &mut Scope, _: &mut Prompt| ());
    empty_script: from_fn(async |scope, prompt, mut next: portcullis::Next<_>, _| {
        Ok(next.invoke(scope, prompt))
    });
    catch: CatchLayer::new();
    conform: ConformLayer::new();
    auth: AuthLayer::demand()
        .authorize_if(|who: &auth::Identity, _: &Scope, _: &Prompt| who.principal().subject() == "a");
    trace: TraceLayer::new();
    metrics: MetricsLayer::new();
    receipt: ReceiptLayer::new(|_: Receipt| {});
    timeout: TimeoutLayer::new(
        Clocks::new()
            .first_event(std::time::Duration::from_secs(5))
            .idle(std::time::Duration::from_secs(5))
            .total(std::time::Duration::from_secs(60)),
    )
    .unwrap();
    concurrency: ConcurrencyLayer::new(5);
    budgets: BudgetLayer::per_principal(
        MemoryLedger::new().lease(std::time::Duration::from_secs(60)),
        Limits::of(Meter::Tokens, 99_999).per(Window::HOUR),
    )
    .and_per_session(Limits::of(Meter::Bytes, 999_999))
    .and_per_turn(Limits::of(Meter::OutputTokens, 99_999));
    budget: BudgetLayer::per_session(MemoryLedger::new(), Limits::of(Meter::Tokens, 99_999))
        .and_per_turn(Limits::of(Meter::ToolCalls, 5));
    rate_limit: RateLimitLayer::new(Rate::per_second(5).unwrap());
    pace: RateLimitLayer::new(Rate::per_second(5).unwrap())
        .wait_at_most(std::time::Duration::from_secs(5));
    record: RecordLayer::new(|_: &[u8]| Ok::<(), Refused>(()));
    guard: GuardLayer::new(
        // The second one may begin with each word, and does not.
        Rules::new()
            .secrets(&Action::stop())
            .regex("wo[0-9]", Action::text("#"))
            .max_hold(std::time::Duration::from_secs(1)),
    )
    .unwrap();
    gate: SessionDesk::new().gate();
    window: SessionDesk::new().window();
    retry: RetryLayer::new(3);
    fallback: FallbackLayer::new("other", Prepared(Vec::new()));
    breaker: BreakerLayer::default();
    structured: StructuredLayer::new();
    passthrough: PassthroughLayer::new(Identity::new());
    stock: StockLayer::new(Identity::new());
    optional: OptionalLayer::new(Some(CatchLayer::new()));
}

/// The counter counts.
#[test]
fn the_counter_counts() {
    let counted = allocation_counter::measure(|| drop(Box::new([0_u8; 64])));
    assert_eq!(counted.count_total, 1);
}
