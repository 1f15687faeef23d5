//! Row `Balance` of the table of tower's layers, with ruling 2: load counts to the end of
//! the stream.
#![cfg(feature = "balance")]

mod support;

use futures_util::StreamExt;
use portcullis::{
    AgentEvent,
    conformance::{LayerOptions, ProbeAgent, suite},
};
use portcullis_layers::balance::Balance;
use tower::layer::layer_fn;

use support::{Do, actor, ask, done, say};

/// Over replicas of one probe it is an agent like any other, with everything that the kit asks
/// of a layer: drops reach the replica, nothing is reserved, nothing runs ahead.
#[tokio::test(start_paused = true)]
async fn it_conforms() {
    let over_three =
        || layer_fn(|probe: ProbeAgent| Balance::new(vec![probe; 3]).expect("there are three"));
    suite::layer(over_three, LayerOptions::new()).await.assert();
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
        let rest = std::panic::AssertUnwindSafe(turn.next());
        let _ = futures_util::FutureExt::catch_unwind(rest).await;
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
