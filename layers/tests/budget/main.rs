//! What turns consume is limited, and booked whatever ends them.

#[path = "../support/mod.rs"]
mod support;

mod accounts;
mod cuts;
mod grants;
mod ledger;

use std::{
    collections::BTreeMap,
    future::{Ready, pending, ready},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use futures_util::{FutureExt, StreamExt, stream::FuturesUnordered};
use portcullis::{
    AgentEvent, AgentExt, Emitter, Failure, FailureCode, Next, Prompt, Scope, Usage, agent_fn,
    from_fn, views::Budget,
};
use portcullis_layers::{
    budget::{
        Account, Amounts, BudgetLayer, Claim, Denied, Exceeded, Ledger, Limits, MemoryLedger,
        Meter, Reservation, Unmeasured, Unreachable,
    },
    retry::{Backoff, RetryLayer},
};
use tokio::task::JoinSet;
use tower::Layer;

use support::*;

fn account() -> Account {
    Account::session(&Scope::new("session"))
}

fn spent(events: &[AgentEvent]) -> String {
    let failure = failure(events);
    assert!(failure.is(&FailureCode::BUDGET_EXCEEDED), "{failure:?}");
    assert!(!failure.is_retryable());
    failure.details().to_owned()
}

fn per_session(meter: Meter, limit: u64) -> (MemoryLedger, BudgetLayer) {
    let ledger = MemoryLedger::new();
    let layer = BudgetLayer::per_session(ledger.clone(), Limits::of(meter, limit));
    (ledger, layer)
}

#[tokio::test(start_paused = true)]
async fn hands_on_everything() {
    let (ledger, layer) = per_session(Meter::Tokens, 1_000_000);
    let layer = layer.and_per_turn(Limits::of(Meter::ToolCalls, 1000));
    assert_transparent(|actor| layer.layer(actor)).await;
    let gone = ledger.clone();
    assert_drops(
        everything(),
        |actor| layer.layer(actor),
        move || gone.reservations() == 0,
    )
    .await;
}

/// The cut: what was too much is delivered, the failure comes next, the agent is gone.
#[tokio::test]
async fn cuts_in_the_very_poll() {
    let layer = BudgetLayer::per_turn(Limits::of(Meter::Tokens, 10));
    let actor = actor([say("a"), used("call", 9, 2), say("b"), done()]);
    let agent = layer.layer(actor.clone());
    let mut turn = Box::pin(ask(&agent));
    let _ = turn.next().await;
    assert_eq!((actor.seen.alive(), actor.seen.polls()), (1, 1));
    assert_eq!(turn.next().await.unwrap().type_name(), "usage");
    // Gone with the event that was too much, before the caller asks for more.
    assert_eq!((actor.seen.alive(), actor.seen.polls()), (0, 2));
    let rest: Vec<_> = turn.collect().await;
    assert_eq!(spent(&rest), "the budget of the turn is spent: 10 tokens");
    assert_eq!((types(&rest), actor.seen.polls()), ("failed".into(), 2));
}

/// Nothing runs ahead: an agent that reports usage and then makes a paid call has made
/// none; also with two emitters at once, joined and in a `FuturesUnordered`. The cut is in the
/// very poll: the engine is polled once for the report, is gone before the caller has the
/// event, and is never polled again.
#[tokio::test]
async fn nothing_runs_ahead_of_the_cut() {
    let layer = BudgetLayer::per_turn(Limits::of(Meter::Tokens, 1));
    for shape in ["one", "joined", "unordered"] {
        let [paid, polls, dropped] = [(); 3].map(|()| Arc::new(AtomicUsize::new(0)));
        let seen = [&paid, &polls, &dropped].map(Arc::clone);
        let engine = agent_fn(move |_: Scope, _: Prompt, out: Emitter| {
            let [calls, polls, dropped] = seen.clone();
            let mut work = Box::pin(async move {
                let _counts = Counts(dropped);
                let call = async |name: &'static str| {
                    out.emit(Usage::new(name).with_input(5)).await;
                    calls.fetch_add(1, Ordering::SeqCst);
                    out.emit(AgentEvent::text(name)).await;
                };
                match shape {
                    "one" => call("a").await,
                    "joined" => {
                        futures_util::join!(call("a"), call("b"));
                    }
                    _ => {
                        let calls = ["a", "b"].map(call);
                        let mut calls: FuturesUnordered<_> = calls.into_iter().collect();
                        while calls.next().await.is_some() {}
                    }
                }
                Ok::<_, Failure>(())
            });
            std::future::poll_fn(move |cx| {
                polls.fetch_add(1, Ordering::SeqCst);
                work.poll_unpin(cx)
            })
        });
        let agent = layer.layer(engine);
        let mut turn = Box::pin(ask(&agent));
        let first = turn.next().now_or_never().flatten();
        assert_eq!(first.expect("at once").type_name(), "usage", "{shape}");
        let count = |counter: &AtomicUsize| counter.load(Ordering::SeqCst);
        assert_eq!((count(&polls), count(&dropped)), (1, 1), "{shape}");
        let rest: Vec<_> = turn.collect().await;
        assert_eq!(types(&rest), "failed", "{shape}");
        assert_eq!((count(&polls), count(&paid)), (1, 0), "{shape}");
    }
}

