//! Three clocks.

mod support;

use std::{
    convert::Infallible,
    future::{Pending, pending},
    task::{Context, Poll},
    time::Duration,
};

use futures_util::{FutureExt, StreamExt};
use portcullis::{AgentEvent, AgentExt, BoxEventStream, FailureCode, Prompt, Retrying, Scope};
use portcullis_layers::timeout::{Clocks, TimeoutLayer};
use tokio::time::Instant;
use tower::{Layer, Service};

use support::*;

fn heartbeat() -> Do {
    Do::Say(unknown("heartbeat"))
}

async fn run(layer: TimeoutLayer, part: Vec<Do>) -> (String, String, u64) {
    let (begun, actor) = (Instant::now(), actor(part));
    let events = events(&layer.layer(actor.clone())).await;
    assert_eq!(actor.seen.alive(), 0);
    let details = match events.last() {
        Some(AgentEvent::Failed(failure)) => {
            assert!(failure.is(&FailureCode::TIMEOUT), "{failure:?}");
            // O-B04: the most common transient fault is one.
            assert!(failure.is_retryable());
            failure.details().to_owned()
        }
        _ => String::new(),
    };
    (types(&events), details, begun.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn hands_on_everything() {
    let clocks = || {
        Clocks::new()
            .first_event(secs(5))
            .idle(secs(5))
            .total(secs(60))
    };
    assert_transparent(|actor| TimeoutLayer::new(clocks()).unwrap().layer(actor)).await;
    assert_drops(
        everything(),
        |actor| TimeoutLayer::new(clocks()).unwrap().layer(actor),
        || true,
    )
    .await;
}

#[test]
fn cannot_be_inert() {
    assert_eq!(
        TimeoutLayer::new(Clocks::new()).unwrap_err().to_string(),
        "no clock is set"
    );
    assert!(TimeoutLayer::new(Clocks::new().idle(None)).is_err());
    assert!(TimeoutLayer::new(Clocks::new().deadline()).is_ok());
}

#[tokio::test(start_paused = true)]
async fn first_event() {
    let layer = || TimeoutLayer::first_event(secs(5));
    let late = vec![Do::Wait(secs(6)), say("a"), done()];
    let (types, details, at) = run(layer(), late).await;
    assert_eq!(
        (&*types, &*details, at),
        ("failed", "no event came within 5s", 5)
    );
    // Behind it nothing is bounded.
    let slow = vec![Do::Wait(secs(4)), say("a"), Do::Wait(secs(99)), done()];
    assert_eq!(run(layer(), slow).await.0, "text completed");
    // A heartbeat is no answer.
    let beats = vec![
        Do::Wait(secs(4)),
        heartbeat(),
        Do::Wait(secs(4)),
        say("a"),
        done(),
    ];
    let (types, _, at) = run(layer(), beats).await;
    assert_eq!((&*types, at), ("heartbeat failed", 5));
}

#[tokio::test(start_paused = true)]
async fn idle() {
    let layer = || TimeoutLayer::idle(secs(5));
    let silent = vec![say("a"), Do::Wait(secs(4)), say("b"), Do::Hang];
    let (types, details, at) = run(layer(), silent).await;
    assert_eq!(
        (&*types, &*details, at),
        ("text text failed", "nothing came for 5s", 9)
    );
    // From the start, if the first event has no clock.
    let (types, _, at) = run(layer(), vec![Do::Hang]).await;
    assert_eq!((&*types, at), ("failed", 5));
    let clocks = Clocks::new().first_event(secs(60)).idle(secs(5));
    let slow_start = vec![Do::Wait(secs(50)), say("a"), Do::Hang];
    let (types, _, at) = run(TimeoutLayer::new(clocks).unwrap(), slow_start).await;
    assert_eq!((&*types, at), ("text failed", 55));
}

#[tokio::test(start_paused = true)]
async fn only_meaningful_events_stop_the_silence() {
    let retrying = Do::Say(Retrying::new(2, 3, secs(1), "busy").into());
    for beat in [heartbeat(), retrying, say("")] {
        let part = vec![
            say("a"),
            Do::Wait(secs(3)),
            beat,
            Do::Wait(secs(3)),
            say("b"),
            done(),
        ];
        let (_, details, at) = run(TimeoutLayer::idle(secs(5)), part).await;
        assert_eq!((&*details, at), ("nothing came for 5s", 5));
    }
    let part = vec![
        say("a"),
        Do::Wait(secs(3)),
        heartbeat(),
        Do::Wait(secs(3)),
        done(),
    ];
    let lenient = TimeoutLayer::idle(secs(5)).meaningful(|_| true);
    assert_eq!(run(lenient, part).await.0, "text heartbeat completed");
}

#[tokio::test(start_paused = true)]
async fn total_and_deadline() {
    let chatty = || {
        (0..9)
            .flat_map(|_| [say("a"), Do::Wait(secs(2))])
            .collect::<Vec<_>>()
    };
    let (types, details, at) = run(TimeoutLayer::total(secs(5)), chatty()).await;
    assert_eq!(
        (&*types, &*details, at),
        ("text text text failed", "the turn took longer than 5s", 5)
    );

    let actor = actor(chatty());
    let agent = TimeoutLayer::total(secs(60)).layer(actor.clone());
    let deadline = (Instant::now() + secs(3)).into_std();
    let scope = Scope::new("s").with_deadline(deadline);
    let events: Vec<_> = agent.invoke(scope, Prompt::text("p")).collect().await;
    assert_eq!(support::types(&events), "text text failed");
    assert_eq!(failure(&events).details(), "the deadline has passed");
    // The clock is the deadline of what is below, if it is earlier.
    assert_eq!(actor.seen.last_scope().deadline(), Some(deadline));
    let begun = Instant::now();
    let agent = TimeoutLayer::total(secs(5)).layer(actor.clone());
    let _ = Box::pin(ask(&agent)).next().await;
    let below = actor.seen.last_scope().deadline().unwrap();
    assert_eq!(Instant::from_std(below) - begun, secs(5));
}

/// O-B11: zero is a time.
#[tokio::test(start_paused = true)]
async fn zero_is_a_time() {
    let (types, _, at) = run(TimeoutLayer::idle(Duration::ZERO), vec![Do::Hang]).await;
    assert_eq!((&*types, at), ("failed", 0));
    let ready = vec![say("a"), done()];
    assert_eq!(
        run(TimeoutLayer::idle(Duration::ZERO), ready).await.0,
        "text completed"
    );
}

/// O-B05: out of reach is no clock, and no panic.
#[tokio::test(start_paused = true)]
async fn an_endless_time_is_no_clock() {
    let part = vec![Do::Wait(secs(9)), say("a"), done()];
    for layer in [
        TimeoutLayer::idle(Duration::MAX),
        TimeoutLayer::total(Duration::MAX),
    ] {
        assert_eq!(run(layer, part.clone()).await.0, "text completed");
    }
}

/// Never answers the call.
#[derive(Clone, Debug)]
struct Unanswered;

impl Service<(Scope, Prompt)> for Unanswered {
    type Response = BoxEventStream;
    type Error = Infallible;
    type Future = Pending<Result<BoxEventStream, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: (Scope, Prompt)) -> Self::Future {
        pending()
    }
}

#[tokio::test(start_paused = true)]
async fn clocks_run_while_the_call_is_pending() {
    for layer in [
        TimeoutLayer::first_event(secs(5)),
        TimeoutLayer::idle(secs(5)),
        TimeoutLayer::total(secs(5)),
    ] {
        let begun = Instant::now();
        assert_eq!(types(&events(&layer.layer(Unanswered)).await), "failed");
        assert_eq!(begun.elapsed().as_secs(), 5);
    }
}

/// Event first, then clock: an event that is there is delivered, however late somebody
/// looks, and an agent that nobody polls is not silent.
#[tokio::test(start_paused = true)]
async fn a_late_reader_loses_nothing() {
    let agent = TimeoutLayer::idle(secs(5)).layer(actor([
        say("a"),
        Do::Wait(secs(3)),
        say("b"),
        Do::Wait(secs(3)),
        done(),
    ]));
    let mut turn = Box::pin(ask(&agent));
    assert_eq!(turn.next().await, Some(AgentEvent::text("a")));
    tokio::time::advance(secs(60)).await;
    assert!(turn.next().now_or_never().is_none());
    tokio::time::advance(secs(60)).await;
    assert_eq!(turn.next().await, Some(AgentEvent::text("b")));
    assert_eq!(turn.next().await, Some(AgentEvent::completed()));
}

/// An agent that never waits is looked at now and then.
#[tokio::test(start_paused = true)]
async fn an_agent_that_never_waits_is_ended_as_well() {
    let agent = TimeoutLayer::total(secs(5)).layer(actor(vec![say("a"); 1000]));
    let mut turn = Box::pin(ask(&agent));
    for _ in 0..10 {
        assert_eq!(turn.next().await, Some(AgentEvent::text("a")));
    }
    tokio::time::advance(secs(6)).await;
    let rest: Vec<_> = turn.collect().await;
    assert!(rest.len() <= 65, "{}", rest.len());
    assert!(failure(&rest).is(&FailureCode::TIMEOUT));
}

#[tokio::test(start_paused = true)]
async fn a_deadline_that_has_passed_ends_at_once() {
    let agent = TimeoutLayer::deadline().layer(actor(vec![say("a"); 1000]));
    let scope = Scope::new("s").with_deadline(Instant::now().into_std());
    let events: Vec<_> = agent.invoke(scope, Prompt::text("p")).collect().await;
    assert_eq!(types(&events), "text failed");
}

/// Twice in one stack: the inner one ends a run, the outer one the turn (O-B07).
#[tokio::test(start_paused = true)]
async fn two_of_them_are_two() {
    let agent = TimeoutLayer::total(secs(3))
        .layer(TimeoutLayer::idle(secs(5)).layer(actor([say("a"), Do::Hang])));
    let events = events(&agent).await;
    assert_eq!(failure(&events).details(), "the turn took longer than 3s");
}
