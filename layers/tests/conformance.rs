//! The contract's kit: every layer alone and in every ordered pair, each in a
//! configuration in which it acts.

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::{FutureExt, StreamExt};
use portcullis::{
    AgentEvent, BoxAgent, Flow, Json, MakeTurn, Outbox, Prompt, Scope, SessionControl, Turn,
    TurnLayer,
    conformance::{AnyLayer, Check, LayerOptions, ProbeAgent, pair, suite},
};
use portcullis_layers::{
    auth::{AuthError, AuthLayer, Credentials, Identity, Verifier, verify_fn},
    breaker::{BreakerLayer, Settings},
    budget::{BudgetLayer, Limits, MemoryLedger, Meter, Window},
    catch::CatchLayer,
    concurrency::ConcurrencyLayer,
    conform::ConformLayer,
    fallback::FallbackLayer,
    guard::{Action, GuardLayer, Rules},
    metrics::MetricsLayer,
    optional::OptionalLayer,
    passthrough::PassthroughLayer,
    raise::RaiseLayer,
    rate_limit::{Rate, RateLimitLayer},
    receipt::{Receipt, ReceiptLayer},
    record::RecordLayer,
    retry::RetryLayer,
    session::{GateLayer, SessionDesk, WindowLayer},
    stock::StockLayer,
    structured::StructuredLayer,
    timeout::{Clocks, TimeoutLayer},
    trace::TraceLayer,
};
use tower::{Layer, layer::util::Stack};

use support::*;

/// A layer of somebody who knows the core events only.
struct KnowsTheCore;

impl Turn for KnowsTheCore {
    fn on_event(&mut self, event: &mut AgentEvent, _: &mut Outbox) -> Flow {
        match event {
            AgentEvent::Extension(_) => Flow::Skip,
            _ => Flow::Forward,
        }
    }
}

#[derive(Clone, Debug)]
struct OnceMore(u32);

impl<R> tower::retry::Policy<(Scope, Prompt), R, portcullis::Failure> for OnceMore {
    type Future = std::future::Ready<()>;

    fn retry(
        &mut self,
        _: &mut (Scope, Prompt),
        result: &mut Result<R, portcullis::Failure>,
    ) -> Option<Self::Future> {
        result.as_ref().err().filter(|error| error.is_retryable())?;
        self.0 = self.0.checked_sub(1)?;
        Some(std::future::ready(()))
    }

    fn clone_request(&mut self, request: &(Scope, Prompt)) -> Option<(Scope, Prompt)> {
        Some(request.clone())
    }
}

macro_rules! table {
    ($($name:ident: $options:expr, $layer:expr;)*) => {
        /// Alone, with its own type and readiness.
        mod alone {
            use super::*;

            $(#[tokio::test(start_paused = true)]
            async fn $name() {
                // Somebody listens, else a span is none.
                let (_log, _guard) = Log::start();
                suite::layer(|| $layer, $options).await.assert();
            })*
        }

        /// Outermost, with each of all below.
        mod outside {
            use super::*;

            $(#[tokio::test(start_paused = true)]
            async fn $name() {
                for (name, options, inner) in all() {
                    let (log, _guard) = Log::start();
                    let report = suite::layer(
                        || pair(AnyLayer::new($layer), inner()),
                        ($options).and(options),
                    );
                    let report = report.await;
                    assert!(report.breaches().is_empty(), "{} around {name}: {report}", stringify!($name));
                    assert_eq!(log.open_spans(), 0, "{} around {name}", stringify!($name));
                }
            })*
        }

        fn all() -> Vec<(&'static str, LayerOptions, fn() -> AnyLayer)> {
            vec![$((stringify!($name), $options, || AnyLayer::new($layer))),*]
        }
    };
}

const WATCHES: LayerOptions = LayerOptions::new();

