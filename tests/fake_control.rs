//! The session control plane that edges are tested against.
#![cfg(feature = "conformance")]

use futures_util::StreamExt;
use portcullis::{
    AgentEvent, AgentExt, Emitter, FailureCode, Fate, Inbox, Prompt, RefusalCode, Scope,
    SessionControl, TurnLayer, agent_fn,
    conformance::{FakeSessionControl, LayerOptions, ProbeAgent, suite},
};
use tower::Layer;

fn steerable()
-> impl portcullis::Agent<Response: Send, Future: Send> + Clone + Send + Sync + 'static {
    agent_fn(async |scope: Scope, _, out: Emitter| {
        let mut inbox = Inbox::take(&scope).expect("the session offers one");
        while let Some(prompt) = inbox.next().await {
            out.emit(AgentEvent::text(prompt.as_text())).await;
        }
        Ok(())
    })
}

fn prompt() -> Prompt {
    Prompt::text("begin")
}

#[tokio::test(start_paused = true)]
async fn it_is_a_layer_that_conforms() {
    let layer = || TurnLayer::new(FakeSessionControl::new());
    suite::layer(layer, LayerOptions::new()).await.assert();
}

#[tokio::test]
async fn steering_reaches_the_run_and_its_fate_is_told() {
    let control = FakeSessionControl::new();
    let agent = TurnLayer::new(control.clone()).layer(steerable()).boxed();
    let refusal = control.steer("s", prompt()).await.expect_err("no turn");
    assert_eq!(refusal.code(), RefusalCode::NotRunning);

    let mut turn = agent.invoke(Scope::new("s"), prompt());
    assert!(futures_util::poll!(turn.next()).is_pending());
    let capabilities = control.capabilities("s").await;
    assert!(capabilities.steer && capabilities.abort);
    let first = control
        .steer("s", Prompt::text("left"))
        .await
        .expect("taken");
    let second = control
        .steer("s", Prompt::text("right"))
        .await
        .expect("taken");
    let fates = control.state("s").await.fates;
    assert_eq!(
        fates,
        [
            (first.clone(), Fate::Queued),
            (second.clone(), Fate::Queued)
        ]
    );

    assert_eq!(turn.next().await, Some(AgentEvent::text("left")));
    let state = control.state("s").await;
    assert!(state.running);
    let expected = [
        (first.clone(), Fate::Delivered),
        (second.clone(), Fate::Queued),
    ];
    assert_eq!(state.fates, expected);

    let third = control
        .follow_up("s", Prompt::text("then this"))
        .await
        .expect("queued");
    drop(turn);
    let state = control.state("s").await;
    assert!(!state.running);
    let expected = [
        (first, Fate::Delivered),
        (second, Fate::Dropped),
        (third, Fate::Dropped),
    ];
    assert_eq!(state.fates, expected);
    assert!(control.take_follow_up("s").is_none());
}

#[tokio::test]
async fn an_engine_that_takes_no_inbox_cannot_be_steered() {
    let control = FakeSessionControl::new();
    let agent = TurnLayer::new(control.clone()).layer(ProbeAgent::new().text("a").hang());
    let mut turn = agent.invoke(Scope::new("s"), prompt());
    turn.next().await;
    assert!(!control.capabilities("s").await.steer);
    let refusal = control
        .steer("s", prompt())
        .await
        .expect_err("nobody reads");
    assert_eq!(refusal.code(), RefusalCode::Unsupported);
    assert!(control.state("s").await.fates.is_empty());
}

#[tokio::test]
async fn an_abort_wakes_the_turn_and_drops_the_engine() {
    let control = FakeSessionControl::new();
    let probe = ProbeAgent::new().text("a").hang();
    let log = probe.log();
    let agent = TurnLayer::new(control.clone()).layer(probe);
    let mut turn = tokio_test::task::spawn(agent.invoke(Scope::new("s"), prompt()));
    assert!(turn.poll_next().is_ready());
    assert!(turn.poll_next().is_pending());
    control.abort("s").await.expect("a turn runs");
    assert!(turn.is_woken());
    let std::task::Poll::Ready(Some(AgentEvent::Failed(failure))) = turn.poll_next() else {
        panic!("it goes on");
    };
    assert!(failure.is(&FailureCode::ABORTED));
    assert_eq!(log.live_runs(), 0);
    assert!(control.abort("s").await.is_err(), "nothing runs any more");
}

#[tokio::test]
async fn an_observer_sees_what_follows_and_has_no_effect() {
    let control = FakeSessionControl::new();
    let probe = ProbeAgent::new().text("a").unknown(1).text("b").completed();
    let agent = TurnLayer::new(control.clone()).layer(probe);
    assert!(control.events("s").await.is_none());
    let mut turn = agent.invoke(Scope::new("s"), prompt());
    turn.next().await;
    let observer = control.events("s").await.expect("a turn runs");
    drop(control.events("s").await);
    let rest: Vec<_> = turn.collect().await;
    assert_eq!(rest.len(), 3);
    assert_eq!(observer.collect::<Vec<_>>().await, rest);
}

/// The second turn's clean-up is not the first one's (O-L11).
#[tokio::test]
async fn a_turn_closes_only_itself() {
    let control = FakeSessionControl::new();
    let agent = TurnLayer::new(control.clone()).layer(ProbeAgent::new().text("a").hang());
    let mut first = agent.invoke(Scope::new("s"), prompt());
    first.next().await;
    let mut second = agent.invoke(Scope::new("s"), prompt());
    second.next().await;
    drop(first);
    assert!(control.state("s").await.running);
    drop(second);
    assert!(!control.state("s").await.running);
}
