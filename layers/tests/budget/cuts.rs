//! Where a turn is cut: by bytes, by an estimate, between calls.

use portcullis::{AgentEvent, FailureCode, Usage};
use portcullis_layers::budget::{BudgetLayer, Limits, MemoryLedger, Meter, UNMEASURED, Unmeasured};
use tower::Layer;

use crate::{account, spent, support::*};

fn running(id: &str, tokens: u64) -> Do {
    Do::Say(Usage::new(id).with_output(tokens).with_final(false).into())
}

/// Bytes are counted to the byte, for the turn and in an account.
#[tokio::test]
async fn bytes_are_counted_exactly() {
    let limits = Limits::of(Meter::Bytes, 10);
    let ledger = MemoryLedger::new();
    let session = BudgetLayer::per_session(ledger.clone(), limits);
    for layer in [BudgetLayer::per_turn(limits), session] {
        let layer = layer.no_warning();
        let part = [
            say("12345"),
            Do::Say(AgentEvent::thinking("678")),
            say("90"),
            say(""),
            say("x"),
            say("never"),
            done(),
        ];
        let engine = actor(part);
        let cut = events(&layer.layer(engine.clone())).await;
        assert_eq!(types(&cut), "text thinking text text text failed");
        assert!(spent(&cut).ends_with("10 bytes"));
        assert_eq!((engine.seen.polls(), engine.seen.alive()), (5, 0));
    }
    assert_eq!(ledger.used(&account()).of(Meter::Bytes), 11);
}

/// Without a report in the middle of a call, the turn is cut by what is estimated of it; what
/// the agent says then counts instead.
#[tokio::test]
async fn an_endless_call_is_cut_by_its_estimate() {
    let kilobyte = "x".repeat(1024);
    let ledger = MemoryLedger::new();
    let layer = BudgetLayer::per_session(ledger.clone(), Limits::of(Meter::OutputTokens, 1_000))
        .no_warning();
    let engine = actor(vec![say(&kilobyte); 100]);
    let cut = events(&layer.layer(engine.clone())).await;
    // 256 tokens each.
    assert_eq!(
        (types(&cut), engine.seen.polls()),
        ("text text text text failed".into(), 4)
    );
    spent(&cut);
    assert_eq!(ledger.used(&account()).of(Meter::OutputTokens), 1_024);
    ledger.reset(&account());
    // It was less than it seemed.
    let mut part = vec![say(&kilobyte); 3];
    part.push(used("1", 0, 300));
    part.extend(vec![say(&kilobyte); 2]);
    part.extend([used("2", 0, 200), done()]);
    let whole = events(&layer.layer(actor(part))).await;
    assert_eq!(
        types(&whole),
        "text text text usage text text usage completed"
    );
    assert_eq!(ledger.used(&account()).of(Meter::OutputTokens), 500);
    // Nobody asked for an estimate.
    let layer =
        BudgetLayer::per_turn(Limits::of(Meter::Tokens, 10)).unmeasured(Unmeasured::Nothing);
    let mut part = vec![say(&kilobyte); 3];
    part.push(done());
    assert_eq!(
        types(&events(&layer.layer(actor(part))).await),
        "text text text completed"
    );
}

/// `stop_now` cuts in the middle of a call, `finish_call` when it is over: at its last report,
/// at the next call, and in the place of a tool.
#[tokio::test]
async fn a_call_may_come_to_its_end() {
    let layer = BudgetLayer::per_turn(Limits::of(Meter::OutputTokens, 10)).no_warning();
    let last =
        |id: &str, tokens| Do::Say(Usage::new(id).with_output(tokens).with_final(true).into());
    for (part, now, finished) in [
        (
            vec![running("1", 11), say("a"), last("1", 12), say("b"), done()],
            "usage failed",
            "usage text usage failed",
        ),
        (
            vec![
                running("1", 11),
                say("a"),
                running("1", 12),
                running("2", 1),
                say("b"),
                done(),
            ],
            "usage failed",
            "usage text usage usage failed",
        ),
        (
            vec![running("1", 11), say("a"), tool("t"), say("b"), done()],
            "usage failed",
            "usage text failed",
        ),
        // It was not so much after all.
        (
            vec![running("1", 11), say("a"), last("1", 9), say("b"), done()],
            "usage failed",
            "usage text usage text completed",
        ),
        // The turn ends with the call.
        (
            vec![running("1", 11), say("a"), done()],
            "usage failed",
            "usage text completed",
        ),
        // No call runs.
        (
            vec![last("1", 11), say("b"), done()],
            "usage failed",
            "usage failed",
        ),
    ] {
        for (layer, expected) in [
            (layer.clone(), now),
            (layer.clone().finish_call(), finished),
        ] {
            let got = types(&events(&layer.layer(actor(part.clone()))).await);
            assert_eq!(got, expected, "{part:?}");
        }
    }
    // Also where the estimate passed the limit, of a second call.
    let kilobyte = "x".repeat(1024);
    let layer = BudgetLayer::per_turn(Limits::of(Meter::OutputTokens, 300)).no_warning();
    let part = [
        last("1", 100),
        say(&kilobyte),
        say("more"),
        last("2", 250),
        say("never"),
        done(),
    ];
    let cut = events(&layer.layer(actor(part.clone()))).await;
    assert_eq!(types(&cut), "usage text failed");
    let cut = events(&layer.finish_call().layer(actor(part))).await;
    assert_eq!(types(&cut), "usage text text usage failed");
}

