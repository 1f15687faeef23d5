//! tower's own layers, as the table in the module's docs says.

mod support;

use std::{
    convert::Infallible,
    future::{Ready, ready},
    task::{Context, Poll},
    time::Duration,
};

use futures_util::{FutureExt, StreamExt};
use portcullis::{AgentEvent, AgentExt, BoxEventStream, Failure, FailureCode, Prompt, Scope};
use portcullis_layers::{
    budget::{BudgetLayer, Limits, MemoryLedger, Meter},
    catch::Catch,
    concurrency::ConcurrencyLayer,
    raise::{RaiseLayer, RaiseStream},
    stock::StockLayer,
};
use tower::{
    BoxError, Layer, Service, ServiceBuilder,
    balance::p2c::Balance,
    buffer::BufferLayer,
    discover::ServiceList,
    layer::util::Identity,
    load::{CompleteOnResponse, Load, PendingRequests},
    load_shed::LoadShedLayer,
    retry::{Policy, RetryLayer},
    timeout::TimeoutLayer,
};

use support::*;

#[tokio::test(start_paused = true)]
async fn hands_on_everything() {
    assert_transparent(|actor| StockLayer::new(Identity::new()).layer(actor)).await;
    let layers = || {
        ServiceBuilder::new()
            .layer(LoadShedLayer::new())
            .layer(TimeoutLayer::new(secs(60)))
            .into_inner()
    };
    assert_transparent(|actor| StockLayer::new(layers()).layer(actor)).await;
    assert_drops(
        everything(),
        |actor| StockLayer::new(layers()).layer(actor),
        || true,
    )
    .await;
}

/// Row `Timeout`: it bounds the first visible event.
#[tokio::test(start_paused = true)]
async fn timeout_bounds_the_first_visible_event() {
    let timeout = || StockLayer::new(TimeoutLayer::new(secs(5)));
    let late = actor([used("call", 1, 1), Do::Wait(secs(6)), say("a"), done()]);
    let answer = events(&timeout().layer(late.clone())).await;
    assert_eq!(types(&answer), "failed");
    assert!(failure(&answer).is(&FailureCode::TIMEOUT) && failure(&answer).is_retryable());
    assert_eq!(late.seen.alive(), 0);
    // Behind that it runs no more.
    let slow = actor([Do::Wait(secs(4)), say("a"), Do::Wait(secs(60)), done()]);
    assert_eq!(
        types(&events(&timeout().layer(slow)).await),
        "text completed"
    );
    // Without `raise` it bounds the hand-over of the stream, which is at once.
    let late = actor([Do::Wait(secs(6)), say("a"), done()]);
    let agent = Catch::new(TimeoutLayer::new(secs(5)).layer(late));
    assert_eq!(types(&events(&agent).await), "text completed");
}

/// Is not ready while `busy`.
#[derive(Clone, Debug)]
struct Busy(Actor);

impl Service<(Scope, Prompt)> for Busy {
    type Response = Acting;
    type Error = Infallible;
    type Future = Ready<Result<Acting, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        if self.0.seen.alive() > 0 {
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: (Scope, Prompt)) -> Self::Future {
        self.0.call(request)
    }
}

/// Row `LoadShed`, with ruling 2: it sheds when what is below is itself not ready, and a
/// turn that runs counts.
#[tokio::test]
async fn load_shed_sheds_while_a_turn_runs() {
    let actor = actor([say("a"), Do::Hang]);
    let agent = StockLayer::new(LoadShedLayer::new()).layer(Busy(actor.clone()));
    let mut running = Box::pin(ask(&agent));
    assert_eq!(running.next().await, Some(AgentEvent::text("a")));
    let shed = events(&agent).await;
    assert!(failure(&shed).is(&FailureCode::OVERLOADED) && failure(&shed).is_retryable());
    assert_eq!(actor.seen.calls(), 1);
    drop(running);
    assert_eq!(
        Box::pin(ask(&agent)).next().await,
        Some(AgentEvent::text("a"))
    );
}

/// Row `LoadShed`: over our concurrency layer it sees nothing, since that is always ready; the
/// layer's own form sheds.
#[tokio::test]
async fn our_limit_sheds_by_itself() {
    let actor = actor([say("a"), Do::Hang]);
    let limited = ServiceBuilder::new()
        .layer(StockLayer::new(LoadShedLayer::new()))
        .layer(ConcurrencyLayer::new(1).shed())
        .service(actor);
    let mut running = Box::pin(ask(&limited));
    assert_eq!(running.next().await, Some(AgentEvent::text("a")));
    assert!(failure(&events(&limited).await).is(&FailureCode::OVERLOADED));
}