/// Counts when it is dropped.
struct Counts(Arc<AtomicUsize>);

impl Drop for Counts {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A budget of one model call: the second is not made. Told to, the layer cuts when
/// nothing is left; by itself only when there was too much.
#[tokio::test]
async fn cuts_when_spent_where_it_is_told_to() {
    let (ledger, session) = per_session(Meter::ModelCalls, 1);
    let turn = BudgetLayer::per_turn(Limits::of(Meter::ModelCalls, 1));
    for (layer, account) in [(turn, "turn"), (session, "session")] {
        let layer = layer.no_warning();
        let script = [
            used("first", 5, 5),
            say("paid again"),
            used("second", 5, 5),
            done(),
        ];
        let late = actor(script.clone());
        let events_late = events(&layer.clone().layer(late)).await;
        assert_eq!(types(&events_late), "usage text usage failed", "{account}");
        ledger.reset(&self::account());

        let engine = actor(script);
        let cut = events(&layer.cut_when_spent().layer(engine.clone())).await;
        assert_eq!(types(&cut), "usage failed", "{account}");
        let spent_it = format!("the budget of the {account} is spent: 1 model calls");
        assert_eq!(spent(&cut), spent_it);
        // One poll for the report: the agent took no step after it.
        assert_eq!(
            (engine.seen.alive(), engine.seen.polls()),
            (0, 1),
            "{account}"
        );
    }
}

/// A tool that is too much is not shown: the failure comes in its place, and it costs
/// nothing.
#[tokio::test]
async fn checks_first_for_tools() {
    let (ledger, layer) = per_session(Meter::ToolCalls, 2);
    let layer = layer.no_warning();
    let part = vec![
        tool("1"),
        tool_ended("1"),
        tool("2"),
        tool("3"),
        say("b"),
        done(),
    ];
    let cut = events(&layer.layer(actor(part.clone()))).await;
    assert_eq!(types(&cut), "tool_started tool_ended tool_started failed");
    assert_eq!(
        spent(&cut),
        "the budget of the session is spent: 2 tool calls"
    );
    assert_eq!(ledger.used(&account()).of(Meter::ToolCalls), 2);
    // A turn without tools still runs.
    assert_eq!(
        types(&events(&layer.layer(actor([done()]))).await),
        "completed"
    );

    let layer = BudgetLayer::per_turn(Limits::of(Meter::ToolCalls, 0));
    let cut = events(&layer.layer(actor([say("a"), tool("1"), done()]))).await;
    assert_eq!(types(&cut), "text failed");
}

#[tokio::test]
async fn warns_once_for_each_limit() {
    let (_ledger, layer) = per_session(Meter::Tokens, 100);
    let layer = layer
        .and_per_turn(Limits::of(Meter::ModelCalls, 4))
        .warn_at(50);
    let part = [
        used("1", 40, 0),
        used("2", 20, 0),
        used("3", 20, 0),
        say("a"),
        done(),
    ];
    let events = events(&layer.layer(actor(part))).await;
    assert_eq!(
        types(&events),
        "usage usage budget budget usage text completed"
    );
    let notices: Vec<_> = events
        .iter()
        .filter_map(|event| event.view::<Budget>()?.ok())
        .map(|notice| {
            (
                notice.scope.unwrap(),
                notice.meter,
                notice.used,
                notice.limit,
            )
        })
        .collect();
    assert_eq!(
        notices,
        [
            ("turn".to_owned(), "model_calls".to_owned(), 2, 4),
            ("session".to_owned(), "tokens".to_owned(), 60, 100)
        ]
    );
}

#[tokio::test]
async fn too_much_with_the_last_event_stays_a_success() {
    let (ledger, layer) = per_session(Meter::Tokens, 10);
    // The sink tells of it after the last usage event, and the terminal event is next.
    let engine = agent_fn(async |scope: Scope, _: Prompt, out: Emitter| {
        out.emit(AgentEvent::text("a")).await;
        scope
            .usage_sink()
            .unwrap()
            .report(&Usage::new("call").with_input(50));
        Ok::<_, Failure>(())
    });
    let agent = layer.no_warning().layer(engine);
    assert_eq!(types(&events(&agent).await), "text completed");
    assert_eq!(ledger.used(&account()).of(Meter::Tokens), 50);
    // The next turn is refused.
    assert_eq!(types(&events(&agent).await), "failed");
}

#[tokio::test]
async fn what_is_reported_past_the_stream_cuts_as_well() {
    let engine = agent_fn(async |scope: Scope, _: Prompt, out: Emitter| {
        scope
            .usage_sink()
            .unwrap()
            .report(&Usage::new("call").with_input(50));
        out.emit(AgentEvent::text("a")).await;
        out.emit(AgentEvent::text("b")).await;
        Ok::<_, Failure>(())
    });
    let agent = BudgetLayer::per_turn(Limits::of(Meter::Tokens, 10)).layer(engine);
    assert_eq!(types(&events(&agent).await), "text failed");
}

/// Refusal before the agent is called, when nothing is left; zero is a limit (O-B11).
#[tokio::test]
async fn refuses_before_the_call() {
    for layer in [
        per_session(Meter::Tokens, 0).1,
        BudgetLayer::per_turn(Limits::of(Meter::ModelCalls, 0)),
    ] {
        let actor = actor([done()]);
        let refused = events(&layer.layer(actor.clone())).await;
        assert_eq!((types(&refused), actor.seen.calls()), ("failed".into(), 0));
        spent(&refused);
    }
    let (ledger, layer) = per_session(Meter::Tokens, 10);
    let actor = actor([used("call", 5, 5), done()]);
    let agent = layer.layer(actor.clone());
    assert_eq!(types(&events(&agent).await), "usage budget completed");
    spent(&events(&agent).await);
    assert_eq!(actor.seen.calls(), 1);
    // Another session has its own, and so has another tenant's session of the same name.
    for scope in [Scope::new("other"), Scope::new("session").with_tenant("t")] {
        let events: Vec<_> = agent.invoke(scope, Prompt::text("p")).collect().await;
        assert_eq!(types(&events), "usage budget completed");
    }
    assert_eq!(ledger.accounts(), 3);
}

/// O-B02: booked on every exit path. The engine counts for itself.
#[tokio::test(start_paused = true)]
async fn settles_on_every_end() {
    let terminals: [(&str, Vec<Do>); 5] = five_ends();
    for (end, mut part) in terminals {
        part.insert(0, used("call", 3, 4));
        part.insert(0, tool("t"));
        let ledger = MemoryLedger::new();
        let limits = Limits::of(Meter::Tokens, 1000).and(Meter::ToolCalls, 9);
        let layer = BudgetLayer::per_session(ledger.clone(), limits)
            .unmeasured(Unmeasured::Nothing)
            .reserve(Meter::Tokens, 500);
        to_its_end(&layer.layer(actor(part))).await;
        let used = ledger.used(&account());
        assert_eq!(
            (
                used.of(Meter::Tokens),
                used.of(Meter::ModelCalls),
                used.of(Meter::ToolCalls)
            ),
            (7, 1, 1),
            "{end}"
        );
        assert_eq!(ledger.reservations(), 0, "{end}");
    }
}

/// O-B02: what the engine reports while it is dropped is in the bill, for every end by a
/// layer or a caller: the cut, the drop, the panic.
#[tokio::test]
async fn counts_what_comes_while_it_is_dropped() {
    for part in [
        vec![say("a"), Do::Hang],
        vec![say("a"), used("other", 2_000, 0)],
        vec![say("a"), Do::Panic],
    ] {
        let (ledger, layer) = per_session(Meter::Tokens, 1_000);
        let late = Usage::new("call").with_input(30).with_output(40);
        let engine = actor(part.clone()).report_when_dropped(late);
        let agent = layer.layer(engine);
        let mut turn = Box::pin(ask(&agent));
        let _ = turn.next().await;
        let polled = std::panic::AssertUnwindSafe(async { turn.next().now_or_never() });
        let _ = polled.catch_unwind().await;
        drop(turn);
        let other = if part.len() == 2 && matches!(part[1], Do::Say(_)) {
            2_000
        } else {
            0
        };
        assert_eq!(ledger.used(&account()).of(Meter::Tokens), 70 + other);
    }
}

/// O-B02: and where nobody measured, an estimate of what was produced.
#[tokio::test]
async fn estimates_what_nobody_measured() {
    let forty = "0123456789".repeat(4);
    let produced = || vec![used("call", 3, 4), say(&forty), Do::Hang];
    for (policy, tokens) in [
        (Unmeasured::Estimate, 7 + 10),
        (Unmeasured::Reserved, 100),
        (Unmeasured::Nothing, 7),
    ] {
        let (ledger, layer) = per_session(Meter::Tokens, 1000);
        let layer = layer.reserve(Meter::Tokens, 100).unmeasured(policy);
        let agent = layer.layer(actor(produced()));
        let mut turn = Box::pin(ask(&agent));
        let _ = (turn.next().await, turn.next().await);
        drop(turn);
        assert_eq!(
            ledger.used(&account()).of(Meter::Tokens),
            tokens,
            "{policy:?}"
        );
    }
    // An agent that completes has said what it wished to say, unless it never says anything.
    for (part, tokens, calls) in [
        (vec![used("call", 3, 4), say(&forty), done()], 7, 1),
        (vec![say(&forty), done()], 10, 1),
        (vec![used("call", 0, 0), say(&forty), done()], 0, 1),
        (vec![done()], 0, 0),
    ] {
        let (ledger, layer) = per_session(Meter::Tokens, 1000);
        events(&layer.layer(actor(part))).await;
        let used = ledger.used(&account());
        assert_eq!(
            (used.of(Meter::Tokens), used.of(Meter::ModelCalls)),
            (tokens, calls)
        );
    }
}

/// O-B12: replaced by id, counter by counter; and O-B11: zero is a value.
#[tokio::test]
async fn partial_reports_are_merged() {
    let (ledger, layer) = per_session(Meter::Tokens, 1000);
    let report = |usage: Usage| Do::Say(usage.into());
    let part = [
        report(Usage::new("call").with_input(25).with_output(1)),
        report(Usage::new("call").with_output(10)),
        report(Usage::new("call").with_input(30).with_output(40)),
        report(Usage::new("call")),
        report(Usage::new("free").with_input(0).with_output(0)),
        done(),
    ];
    events(&layer.layer(actor(part))).await;
    let used = ledger.used(&account());
    assert_eq!(
        (
            used.of(Meter::InputTokens),
            used.of(Meter::OutputTokens),
            used.of(Meter::ModelCalls)
        ),
        (30, 40, 2)
    );
}

/// O-B01: 50 at once, room for 10, a thousand rounds.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn parallel_turns_never_overspend() {
    for round in 0..1_000 {
        let ledger = MemoryLedger::new();
        let limits = Limits::of(Meter::ModelCalls, 10).and(Meter::Tokens, 1_000);
        let layer = BudgetLayer::per_session(ledger.clone(), limits)
            .reserve(Meter::Tokens, 100)
            .no_warning();
        let engine = actor([Do::Yield, used("call", 60, 40), done()]);
        let agent = layer.layer(engine.clone());
        let mut turns = JoinSet::new();
        for _ in 0..50 {
            let agent = agent.clone();
            turns.spawn(async move { types(&events(&agent).await) });
        }
        let ends = turns.join_all().await;
        let completed = ends
            .iter()
            .filter(|types| *types == "usage completed")
            .count();
        assert_eq!((completed, engine.seen.calls()), (10, 10), "round {round}");
        let used = ledger.used(&account());
        assert_eq!(
            (used.of(Meter::ModelCalls), used.of(Meter::Tokens)),
            (10, 1_000)
        );
        assert_eq!(ledger.reservations(), 0);
    }
}

