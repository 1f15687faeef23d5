//! Stacks over one ledger: MUST 6, and the bill.

use std::sync::{Arc, Mutex};

use futures_util::StreamExt;
use portcullis::{
    AgentEvent, AgentExt, BoxAgent, Emitter, Failure, FailureCode, Prompt, Scope, Usage, agent_fn,
    conformance::suite,
};
use portcullis_layers::{
    budget::{Account, BudgetLayer, Limits, MemoryLedger, Meter, Unmeasured},
    retry::RetryLayer,
};
use portcullis_sqlite::SqliteLedger;
use tokio::task::JoinSet;
use tower::Layer;

/// Spends ten tokens, and says so.
fn spender() -> BoxAgent {
    agent_fn(async |_: Scope, _: Prompt, out: Emitter| {
        out.emit(Usage::new("call").with_input(10)).await;
        out.emit(AgentEvent::text("ten")).await;
        Ok::<_, Failure>(())
    })
    .boxed()
}

/// MUST 6: each turn may be served by another stack over the same ledger, and it comes out the
/// same, the refusal of the one that is too much included. With a ledger of its own for each stack it
/// does not.
#[tokio::test]
async fn portable_with_a_shared_ledger() {
    let limits = Limits::of(Meter::Tokens, 25);
    let make = || {
        let directory = tempfile::tempdir().unwrap();
        let ledger = SqliteLedger::open(directory.path().join("ledger.db")).unwrap();
        (ledger, directory)
    };
    let prompts = ["one", "two", "three", "four"];
    suite::portable(
        make,
        |(ledger, _)| {
            BudgetLayer::per_session(ledger.clone(), limits)
                .layer(spender())
                .boxed()
        },
        prompts,
    )
    .await
    .assert();
    let apart = suite::portable(
        || (),
        |()| {
            BudgetLayer::per_session(MemoryLedger::new(), limits)
                .layer(spender())
                .boxed()
        },
        prompts,
    );
    assert!(!apart.await.breaches().is_empty(), "the suite sees a limit");
}

/// And by one that opens the file after the other is gone.
#[tokio::test]
async fn the_next_process_goes_on_counting() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("ledger.db");
    let mut ends = Vec::new();
    for _ in 0..4 {
        let ledger = SqliteLedger::open(&file).unwrap();
        let layer = BudgetLayer::per_session(ledger, Limits::of(Meter::Tokens, 25)).no_warning();
        let agent = layer.layer(spender()).boxed();
        let turn = agent.invoke(Scope::new("s"), Prompt::text("p"));
        let events: Vec<_> = turn.collect().await;
        ends.push(match events.last() {
            Some(AgentEvent::Completed(_)) => "completed",
            Some(AgentEvent::Failed(failure)) => {
                assert!(failure.is(&FailureCode::BUDGET_EXCEEDED));
                "failed"
            }
            last => panic!("{last:?}"),
        });
    }
    assert_eq!(ends, ["completed", "completed", "failed", "failed"]);
}

/// The bill (critique E4), on disk: a thousand turns at once in two stacks over one ledger, on a hard
/// cap, that end in every way.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_bill_is_what_the_engines_counted() {
    const CAP: u64 = 12_000;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("ledger.db");
    let ledger = SqliteLedger::open(&file).unwrap();
    let stack = || {
        BudgetLayer::per_session(ledger.clone(), Limits::of(Meter::Tokens, CAP))
            .reserve(Meter::Tokens, 40)
            .unmeasured(Unmeasured::Nothing)
            .no_warning()
    };
    let stacks = [stack(), stack()];
    let counted = Arc::new(Mutex::new(0));
    let account = Account::session(&Scope::new("s"));
    let (mut used, mut before) = (0, None);
    // Once more, until nobody is admitted: what was reserved and not used is there again.
    while before != Some(used) {
        before = Some(used);
        let mut turns = JoinSet::new();
        for turn in 0..1_000_usize {
            let counter = Arc::clone(&counted);
            let engine = agent_fn(move |_: Scope, _: Prompt, out: Emitter| {
                let counter = Arc::clone(&counter);
                async move {
                    // Two runs with equal ids where a layer invokes again.
                    for call in 0..2 {
                        *counter.lock().unwrap() += 10;
                        out.emit(Usage::new(format!("call-{call}")).with_input(10))
                            .await;
                        tokio::task::yield_now().await;
                    }
                    match turn % 5 {
                        0 => Ok(()),
                        1 => Err(Failure::new("no")),
                        2 => Err(Failure::new("again").retryable(true)),
                        3 => std::panic::resume_unwind(Box::new("fell over")),
                        _ => std::future::pending().await,
                    }
                }
            });
            let backoff = portcullis_layers::retry::Backoff::new(
                std::time::Duration::from_millis(1),
                std::time::Duration::from_millis(1),
            );
            let agent =
                stacks[turn % 2].layer(RetryLayer::new(1).backoff(backoff.unwrap()).layer(engine));
            turns.spawn(async move {
                let mut events = Box::pin(agent.invoke(Scope::new("s"), Prompt::text("p")));
                let mut seen = 0;
                while let Some(event) = events.next().await {
                    seen += 1;
                    if event.is_terminal() || (turn % 5 == 4 && seen == 2) {
                        break;
                    }
                }
            });
        }
        // Some fell over.
        while turns.join_next().await.is_some() {}
        used = ledger.used(&account).await.unwrap().of(Meter::Tokens);
        assert_eq!(used, *counted.lock().unwrap());
        assert!(used <= CAP, "{used}");
        assert_eq!(ledger.reservations(), 0);
    }
    assert!(used > CAP - 40, "the cap is of use: {used}");
    drop((ledger, stacks));
    let ledger = SqliteLedger::open(&file).unwrap();
    let again = ledger.used(&account).await.unwrap().of(Meter::Tokens);
    assert_eq!(again, used, "and on disk");
}
