//! A part of a budget for another agent.

use std::sync::{Arc, Mutex};

use futures_util::StreamExt;
use portcullis::{
    AgentEvent, AgentExt, BoxAgent, Emitter, Failure, Prompt, Scope, Usage, agent_fn_with,
};
use portcullis_layers::budget::{
    BudgetGrant, BudgetLayer, BudgetPurse, Limits, MemoryLedger, Meter,
};
use tower::Layer;

use crate::{account, spent, support::*};

fn purse(scope: &Scope) -> BudgetPurse {
    scope
        .extensions()
        .get::<BudgetPurse>()
        .expect("a budget is above")
        .clone()
}

fn tokens(limit: u64) -> Limits {
    Limits::of(Meter::Tokens, limit)
}

type Log = Arc<Mutex<Vec<String>>>;

/// Asks another agent with a grant, forwards its usage, and tells how it went.
async fn ask_helper(
    (helper, granted, forwards, log): (BoxAgent, u64, bool, Log),
    scope: Scope,
    _: Prompt,
    out: Emitter,
) -> Result<(), Failure> {
    let grant = purse(&scope).grant(tokens(granted))?;
    let keep = grant.clone();
    let mut child = Scope::new("helper");
    grant.give(&mut child);
    let mut answer = Box::pin(helper.invoke(child, Prompt::text("help")));
    while let Some(event) = answer.next().await {
        log.lock().unwrap().push(event.type_name().to_owned());
        if let (AgentEvent::Usage(mut usage), true) = (event, forwards) {
            keep.forward(&mut usage);
            out.emit(AgentEvent::Usage(usage)).await;
        }
    }
    drop(answer);
    drop(keep);
    out.emit(Usage::new("call").with_input(10)).await;
    Ok(())
}

fn parent(ledger: &MemoryLedger, limit: u64) -> BudgetLayer {
    BudgetLayer::per_session(ledger.clone(), tokens(limit)).no_warning()
}

/// It is one more limit for the other one; what he has not used is free again; and however his
/// usage reaches the turn, it is counted once.
#[tokio::test]
async fn a_grant_is_carved_and_refunded() {
    let free = BudgetLayer::per_turn(tokens(1_000_000)).no_warning();
    for (spends, forwards, end) in [
        (30, false, "usage completed"),
        (30, true, "usage completed"),
        (70, false, "usage failed"),
        (70, true, "usage failed"),
    ] {
        let ledger = MemoryLedger::new();
        let log = Log::default();
        let helper = free
            .layer(actor([used("call", spends, 0), say("a"), done()]))
            .boxed();
        let helper = match end {
            "usage completed" => free.layer(actor([used("call", spends, 0), done()])).boxed(),
            _ => helper,
        };
        let engine = agent_fn_with((helper, 60, forwards, Arc::clone(&log)), ask_helper);
        let agent = parent(&ledger, 100).layer(engine);
        let events = events(&agent).await;
        assert_eq!(log.lock().unwrap().join(" "), end);
        assert_eq!(
            types(&events),
            if forwards {
                "usage usage completed"
            } else {
                "usage completed"
            }
        );
        assert_eq!(
            ledger.used(&account()).of(Meter::Tokens),
            spends + 10,
            "{spends} {forwards}"
        );
        assert_eq!(ledger.reservations(), 0);
    }
}

/// Without a budget layer in his stack, what the turn forwards is what the grant cost.
#[tokio::test]
async fn a_grant_that_nobody_takes_up() {
    for (forwards, cost) in [(true, 30), (false, 0)] {
        let ledger = MemoryLedger::new();
        let helper = agent_fn_with((), async |(), _: Scope, _: Prompt, out: Emitter| {
            out.emit(Usage::new("call").with_input(30)).await;
            Ok::<_, Failure>(())
        });
        let engine = agent_fn_with((helper.boxed(), 60, forwards, Log::default()), ask_helper);
        events(&parent(&ledger, 100).layer(engine)).await;
        assert_eq!(ledger.used(&account()).of(Meter::Tokens), cost + 10);
    }
}

/// There is nothing to give that is not there, for the turn, its accounts, or who else has it.
#[tokio::test]
async fn nobody_grants_what_he_has_not() {
    let ledger = MemoryLedger::new();
    let engine = agent_fn_with((), async |(), scope: Scope, _: Prompt, out: Emitter| {
        let purse = purse(&scope);
        let kept = [60, 30].map(|limit| purse.grant(tokens(limit)).expect("there is enough"));
        let spent = purse
            .grant(tokens(11))
            .expect_err("ten are left")
            .to_string();
        out.emit(AgentEvent::text(spent)).await;
        drop(kept);
        purse.grant(tokens(99)).expect("all came back");
        // While it is out, it is not there for the turn either.
        let kept = purse.grant(tokens(90)).expect("there is enough");
        out.emit(Usage::new("call").with_input(11)).await;
        drop(kept);
        Ok::<_, Failure>(())
    });
    let cut = events(&parent(&ledger, 100).layer(engine)).await;
    assert_eq!(types(&cut), "text usage failed");
    let AgentEvent::Text(said) = &cut[0] else {
        panic!("{cut:?}")
    };
    assert_eq!(
        said.delta(),
        "the budget of the session is spent: 100 tokens"
    );
    spent(&cut);
    assert_eq!(ledger.used(&account()).of(Meter::Tokens), 11);
}