/// The bill (critique E4): a thousand turns at once on one hard cap, that end, fail, are dropped,
/// panic, are tried again with equal usage ids, and run again within their turn. The ledger has
/// what the engines themselves counted, and never more than the cap.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_bill_is_what_the_engines_counted() {
    const CAP: u64 = 5_000;
    let ledger = MemoryLedger::new();
    let layer = BudgetLayer::per_session(ledger.clone(), Limits::of(Meter::Tokens, CAP))
        .reserve(Meter::Tokens, 40)
        .unmeasured(Unmeasured::Nothing)
        .no_warning();
    let counted = Arc::new(Mutex::new(0));
    let (mut used, mut before) = (0, None);
    // Once more, until nobody is admitted: what was reserved and not used is there again.
    while before != Some(used) {
        before = Some(used);
        let mut turns = JoinSet::new();
        for turn in 0..1_000_u32 {
            let counter = Arc::clone(&counted);
            let engine = agent_fn(move |_: Scope, _: Prompt, out: Emitter| {
                let counter = Arc::clone(&counter);
                async move {
                    for call in 0..2 {
                        *counter.lock().unwrap() += 10;
                        out.emit(Usage::new(format!("call-{call}")).with_input(10))
                            .await;
                        tokio::task::yield_now().await;
                    }
                    match turn % 6 {
                        0 | 5 => Ok(()),
                        1 => Err(Failure::new("no")),
                        2 => Err(Failure::new("again").retryable(true)),
                        3 => std::panic::resume_unwind(Box::new("fell over")),
                        _ => pending().await,
                    }
                }
            });
            // The turn goes on with a second run, whose records have the same ids.
            let follow_up = from_fn(
                move |scope: Scope, prompt, mut next: Next<_>, out: Emitter| async move {
                    if turn % 6 != 5 {
                        return Ok(next.invoke(scope, prompt));
                    }
                    let mut first = Box::pin(next.invoke(scope.clone(), Prompt::text("first")));
                    while let Some(event) = first.next().await {
                        if matches!(event, AgentEvent::Usage(_)) {
                            out.emit(event).await;
                        }
                    }
                    drop(first);
                    Ok(next.invoke(scope, prompt))
                },
            );
            let quick = Backoff::new(Duration::from_millis(1), Duration::from_millis(1));
            let retry = RetryLayer::new(1).backoff(quick.unwrap());
            let agent = layer.layer(follow_up.layer(retry.layer(engine)));
            turns.spawn(async move {
                let mut events = Box::pin(ask(&agent));
                let mut seen = 0;
                while let Some(event) = events.next().await {
                    seen += 1;
                    if event.is_terminal() || (turn % 6 == 4 && seen == 2) {
                        break;
                    }
                }
            });
        }
        // Some fell over.
        while turns.join_next().await.is_some() {}
        used = ledger.used(&account()).of(Meter::Tokens);
        assert_eq!(used, *counted.lock().unwrap());
        assert!(used <= CAP, "{used}");
        assert_eq!(ledger.reservations(), 0);
    }
    assert!(used > CAP - 40, "the cap is of use: {used}");
}