/// An agent that never says what it used fails where that is asked for; zero is said (O-B11).
#[tokio::test]
async fn silence_may_be_a_failure() {
    let layer = BudgetLayer::per_session(MemoryLedger::new(), Limits::of(Meter::Tokens, 1_000))
        .unmeasured(Unmeasured::Fail);
    for (part, expected) in [
        (vec![say("a"), done()], "text failed"),
        (vec![tool("t"), done()], "tool_started failed"),
        (
            vec![say("a"), used("1", 0, 0), done()],
            "text usage completed",
        ),
        (vec![done()], "completed"),
        (vec![say("a"), fail("no", false)], "text failed"),
    ] {
        let agent = layer.layer(actor(part.clone()));
        let events = events(&agent).await;
        assert_eq!(types(&events), expected);
        if matches!(part.last(), Some(Do::Say(AgentEvent::Completed(_))))
            && expected.ends_with("failed")
        {
            assert!(failure(&events).is(&UNMEASURED));
            assert!(!failure(&events).is(&FailureCode::BUDGET_EXCEEDED));
        }
    }
}

/// What is reported past the stream cuts a turn that is quiet, too.
#[tokio::test]
async fn a_quiet_turn_is_cut_as_well() {
    use futures_util::{FutureExt, StreamExt};
    let layer = BudgetLayer::per_turn(Limits::of(Meter::Tokens, 10));
    let engine = actor([say("a"), Do::Yield, Do::Hang]);
    let agent = layer.layer(engine.clone());
    let mut turn = Box::pin(ask(&agent));
    assert_eq!(turn.next().await.unwrap().type_name(), "text");
    let scope = engine.seen.last_scope();
    scope
        .usage_sink()
        .unwrap()
        .report(&Usage::new("1").with_input(11));
    let cut = turn.next().now_or_never().flatten().expect("at once");
    assert_eq!(cut.type_name(), "failed");
    assert_eq!(engine.seen.alive(), 0);
}

/// The lease is renewed while the turn is quiet, and when it never is.
#[tokio::test(start_paused = true)]
async fn a_turn_that_lives_renews_its_lease() {
    use futures_util::StreamExt;
    let ledger = MemoryLedger::new().lease(secs(60));
    let layer = BudgetLayer::per_session(ledger.clone(), Limits::of(Meter::Tokens, 1_000))
        .reserve(Meter::Tokens, 500)
        .no_warning();
    let quiet = layer.layer(actor([
        say("a"),
        Do::Wait(secs(600)),
        used("1", 1, 1),
        done(),
    ]));
    let mut turn = Box::pin(ask(&quiet));
    let _ = turn.next().await;
    assert_eq!(turn.next().await.unwrap().type_name(), "usage");
    assert_eq!(
        (
            ledger.reservations(),
            ledger.used(&account()).of(Meter::Tokens)
        ),
        (1, 2)
    );
    drop(turn);
    // A caller that reads slowly.
    ledger.reset(&account());
    let busy = layer.layer(actor(vec![say("a"); 400]));
    let mut turn = Box::pin(ask(&busy));
    for _ in 0..400 {
        let _ = turn.next().await;
        tokio::time::advance(std::time::Duration::from_millis(300)).await;
        assert_eq!(ledger.reservations(), 1);
        assert_eq!(ledger.used(&account()).of(Meter::Tokens), 0);
    }
    // One that does not read at all is charged, and set right when the turn ends.
    tokio::time::advance(secs(61)).await;
    assert_eq!(ledger.used(&account()).of(Meter::Tokens), 500);
    assert_eq!(ledger.reservations(), 0);
    drop(turn);
    assert_eq!(ledger.used(&account()).of(Meter::Tokens), 100);
}
