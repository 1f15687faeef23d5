//! Row `Balance` of the table of tower's layers, with ruling 2: load counts to the end of
//! the stream.
#![cfg(feature = "balance")]

mod support;

use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex},
};

use futures_util::{FutureExt, StreamExt};
use portcullis::{
    AgentEvent, AgentExt, FailureCode, Prompt, Scope,
    conformance::{LayerOptions, ProbeAgent, suite},
};
use portcullis_layers::{
    balance::Balance,
    breaker::{BreakerLayer, Change, Settings},
};
use proptest::prelude::*;
use tokio::time::advance;
use tower::layer::layer_fn;

use support::{Actor, Do, actor, ask, done, events, fail, failure, say, secs};

/// Over replicas of one probe it is an agent like any other, with everything that the kit asks
/// of a layer: drops reach the replica, nothing is reserved, nothing runs ahead.
#[tokio::test(start_paused = true)]
async fn it_conforms() {
    let over_three =
        || layer_fn(|probe: ProbeAgent| Balance::new(vec![probe; 3]).expect("there are three"));
    suite::layer(over_three, LayerOptions::new()).await.assert();
    let sticky_and_ejecting = || {
        layer_fn(|probe: ProbeAgent| {
            // It is asked to hand on failures of every kind, and never to leave an agent alone.
            let breaker = BreakerLayer::of_replicas(
                Settings::new().window(100_000, secs(1)).at_least(100_000),
            );
            Balance::new(vec![probe; 3])
                .expect("there are three")
                .ejecting(breaker.expect("it makes sense"))
                .sticky_by(|scope| Some(scope.session().to_owned()))
        })
    };
    suite::layer(sticky_and_ejecting, LayerOptions::new())
        .await
        .assert();
}

/// Ten turns that run, over two: as many at each.
#[tokio::test]
async fn turns_that_run_are_load() {
    let agents = [(); 2].map(|()| actor([say("a"), Do::Hang]));
    let agent = Balance::new(agents.clone()).expect("there are two");
    let mut running = Vec::new();
    for _ in 0..10 {
        let mut turn = Box::pin(ask(&agent));
        assert_eq!(turn.next().await, Some(AgentEvent::text("a")));
        running.push(turn);
    }
    assert_eq!(agents.each_ref().map(|agent| agent.seen.alive()), [5, 5]);
    assert_eq!(agent.running(), [5, 5]);
    // One that is less busy gets what comes.
    running.drain(..4);
    let before = agent.running();
    let mut turn = Box::pin(ask(&agent));
    turn.next().await;
    let after = agent.running();
    let least = before.iter().min().expect("two");
    assert!(
        before.iter().zip(&after).all(|(b, a)| a == b || b == least),
        "{before:?} {after:?}"
    );
    drop((running, turn));
    assert_eq!(agent.running(), [0, 0]);
}

/// Every end gives the place back, before the caller hears of it.
#[tokio::test]
async fn every_end_is_the_end_of_its_load() {
    let ends = [
        vec![say("a"), done()],
        vec![say("a")],
        vec![say("a"), Do::Panic],
    ];
    for part in ends {
        let agent = Balance::new([actor(part)]).expect("there is one");
        let mut turn = Box::pin(ask(&agent));
        turn.next().await;
        assert_eq!(agent.running(), [1]);
        let _ = AssertUnwindSafe(turn.next()).catch_unwind().await;
        assert_eq!(agent.running(), [0]);
    }
}

/// With one it is that one, and with none it is an error.
#[tokio::test]
async fn one_is_enough_and_none_is_too_few() {
    let only = actor([done()]);
    let agent = Balance::new([only.clone()]).expect("there is one");
    for _ in 0..3 {
        ask(&agent).collect::<Vec<_>>().await;
    }
    assert_eq!(only.seen.calls(), 3);
    let none = Balance::new(Vec::<support::Actor>::new()).expect_err("there is none");
    assert_eq!(none.to_string(), "there is no agent to balance over");
}

#[test]
fn names_differ() {
    let twice = Balance::named([("a", actor([])), ("a", actor([]))]).expect_err("one name");
    assert_eq!(
        twice.to_string(),
        "two agents to balance over have one name"
    );
}

/// A breaker that opens on two failures in a row, for ten seconds.
fn touchy() -> BreakerLayer<Arc<str>> {
    let settings = Settings::new()
        .window(2, secs(60))
        .at_least(2)
        .percent(100)
        .open_for(secs(10));
    BreakerLayer::of_replicas(settings).expect("it makes sense")
}