/// Row `Buffer`: dropping the turn still stops the agent.
#[tokio::test]
async fn buffer_keeps_the_turn_the_callers() {
    let actor = actor([say("a"), Do::Hang]);
    let agent = StockLayer::new(BufferLayer::new(8)).layer(actor.clone());
    let mut turn = Box::pin(ask(&agent));
    assert_eq!(turn.next().await, Some(AgentEvent::text("a")));
    assert_eq!(actor.seen.alive(), 1);
    drop(turn);
    assert_eq!(actor.seen.alive(), 0);
    let mut waiting = Box::pin(ask(&agent));
    assert!(waiting.next().now_or_never().is_none());
    drop(waiting);
    tokio::task::yield_now().await;
    assert_eq!(actor.seen.alive(), 0);
}

#[derive(Clone, Debug)]
struct Times(u32);

type Response = RaiseStream<Acting>;

impl Policy<(Scope, Prompt), Response, Failure> for Times {
    type Future = Ready<()>;

    fn retry(
        &mut self,
        _: &mut (Scope, Prompt),
        result: &mut Result<Response, Failure>,
    ) -> Option<Ready<()>> {
        let failed = result.as_ref().err().is_some_and(Failure::is_retryable);
        self.0 = self.0.checked_sub(u32::from(failed))?;
        failed.then(|| ready(()))
    }

    fn clone_request(&mut self, request: &(Scope, Prompt)) -> Option<(Scope, Prompt)> {
        Some(request.clone())
    }
}

/// Row `Retry`: it tries again while nothing was shown, and every attempt is paid for.
#[tokio::test]
async fn retry_tries_again_while_nothing_was_shown() {
    let flaky = actor([used("call", 1, 2), fail("busy", true)]).then([
        used("call", 10, 20),
        say("a"),
        done(),
    ]);
    let ledger = MemoryLedger::new();
    let budget = BudgetLayer::per_session(ledger.clone(), Limits::of(Meter::Tokens, 1000));
    let agent = ServiceBuilder::new()
        .layer(budget)
        .layer(StockLayer::new(RetryLayer::new(Times(3))))
        .service(flaky.clone());
    assert_eq!(types(&events(&agent).await), "usage text completed");
    assert_eq!(flaky.seen.calls(), 2);
    let account = portcullis_layers::budget::Account::session(&Scope::new("session"));
    assert_eq!(ledger.used(&account).of(Meter::Tokens), 33);
    assert_eq!(ledger.used(&account).of(Meter::ModelCalls), 2);

    // O-B03
    let shown = actor([say("Hel"), fail("busy", true)]);
    let agent = StockLayer::new(RetryLayer::new(Times(3))).layer(shown.clone());
    assert_eq!(types(&events(&agent).await), "text failed");
    assert_eq!(shown.seen.calls(), 1);

    // Without `raise` it never fires.
    let fails = actor([fail("busy", true)]);
    let agent = Catch::new(RetryLayer::new(Never).layer(fails.clone()));
    assert_eq!(types(&events(&agent).await), "failed");
    assert_eq!(fails.seen.calls(), 1);
}

/// Tries again whenever there is an error.
#[derive(Clone, Debug)]
struct Never;

impl<R> Policy<(Scope, Prompt), R, Infallible> for Never {
    type Future = Ready<()>;

    fn retry(
        &mut self,
        _: &mut (Scope, Prompt),
        result: &mut Result<R, Infallible>,
    ) -> Option<Ready<()>> {
        result.is_err().then(|| ready(()))
    }

    fn clone_request(&mut self, request: &(Scope, Prompt)) -> Option<(Scope, Prompt)> {
        Some(request.clone())
    }
}

#[tokio::test]
async fn an_exhausted_retry_gives_the_last_failure() {
    let fails = actor([fail("busy", true)]);
    let agent = StockLayer::new(RetryLayer::new(Times(2))).layer(fails.clone());
    let answer = events(&agent).await;
    assert_eq!(failure(&answer), &Failure::new("busy").retryable(true));
    assert_eq!(fails.seen.calls(), 3);
}

/// Counts the turns that run as load, to their end.
#[derive(Clone, Debug)]
struct Loaded(Actor);

impl Load for Loaded {
    type Metric = usize;

    fn load(&self) -> usize {
        self.0.seen.alive()
    }
}