table! {
    catch: WATCHES, CatchLayer::new();
    conform: WATCHES, ConformLayer::new();
    trace: WATCHES, TraceLayer::new().agent("probe").content(64);
    metrics: WATCHES, MetricsLayer::new();
    receipt: WATCHES, receipts();
    timeout: WATCHES.ends_turns(), clocks();
    auth: WATCHES, pair(presents_a_key(), AuthLayer::new(key_check()).authorize_with(slowly));
    concurrency: WATCHES,
        ConcurrencyLayer::keyed(1, |scope: &Scope| scope.session().to_owned()).overall(2);
    shedding: WATCHES.ends_turns(), ConcurrencyLayer::new(1).shed();
    budget: WATCHES.inserts_events().paid_calls_at_most(3),
        BudgetLayer::per_turn(Limits::of(Meter::Tokens, 3)).warn_at(50);
    window_budget: WATCHES.inserts_events().paid_calls_at_most(5),
        BudgetLayer::per_principal(
            MemoryLedger::new(),
            Limits::of(Meter::ToolCalls, 1).and(Meter::Bytes, 2).per(Window::DAY),
        )
        .and_per_tenant(Limits::of(Meter::Tokens, 5).per(Window::DAY))
        .finish_call();
    session_budget: WATCHES.inserts_events().paid_calls_at_most(5),
        BudgetLayer::per_session(
            MemoryLedger::new(),
            Limits::of(Meter::Tokens, 5).and(Meter::ToolCalls, 2),
        );
    rate_limit: WATCHES.ends_turns(), RateLimitLayer::per_session(Rate::per_minute(20).unwrap());
    pace: WATCHES.inserts_events(),
        RateLimitLayer::new(Rate::per_second(3).unwrap()).wait_at_most(secs(3600));
    record: WATCHES, recorded();
    guard: WATCHES.edits_events().ends_turns(), secrecy();
    gate: WATCHES.ends_turns(), SessionDesk::new().gate();
    waiting_gate: WATCHES, SessionDesk::new().gate().queue(8, secs(1000)).expect("a queue");
    window: WATCHES, SessionDesk::new().window();
    followed_window: WATCHES.inserts_events().invokes_again().edits_requests(),
        window_with_a_friend();
    retry: WATCHES.inserts_events().invokes_again(), RetryLayer::new(2);
    // Falls back to one who says less than the first.
    fallback: WATCHES.inserts_events().invokes_again(),
        FallbackLayer::new("other", actor([fail("busy as well", true)]));
    breaker: WATCHES.ends_turns(), quick_breaker();
    // Nobody of the kit asks for data, so here every turn does.
    structured: WATCHES
        .edits_events()
        .inserts_events()
        .ends_turns()
        .invokes_again()
        .edits_requests(),
        asks_for_data();
    passthrough: WATCHES,
        PassthroughLayer::new(TurnLayer::new(|_: &mut Scope, _: &mut Prompt| KnowsTheCore));
    // What it holds back, the agent runs past: not here, see `stock_that_holds_back`.
    stock: WATCHES.ends_turns().invokes_again(), towers().raise(RaiseLayer::new().hold_back(0));
    optional: WATCHES.ends_turns(), OptionalLayer::new(Some(clocks()));
}

/// What an edge does: it puts what came with the request into the scope.
fn presents_a_key() -> TurnLayer<fn(&mut Scope, &mut Prompt)> {
    TurnLayer::new(|scope, _| {
        scope.extensions_mut().insert(Credentials::bearer("key"));
    })
}

fn key_check() -> impl Verifier<Verify: Send> + Clone + Send + Sync + std::fmt::Debug {
    verify_fn(async |presented: Credentials| {
        tokio::task::yield_now().await;
        assert_eq!(presented.secret(), "key");
        let who = portcullis::Principal::new("service", "test", "probe");
        Ok(Identity::new(who))
    })
}

async fn slowly(_: Identity, _: Scope, _: Prompt) -> Result<(), AuthError> {
    tokio::task::yield_now().await;
    Ok(())
}

type TowersLayers = Stack<tower::retry::RetryLayer<OnceMore>, tower::timeout::TimeoutLayer>;