/// A turn that is dropped before it was admitted costs nothing.
#[tokio::test]
async fn a_turn_that_never_began_is_free() {
    let (ledger, layer) = per_session(Meter::Tokens, 1_000);
    let layer = layer.reserve(Meter::Tokens, 500);
    let agent = layer.layer(actor([done()]));
    drop(ask(&agent));
    drop(Box::pin(ask(&agent).collect::<Vec<_>>()));
    // Called, and never polled.
    let mut service = agent;
    let called = tower::Service::call(&mut service, (Scope::new("session"), Prompt::text("p")));
    drop(called.await);
    assert_eq!(ledger.used(&account()), Amounts::ZERO);
    assert_eq!((ledger.accounts(), ledger.reservations()), (0, 0));
}

/// O-B07 and O-M03.
#[tokio::test(start_paused = true)]
async fn idle_accounts_are_forgotten() {
    let ledger = MemoryLedger::new().forget_after(secs(3600));
    let layer = BudgetLayer::per_session(ledger.clone(), Limits::of(Meter::Tokens, 10));
    let agent = layer.layer(actor([used("call", 10, 0), done()]));
    let turn = |session: u32| {
        let turn = agent.invoke(Scope::new(session.to_string()), Prompt::text("p"));
        turn.collect::<Vec<_>>()
    };
    for session in 0..5_000 {
        turn(session).await;
    }
    assert_eq!(ledger.accounts(), 5_000);
    spent(&turn(0).await);
    tokio::time::advance(secs(3601)).await;
    // Its budget begins anew, and the others go when room is needed.
    assert_eq!(types(&turn(0).await), "usage budget completed");
    for session in 10_000..20_000 {
        turn(session).await;
    }
    assert!(ledger.accounts() < 12_000, "{}", ledger.accounts());
    // A turn that used nothing leaves nothing.
    let before = ledger.accounts();
    let idle = layer.layer(actor([done()]));
    for session in 30_000..30_100 {
        let scope = Scope::new(session.to_string());
        let _ = idle
            .invoke(scope, Prompt::text("p"))
            .collect::<Vec<_>>()
            .await;
    }
    assert_eq!(ledger.accounts(), before);
    ledger.reset(&Account::session(&Scope::new("19999")));
    assert_eq!(types(&turn(19_999).await), "usage budget completed");
}