impl Service<(Scope, Prompt)> for Loaded {
    type Response = Acting;
    type Error = Infallible;
    type Future = Ready<Result<Acting, Infallible>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: (Scope, Prompt)) -> Self::Future {
        self.0.call(request)
    }
}

/// Row `Balance`, with ruling 2: beside `Stock`, over many agents, with load that counts to the end of
/// the stream.
#[tokio::test]
async fn balance_counts_turns_that_run() {
    let agents = [(); 2].map(|()| actor([say("a"), Do::Hang]));
    let balance = Balance::new(ServiceList::new::<(Scope, Prompt)>(
        agents.clone().map(Loaded),
    ));
    let balance = tower::buffer::Buffer::new(balance, 32);
    let agent = Catch::new(balance);
    let mut running = Vec::new();
    for _ in 0..10 {
        let mut turn = Box::pin(ask(&agent));
        assert_eq!(turn.next().await, Some(AgentEvent::text("a")));
        running.push(turn);
    }
    assert_eq!(agents.each_ref().map(|agent| agent.seen.alive()), [5, 5]);
    running.clear();
    assert_eq!(agents.each_ref().map(|agent| agent.seen.alive()), [0, 0]);

    // Completing at the response counts nothing: the turn runs on.
    let mut pending = PendingRequests::new(agents[0].clone(), CompleteOnResponse::default());
    let mut turn = pending
        .call((Scope::new("s"), Prompt::text("p")))
        .await
        .unwrap();
    assert_eq!(turn.next().await, Some(AgentEvent::text("a")));
    assert_eq!(agents[0].seen.alive(), 1);
    assert_eq!(
        tower::load::pending_requests::Count::default(),
        pending.load()
    );
}

/// A stack of `Stock` is an agent again, whatever errors its layers have.
#[tokio::test]
async fn errors_never_leave_it() {
    #[derive(Clone)]
    struct Refuses;

    type Refusing = fn((Scope, Prompt)) -> Ready<Result<BoxEventStream, BoxError>>;

    impl<S> Layer<S> for Refuses {
        type Service = tower::util::ServiceFn<Refusing>;

        fn layer(&self, _: S) -> Self::Service {
            tower::service_fn(|_| ready(Err(BoxError::from("refused"))))
        }
    }
    let agent = StockLayer::new(Refuses).layer(actor([done()])).boxed();
    assert!(failure(&events(&agent).await).is(&FailureCode::INTERNAL));
    // Nested, ids of usage stay apart.
    let flaky = actor([used("call", 1, 0), fail("a", true)])
        .then([used("call", 1, 0), fail("b", true)])
        .then([used("call", 1, 0), say("a"), done()]);
    let ledger = MemoryLedger::new();
    let agent = ServiceBuilder::new()
        .layer(BudgetLayer::per_session(
            ledger.clone(),
            Limits::of(Meter::ModelCalls, 100),
        ))
        .layer(StockLayer::new(OuterRetry))
        .layer(StockLayer::new(RetryLayer::new(Times(1))))
        .service(flaky);
    assert_eq!(types(&events(&agent).await), "usage text completed");
    let account = portcullis_layers::budget::Account::session(&Scope::new("session"));
    assert_eq!(ledger.used(&account).of(Meter::ModelCalls), 3);
}

#[derive(Clone, Debug)]
struct OuterRetry;

impl<S: Clone> Layer<S> for OuterRetry {
    type Service = tower::retry::Retry<AnyTimes, S>;

    fn layer(&self, inner: S) -> Self::Service {
        tower::retry::Retry::new(AnyTimes, inner)
    }
}

#[derive(Clone, Debug)]
struct AnyTimes;

impl<R> Policy<(Scope, Prompt), R, Failure> for AnyTimes {
    type Future = Ready<()>;

    fn retry(
        &mut self,
        _: &mut (Scope, Prompt),
        result: &mut Result<R, Failure>,
    ) -> Option<Ready<()>> {
        result.is_err().then(|| ready(()))
    }

    fn clone_request(&mut self, request: &(Scope, Prompt)) -> Option<(Scope, Prompt)> {
        Some(request.clone())
    }
}

#[tokio::test(start_paused = true)]
async fn raising_is_configured() {
    let part = [used("call", 1, 1), fail("no", true)];
    let layers = StockLayer::new(TimeoutLayer::new(Duration::from_secs(1)))
        .raise(RaiseLayer::new().hold_back(0));
    assert_eq!(
        types(&events(&layers.layer(actor(part))).await),
        "usage failed"
    );
}