/// The other one may grant again, out of what he was granted; it is set aside once.
#[tokio::test]
async fn grants_of_grants() {
    let ledger = MemoryLedger::new();
    let free = || BudgetLayer::per_turn(tokens(1_000_000)).no_warning();
    let log = Log::default();
    let last = free().layer(actor([used("call", 20, 0), done()])).boxed();
    let middle = agent_fn_with((last, 40, false, Arc::clone(&log)), ask_helper);
    let middle = free().layer(middle).boxed();
    let first = agent_fn_with((middle, 60, false, Log::default()), ask_helper);
    // 60 of 75, and 10: were the inner one set aside here as well, there would not be enough.
    events(&parent(&ledger, 75).layer(first)).await;
    assert_eq!(log.lock().unwrap().join(" "), "usage completed");
    assert_eq!(ledger.used(&account()).of(Meter::Tokens), 20 + 10 + 10);
    // And too much of it is refused there.
    let last = free().layer(actor([used("call", 20, 0), done()])).boxed();
    let middle = agent_fn_with((last, 61, false, Log::default()), ask_helper);
    let middle = free().layer(middle).boxed();
    let log = Log::default();
    let first = agent_fn_with((middle, 60, false, Arc::clone(&log)), ask_helper);
    events(&parent(&MemoryLedger::new(), 100).layer(first)).await;
    assert_eq!(log.lock().unwrap().join(" "), "failed");
}

/// Two budget layers in one stack: a grant comes out of both.
#[tokio::test]
async fn a_grant_comes_out_of_every_layer() {
    let (outer, inner) = (MemoryLedger::new(), MemoryLedger::new());
    let helper = BudgetLayer::per_turn(tokens(1_000_000)).no_warning();
    let helper = helper.layer(actor([used("call", 30, 0), done()])).boxed();
    let engine = agent_fn_with((helper, 60, false, Log::default()), ask_helper);
    let stack = parent(&outer, 100).layer(parent(&inner, 100).layer(engine));
    events(&stack).await;
    for ledger in [outer, inner] {
        assert_eq!(ledger.used(&account()).of(Meter::Tokens), 40);
    }
}

/// One that is still out at the end costs all of it, whatever comes of it later.
#[tokio::test]
async fn a_grant_that_is_kept_costs_all_of_it() {
    let ledger = MemoryLedger::new();
    let kept: Arc<Mutex<Option<BudgetGrant>>> = Arc::default();
    let engine = agent_fn_with(
        Arc::clone(&kept),
        async |kept: Arc<Mutex<_>>, scope: Scope, _: Prompt, _: Emitter| {
            *kept.lock().unwrap() = Some(purse(&scope).grant(tokens(60))?);
            Ok::<_, Failure>(())
        },
    );
    events(&parent(&ledger, 100).layer(engine)).await;
    assert_eq!(ledger.used(&account()).of(Meter::Tokens), 60);
    kept.lock().unwrap().take();
    assert_eq!(ledger.used(&account()).of(Meter::Tokens), 60);
}

/// A grant that comes over a wire is nothing.
#[test]
fn a_wire_grants_nothing() {
    let text =
        r#"{"session":"s","constraints":{"grant":1},"grant":{"tokens":1000},"BudgetGrant":1}"#;
    let scope = Scope::from_json(text).unwrap();
    assert!(scope.extensions().get::<BudgetGrant>().is_none());
    assert_eq!(scope.to_json(), text);
}

/// What an account refuses is booked nowhere, not in the grant either.
#[tokio::test]
async fn what_is_refused_is_not_booked_in_the_grant() {
    let ledger = MemoryLedger::new();
    let log = Log::default();
    let middle = agent_fn_with(
        Arc::clone(&log),
        async |log: Log, scope: Scope, _: Prompt, _: Emitter| {
            purse(&scope)
                .grant(tokens(40))
                .expect_err("the account has 30");
            log.lock().unwrap().push("refused".to_owned());
            std::future::pending::<Result<(), Failure>>().await
        },
    );
    let small = BudgetLayer::per_session(MemoryLedger::new(), tokens(30)).no_warning();
    let middle = small.layer(middle).boxed();
    let engine = agent_fn_with(
        middle,
        async |middle: BoxAgent, scope: Scope, _: Prompt, _| {
            let grant = purse(&scope).grant(tokens(60))?;
            let mut child = Scope::new("helper");
            grant.clone().give(&mut child);
            let mut answer = Box::pin(middle.invoke(child, Prompt::text("help")));
            assert!(futures_util::poll!(answer.next()).is_pending());
            assert_eq!(grant.used().of(Meter::Tokens), 0);
            Ok::<_, Failure>(())
        },
    );
    let events = events(&parent(&ledger, 100).layer(engine)).await;
    assert_eq!(types(&events), "completed");
    assert_eq!(log.lock().unwrap().join(" "), "refused");
}