/// A ledger that cannot be reached, or that answers and stores late.
#[derive(Clone, Debug, Default)]
struct Far {
    reachable: bool,
    flushed: Arc<AtomicUsize>,
    settled: Arc<Mutex<BTreeMap<String, Amounts>>>,
}

#[derive(Debug)]
struct FarReservation(Far, u8);

impl Ledger for Far {
    type Reservation = FarReservation;
    type Reserve = Ready<Result<FarReservation, Denied>>;

    fn reserve(&self, claims: Vec<Claim>) -> Self::Reserve {
        assert_eq!(claims.len(), 1);
        ready(if self.reachable {
            Ok(FarReservation(self.clone(), 0))
        } else {
            Err(Denied::Unavailable("connection refused".into()))
        })
    }
}

impl Reservation for FarReservation {
    fn charge(&mut self, _: &Amounts) -> Result<(), Exceeded> {
        Ok(())
    }

    fn try_charge(&mut self, _: &Amounts) -> Result<(), Exceeded> {
        Ok(())
    }

    fn used(&self, _: usize) -> Amounts {
        Amounts::ZERO
    }

    fn poll_settle(&mut self, used: &Amounts, cx: &mut Context<'_>) -> Poll<()> {
        self.1 += 1;
        if self.1 < 3 {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        assert_eq!(used.of(Meter::Tokens), 5);
        self.0.flushed.fetch_add(1, Ordering::SeqCst);
        Poll::Ready(())
    }

    fn settle(self, used: &Amounts) {
        self.0.settled.lock().unwrap().insert("turn".into(), *used);
    }
}

#[tokio::test]
async fn an_unreachable_ledger_is_a_policy() {
    let (log, _guard) = Log::start();
    let actor = actor([tool("1"), done()]);
    let layer = BudgetLayer::per_session(Far::default(), Limits::of(Meter::Tokens, 10))
        .and_per_turn(Limits::of(Meter::ToolCalls, 0));
    let refused = events(&layer.layer(actor.clone())).await;
    assert!(failure(&refused).is(&FailureCode::UNAVAILABLE) && failure(&refused).is_retryable());
    assert_eq!(actor.seen.calls(), 0);
    assert!(log.text().contains("connection refused"));
    // Open, with the limits of the turn.
    let cut = events(&layer.unreachable(Unreachable::Admit).layer(actor)).await;
    spent(&cut);
}

/// `completed` means stored.
#[tokio::test]
async fn the_terminal_event_waits_for_the_ledger() {
    let far = Far {
        reachable: true,
        ..Far::default()
    };
    let layer = BudgetLayer::per_session(far.clone(), Limits::of(Meter::Tokens, 10));
    let agent = layer.layer(actor([used("call", 2, 3), done()]));
    let mut turn = Box::pin(ask(&agent));
    assert_eq!(turn.next().await.unwrap().type_name(), "usage");
    assert!(turn.next().now_or_never().is_none(), "not stored yet");
    assert_eq!(turn.next().await, Some(AgentEvent::completed()));
    assert_eq!(far.flushed.load(Ordering::SeqCst), 1);
    assert_eq!(far.settled.lock().unwrap()["turn"].of(Meter::Tokens), 5);
}