fn towers() -> StockLayer<TowersLayers> {
    StockLayer::new(Stack::new(
        tower::retry::RetryLayer::new(OnceMore(1)),
        tower::timeout::TimeoutLayer::new(secs(60)),
    ))
}

/// By default `raise` holds back advisory events, and keeps the usage of failed attempts out
/// of the stream; the sink has it.
#[tokio::test(start_paused = true)]
async fn stock_that_holds_back() {
    let options = WATCHES.ends_turns().invokes_again().edits_events();
    suite::layer(towers, options).await.assert();
}

thread_local! {
    static RECEIPTS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// A sink that is the same for all, so that each layer of a pair has its own type.
fn receipts() -> ReceiptLayer<fn(Receipt)> {
    ReceiptLayer::new(|_| RECEIPTS.set(RECEIPTS.get() + 1))
}

/// With a buffer, `retry` breaks two promises on purpose, and no other: the agent runs past what
/// is held back, and what a run has said that was given up does not come.
#[tokio::test(start_paused = true)]
async fn retry_that_holds_back() {
    let options = WATCHES.inserts_events().invokes_again().edits_events();
    let report = suite::layer(|| RetryLayer::new(2).buffered(1 << 16), options).await;
    let broken = [Check::PassesUnknown, Check::NothingAhead];
    assert_eq!(report.failed(), broken.into(), "{report}");
}

/// Opens at the first failure, for a moment.
fn quick_breaker() -> BreakerLayer<String> {
    let settings = Settings::new()
        .window(1, secs(60))
        .at_least(1)
        .open_for(secs(1));
    BreakerLayer::keyed(settings, |scope| scope.session().to_owned()).expect("it makes sense")
}

type Asks = fn(&mut Scope, &mut Prompt);

fn asks_for_data() -> Stack<StructuredLayer, TurnLayer<Asks>> {
    let asks: Asks = |scope, _| {
        let schema = r#"{"type":"object","required":["n"]}"#;
        let schema = Json::from_text(schema).expect("JSON");
        *scope = scope.clone().with_output_schema(schema);
    };
    Stack::new(StructuredLayer::new(), TurnLayer::new(asks))
}

/// Lines that were written, over all turns of this process.
static LINES: AtomicUsize = AtomicUsize::new(0);

fn recorded() -> RecordLayer {
    RecordLayer::new(|_: &[u8]| {
        LINES.fetch_add(1, Ordering::SeqCst);
        Ok(())
    })
}

/// It holds back, masks and stops what the suite's agents say; compiled once.
fn secrecy() -> GuardLayer {
    static GUARD: std::sync::LazyLock<GuardLayer> = std::sync::LazyLock::new(|| {
        let rules = Rules::new()
            .regex("a .{0,8}c", Action::text("#"))
            .regex("hm", Action::chars('*'))
            .regex("forbidden", Action::stop());
        GuardLayer::new(rules.max_hold(secs(1))).expect("it has rules")
    });
    GUARD.clone()
}

/// A window, and somebody who sends one follow-up in each turn.
fn window_with_a_friend() -> Stack<TurnLayer<Friend>, WindowLayer> {
    let desk = SessionDesk::new();
    let window = desk.window();
    Stack::new(TurnLayer::new(Friend(desk)), window)
}

#[derive(Clone)]
struct Friend(SessionDesk);

impl MakeTurn for Friend {
    type Turn = ();

    fn make_turn(&self, scope: &mut Scope, prompt: &mut Prompt) {
        const AND: &str = "And tomorrow?";
        if prompt.as_text() != AND {
            let and = self.0.follow_up(scope.session(), Prompt::text(AND));
            and.now_or_never().expect("at once").expect("a turn runs");
        }
    }
}

fn clocks() -> TimeoutLayer {
    let clocks = Clocks::new()
        .first_event(secs(5))
        .idle(secs(5))
        .total(secs(60));
    TimeoutLayer::new(clocks).expect("three of them")
}

/// The configurations above are none in which a layer only looks on.
#[tokio::test(start_paused = true)]
async fn each_of_them_acts() {
    for (name, _, layer) in all() {
        let over = |part: Vec<Do>| layer().layer(actor(part));
        let acts = match name {
            "catch" | "conform" => {
                types(&events(&over(vec![say("a"), Do::Panic])).await) == "text failed"
            }
            "trace" => {
                let (log, _guard) = Log::start();
                events(&over(vec![say("a"), done()])).await;
                log.spans().len() == 1
            }
            "metrics" => {
                let recorder = metrics_util::debugging::DebuggingRecorder::new();
                let _recording = metrics::set_default_local_recorder(&recorder);
                events(&over(vec![say("a"), done()])).await;
                !recorder.snapshotter().snapshot().into_vec().is_empty()
            }
            "receipt" => {
                let before = RECEIPTS.get();
                events(&over(vec![say("a"), done()])).await;
                RECEIPTS.get() == before + 1
            }
            "auth" => {
                let actor = actor([done()]);
                events(&layer().layer(actor.clone())).await;
                let scope = actor.seen.last_scope();
                scope.principal().is_some() && scope.extensions().get::<Credentials>().is_none()
            }
            "timeout" | "optional" => types(&events(&over(vec![Do::Hang])).await) == "failed",
            "concurrency" | "shedding" | "gate" | "waiting_gate" => {
                let agent = over(vec![say("a"), Do::Wait(secs(1)), done()]);
                let mut running = ask(&agent);
                let _ = running.next().await;
                let second = ask(&agent).next().now_or_never();
                match name {
                    "concurrency" | "waiting_gate" => second.is_none(),
                    _ => types(&[second.flatten().expect("it is refused")]) == "failed",
                }
            }
            "window_budget" => {
                let agent = over(vec![tool("1"), say("12"), tool("2"), done()]);
                types(&events(&agent).await) == "tool_started budget text budget failed"
            }
            "budget" => {
                let spends = vec![used("1", 2, 0), used("2", 2, 0), done()];
                types(&events(&over(spends)).await) == "usage budget usage failed"
            }
            "session_budget" => {
                let agent = over(vec![used("1", 5, 0), done()]);
                events(&agent).await;
                types(&events(&agent).await) == "failed"
            }
            "rate_limit" | "pace" => {
                let agent = over(vec![done()]);
                let mut said = String::new();
                for _ in 0..21 {
                    said = types(&events(&agent).await);
                }
                said == if name == "pace" {
                    "retrying completed"
                } else {
                    "failed"
                }
            }
            "structured" => {
                types(&events(&over(vec![say("a"), done()])).await) == "retrying retrying failed"
            }
            "record" => {
                let before = LINES.load(Ordering::SeqCst);
                events(&over(vec![say("a"), done()])).await;
                LINES.load(Ordering::SeqCst) - before >= 4
            }
            "guard" => {
                let said = [say("a "), say("forbid"), say("den"), done()];
                types(&events(&over(said.to_vec())).await) == "text failed"
            }
            // Nobody sends anything: it withholds the end of the run, and gives it out.
            "window" => {
                let mut turn = Box::pin(ask(&over(vec![say("a"), done()])));
                let text = turn.next().await;
                let mut end = turn.next().now_or_never();
                types(&[text.expect("text"), end.take().flatten().expect("the end")])
                    == "text completed"
            }
            "followed_window" => {
                types(&events(&over(vec![say("a"), done()])).await)
                    == "text follow_up text completed"
            }
            "retry" => {
                types(&events(&over(vec![fail("busy", true)])).await) == "retrying retrying failed"
            }
            "fallback" => {
                types(&events(&over(vec![fail("busy", true)])).await) == "retrying failed"
            }
            "breaker" => {
                let actor = actor(vec![fail("busy", true)]);
                let agent = layer().layer(actor.clone());
                events(&agent).await;
                types(&events(&agent).await) == "failed" && actor.seen.calls() == 1
            }
            "stock" => {
                let actor = actor(vec![fail("busy", true)]);
                events(&layer().layer(actor.clone())).await;
                actor.seen.calls() == 2
            }
            "passthrough" => {
                let bare = TurnLayer::new(|_: &mut Scope, _: &mut Prompt| KnowsTheCore);
                let part = vec![Do::Say(unknown("x")), done()];
                let lost = bare.layer(actor(part.clone()));
                types(&events(&lost).await) == "completed"
                    && types(&events(&over(part)).await) == "x completed"
            }
            name => panic!("{name} is not proved to act"),
        };
        assert!(acts, "{name} only looks on");
    }
}

/// The order of `docs/layers.md`, as one layer: every layer that has a place there, each so that it may act.
#[tokio::test(start_paused = true)]
async fn the_whole_preset() {
    let (log, _guard) = Log::start();
    let options = WATCHES
        .inserts_events()
        .edits_events()
        .ends_turns()
        .invokes_again();
    suite::layer(|| preset(&Held::default()), options)
        .await
        .assert();
    assert_eq!(log.open_spans(), 0);
    let agent = preset(&Held::default()).layer(actor([say("a"), done()]));
    assert_eq!(types(&events(&agent).await), "text completed");
}

/// The same, dropped at every point: engine, session, place, reservation, window and span are gone before `drop`
/// returns.
#[tokio::test(start_paused = true)]
async fn a_dropped_turn_leaves_nothing_in_the_whole_preset() {
    let (log, _guard) = Log::start();
    let held = Held::default();
    let all = || {
        (
            GateLayer::lock(&held.sessions).held(),
            held.places.running(),
            held.ledger.reservations(),
            held.desk.running(),
            log.open_spans(),
        )
    };
    // In the middle of a turn each of them holds something, or this test would show nothing.
    let agent = preset(&held).layer(actor([say("b"), Do::Hang]));
    let mut turn = Box::pin(ask(&agent));
    assert_eq!(turn.next().await, Some(AgentEvent::text("b")));
    assert_eq!(all(), (1, 1, 1, 1, 1));
    drop(turn);
    assert_eq!(all(), (0, 0, 0, 0, 0));
    let make = |actor| preset(&held).layer(actor);
    assert_drops(everything(), make, || all() == (0, 0, 0, 0, 0)).await;
}

/// What the layers of a preset share, to be looked at.
#[derive(Clone)]
struct Held {
    desk: SessionDesk,
    sessions: GateLayer,
    places: ConcurrencyLayer,
    ledger: MemoryLedger,
}

impl Default for Held {
    fn default() -> Self {
        let desk = SessionDesk::new();
        Self {
            sessions: desk.gate(),
            places: ConcurrencyLayer::new(64),
            ledger: MemoryLedger::new(),
            desk,
        }
    }
}

fn preset(
    held: &Held,
) -> impl Layer<ProbeAgent, Service = BoxAgent> + Layer<Actor, Service = BoxAgent> + use<> {
    use portcullis_layers::ServiceBuilderExt;
    let limits = Limits::of(Meter::Tokens, 1_000_000);
    tower::ServiceBuilder::new()
        .boxed_agent()
        .catch()
        .layer(presents_a_key())
        .auth(AuthLayer::new(key_check()).authorize_with(slowly))
        .trace()
        .metrics()
        .layer(receipts())
        .layer(recorded())
        .layer(held.sessions.clone())
        .rate_limited(RateLimitLayer::per_principal(
            Rate::per_second(1_000_000).unwrap(),
        ))
        .layer(held.places.clone())
        .budget(
            BudgetLayer::per_session(held.ledger.clone(), limits)
                .reserve(Meter::Tokens, 500)
                .and_per_turn(Limits::of(Meter::Tokens, 3))
                .warn_at(50),
        )
        .clocks(TimeoutLayer::total(secs(600)))
        .layer(held.desk.window())
        .structured()
        .guard(secrecy())
        .fallback(FallbackLayer::new(
            "other",
            actor([fail("busy as well", true)]),
        ))
        .retries(2)
        .breaker(quick_breaker())
        .clocks(clocks())
        .conform()
        .into_inner()
}