async fn ask_times<S: portcullis::Agent + Clone>(agent: &S, times: usize) {
    for _ in 0..times {
        events(agent).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_fails_is_left_alone_until_a_probe_succeeds() {
    // Fails two times and then a probe, then works.
    let bad = || [say("a"), fail("down", true)];
    let ill = actor(bad()).then(bad()).then(bad()).then([done()]);
    let well = actor([done()]);
    let changes = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&changes);
    let breaker = touchy().on_change(move |name: &Arc<str>, change| {
        seen.lock().unwrap().push((name.to_string(), change));
    });
    let agents = [("ill", ill.clone()), ("well", well.clone())];
    let agent = Balance::named(agents).expect("two").ejecting(breaker);
    // Both are idle: each gets half of the turns.
    while ill.seen.calls() < 2 {
        ask_times(&agent, 1).await;
    }
    let before = well.seen.calls();
    ask_times(&agent, 50).await;
    assert_eq!((ill.seen.calls(), well.seen.calls()), (2, before + 50));
    // One probe, which fails; then nothing again for as long.
    advance(secs(10)).await;
    ask_times(&agent, 50).await;
    assert_eq!(ill.seen.calls(), 3);
    advance(secs(9)).await;
    ask_times(&agent, 50).await;
    assert_eq!(ill.seen.calls(), 3);
    // One that succeeds, and it has its share again.
    advance(secs(1)).await;
    ask_times(&agent, 100).await;
    assert!(ill.seen.calls() > 10, "{}", ill.seen.calls());
    let changes = changes.lock().unwrap();
    let ill = |change| ("ill".to_owned(), change);
    let expected = [
        Change::Opened(secs(10)),
        Change::Probing,
        Change::Opened(secs(10)),
        Change::Probing,
        Change::Closed,
    ];
    assert_eq!(*changes, expected.map(ill));
    assert_eq!(agent.running(), [0, 0]);
}

/// A probe is one turn: while it runs, the others go elsewhere, and when it is dropped the next one
/// may try.
#[tokio::test(start_paused = true)]
async fn one_probe_at_a_time() {
    let ill = actor([fail("down", true)])
        .then([fail("down", true)])
        .then([say("a"), Do::Hang]);
    let well = actor([done()]);
    let agent = Balance::new([ill.clone(), well.clone()]).expect("two");
    let agent = agent.ejecting(touchy());
    while ill.seen.calls() < 2 {
        ask_times(&agent, 1).await;
    }
    advance(secs(10)).await;
    let mut hangs = Vec::new();
    while ill.seen.calls() < 3 {
        let mut turn = Box::pin(ask(&agent));
        hangs.push(turn.next().await);
        if ill.seen.calls() == 3 {
            // While it lasts, nobody else is sent there, though it is as idle as the other.
            ask_times(&agent, 50).await;
            assert_eq!((ill.seen.calls(), agent.running()), (3, vec![1, 0]));
        }
    }
    assert_eq!(agent.running(), [0, 0]);
    while ill.seen.calls() < 4 {
        let mut turn = Box::pin(ask(&agent));
        turn.next().await;
    }
}

/// Nobody is called, and the caller knows when to come again: when the first one may be back.
#[tokio::test(start_paused = true)]
async fn with_all_out_a_turn_is_refused_with_a_time() {
    let agents = [(); 3].map(|()| actor([fail("down", true)]));
    let agent = Balance::new(agents.clone()).expect("three");
    let agent = agent.ejecting(touchy());
    let calls = || agents.iter().map(|agent| agent.seen.calls()).sum::<usize>();
    let mut asked = 0;
    while calls() == asked {
        events(&agent).await;
        asked += 1;
        // Each goes out at another time.
        advance(secs(1)).await;
        assert!(asked < 100, "they are never out");
    }
    let asked = calls();
    let refused = events(&agent).await;
    let failure = failure(&refused);
    assert_eq!(refused.len(), 1);
    assert_eq!(failure.code(), Some(&FailureCode::UNAVAILABLE));
    assert!(failure.is_retryable());
    let after = failure.after().expect("when to come again");
    assert!(after > secs(0) && after <= secs(10), "{after:?}");
    assert_eq!((calls(), agent.running()), (asked, vec![0, 0, 0]));
    advance(after - secs(1) / 2).await;
    events(&agent).await;
    assert_eq!(calls(), asked, "not before");
    advance(secs(1) / 2).await;
    events(&agent).await;
    assert_eq!(calls(), asked + 1, "and then");
}

async fn home<S: portcullis::Agent + Clone>(agent: &S, session: &str) -> String {
    let turn = agent.invoke(Scope::new(session), Prompt::text("hello"));
    let events: Vec<_> = turn.collect().await;
    match &events[0] {
        AgentEvent::Text(text) => text.delta().to_owned(),
        other => panic!("{other:?}"),
    }
}

fn speaks(name: &'static str) -> (&'static str, Actor) {
    (name, actor([say(name), done()]))
}

#[tokio::test(start_paused = true)]
async fn a_session_stays_where_it_is() {
    let by_session = |scope: &Scope| Some(scope.session().to_owned());
    let names = ["a", "b", "c"];
    let agent = Balance::named(names.map(speaks))
        .expect("three")
        .sticky_by(by_session);
    // Another process has them in another order.
    let other = Balance::named(["c", "a", "b"].map(speaks))
        .expect("three")
        .sticky_by(by_session);
    let mut homes = Vec::new();
    for session in 0..30 {
        let session = format!("session-{session}");
        let name = home(&agent, &session).await;
        assert_eq!(home(&agent, &session).await, name, "however often");
        assert_eq!(home(&other, &session).await, name, "wherever");
        homes.push(name);
    }
    // Where one is lost, its own sessions move and no others; when it is back, they come back.
    let breaker = touchy();
    let mortal = actor([fail("down", true)])
        .then([fail("down", true)])
        .then([say("b"), done()]);
    let agents = [speaks("a"), ("b", mortal.clone()), speaks("c")];
    let agent = Balance::named(agents)
        .expect("three")
        .ejecting(breaker)
        .sticky_by(by_session);
    let of_b = homes
        .iter()
        .position(|name| name == "b")
        .expect("ten of thirty");
    for _ in 0..2 {
        let session = format!("session-{of_b}");
        let turn = agent.invoke(Scope::new(session), Prompt::text("hello"));
        turn.collect::<Vec<_>>().await;
    }
    for (session, name) in homes.iter().enumerate() {
        let now = home(&agent, &format!("session-{session}")).await;
        assert_eq!(now == *name, name != "b", "{session}");
    }
    assert_eq!(mortal.seen.calls(), 2);
    advance(secs(10)).await;
    for (session, name) in homes.iter().enumerate() {
        assert_eq!(home(&agent, &format!("session-{session}")).await, *name);
    }
}

/// Without a key load decides.
#[tokio::test]
async fn without_a_key_load_decides() {
    let agents = [(); 2].map(|()| actor([say("a"), Do::Hang]));
    let agent = Balance::new(agents).expect("two").sticky_by(|_| None);
    let mut turns = Vec::new();
    for _ in 0..6 {
        let mut turn = Box::pin(ask(&agent));
        turn.next().await;
        turns.push(turn);
    }
    assert_eq!(agent.running(), [3, 3]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// What runs is counted, at every moment, and whatever ends it, it counts no more.
    #[test]
    fn load_is_what_runs(
        steps in prop::collection::vec((0..4_u8, 0..8_usize, 0..3_usize), 1..60),
        ejects in any::<bool>(),
        sticks in any::<bool>(),
    ) {
        let ends = [
            vec![say("a"), done()],
            vec![say("a"), fail("no", true)],
            vec![say("a")],
            vec![say("a"), Do::Panic],
            vec![Do::Hang],
            vec![Do::Panic],
            vec![],
        ];
        let parts = |shift: usize| {
            let mut parts = ends.iter().cycle().skip(shift).take(ends.len()).cloned();
            let first = actor(parts.next().expect("some"));
            parts.fold(first, Actor::then)
        };
        let agents = [0, 2, 4].map(parts);
        let mut agent = Balance::new(agents.clone()).expect("three");
        if ejects {
            agent = agent.ejecting(touchy());
        }
        if sticks {
            agent = agent.sticky_by(|scope| Some(scope.session().to_owned()));
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let mut turns = Vec::new();
            for (step, which, session) in steps {
                match step {
                    0 => {
                        let scope = Scope::new(format!("s{session}"));
                        turns.push(Box::pin(agent.invoke(scope, Prompt::text("p"))));
                    }
                    1 if !turns.is_empty() => {
                        let turn = turns.len() - 1 - which % turns.len();
                        drop(turns.remove(turn));
                    }
                    2 if !turns.is_empty() => {
                        let turn = which % turns.len();
                        let _ = AssertUnwindSafe(async { turns[turn].next().now_or_never() })
                            .catch_unwind()
                            .await;
                    }
                    _ => advance(secs(which as u64)).await,
                }
                let alive: Vec<_> = agents.iter().map(|agent| agent.seen.alive()).collect();
                assert_eq!(agent.running(), alive);
            }
            drop(turns);
            assert_eq!(agent.running(), [0, 0, 0]);
        });
    }
}
