//! So many turns at once, each to its end.

mod support;

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use futures_util::{FutureExt, StreamExt};
use portcullis::{AgentEvent, AgentExt, FailureCode, Invoke, Prompt, Scope};
use portcullis_layers::concurrency::ConcurrencyLayer;
use tokio::{task::JoinSet, time::Instant};
use tower::{Layer, ServiceBuilder};

use support::*;

fn by_session(scope: &Scope) -> String {
    scope.session().to_owned()
}

type Keyed = ConcurrencyLayer<fn(&Scope) -> String>;

fn keyed(most: usize) -> Keyed {
    ConcurrencyLayer::keyed(most, by_session)
}

fn of<A: portcullis::Agent + Clone>(agent: &A, session: &str) -> std::pin::Pin<Box<Invoke<A>>> {
    Box::pin(agent.invoke(Scope::new(session), Prompt::text("p")))
}

fn counts<K: portcullis_layers::concurrency::Key>(
    layer: &ConcurrencyLayer<K>,
) -> (usize, usize, usize) {
    (layer.running(), layer.waiting(), layer.keys())
}

#[tokio::test(start_paused = true)]
async fn hands_on_everything() {
    assert_transparent(|actor| ConcurrencyLayer::new(1).layer(actor)).await;
    let layer = keyed(2).overall(3);
    assert_transparent(|actor| layer.layer(actor)).await;
    let gone = layer.clone();
    assert_drops(
        everything(),
        |actor| layer.layer(actor),
        move || counts(&gone) == (0, 0, 0),
    )
    .await;
}

/// O-B06: the permit lives as long as the stream.
#[tokio::test]
async fn a_place_is_held_until_the_turn_ends() {
    let limit = ConcurrencyLayer::new(2);
    let agent = limit.layer(actor([say("a"), Do::Hang]));
    let mut first = Box::pin(ask(&agent));
    let mut second = Box::pin(ask(&agent));
    let mut third = Box::pin(ask(&agent));
    for turn in [&mut first, &mut second] {
        assert_eq!(turn.next().await, Some(AgentEvent::text("a")));
    }
    assert!(third.next().now_or_never().is_none());
    assert_eq!((limit.running(), limit.waiting()), (2, 1));
    drop(first);
    assert_eq!(
        third.next().now_or_never(),
        Some(Some(AgentEvent::text("a")))
    );
    assert_eq!((limit.running(), limit.waiting()), (2, 0));
}

#[tokio::test(start_paused = true)]
async fn every_end_frees_the_place() {
    for (end, part) in five_ends() {
        let limit = keyed(1);
        let agent = limit.layer(actor(part));
        to_its_end(&agent).await;
        assert_eq!(counts(&limit), (0, 0, 0), "{end}");
        // Free at the event, though the stream lives on.
        if matches!(end, "completed" | "failed") {
            let mut turn = Box::pin(ask(&agent));
            while !turn.next().await.unwrap().is_terminal() {}
            assert_eq!(counts(&limit), (0, 0, 0), "{end}");
        }
    }
}

#[tokio::test]
async fn sheds_at_once() {
    let limit = ConcurrencyLayer::new(1).shed();
    let actor = actor([say("a"), Do::Hang]);
    let agent = limit.layer(actor.clone());
    let mut running = Box::pin(ask(&agent));
    let _ = running.next().await;
    let shed = events(&agent).await;
    assert_eq!(types(&shed), "failed");
    assert!(failure(&shed).is(&FailureCode::OVERLOADED) && failure(&shed).is_retryable());
    assert_eq!(actor.seen.calls(), 1, "the agent is not called");
    drop(running);
    assert_eq!(
        Box::pin(ask(&agent)).next().await,
        Some(AgentEvent::text("a"))
    );
}

#[tokio::test(start_paused = true)]
async fn bounds_the_wait() {
    let limit = keyed(1).max_waiting(1).max_wait(secs(10));
    let agent = limit.layer(actor([say("a"), Do::Hang]));
    let mut running = of(&agent, "s");
    let _ = running.next().await;
    let (begun, mut waiting) = (Instant::now(), of(&agent, "s"));
    assert!(waiting.next().now_or_never().is_none());
    // One more of this key does not even wait; another key is free.
    let refused: Vec<_> = of(&agent, "s").collect().await;
    assert!(failure(&refused).is(&FailureCode::OVERLOADED));
    assert_eq!(
        of(&agent, "other").next().await,
        Some(AgentEvent::text("a"))
    );
    assert_eq!(begun.elapsed(), secs(0));
    let waited: Vec<_> = waiting.collect().await;
    assert!(failure(&waited).is(&FailureCode::OVERLOADED));
    assert_eq!(begun.elapsed().as_secs(), 10);
    assert_eq!(counts(&limit), (1, 0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_deadline_ends_the_wait() {
    let agent = ConcurrencyLayer::new(1).layer(actor([say("a"), Do::Hang]));
    let mut running = Box::pin(ask(&agent));
    let _ = running.next().await;
    let scope = Scope::new("s").with_deadline((Instant::now() + secs(7)).into_std());
    let begun = Instant::now();
    let waited: Vec<_> = agent.invoke(scope, Prompt::text("p")).collect().await;
    assert!(failure(&waited).is(&FailureCode::TIMEOUT));
    assert_eq!(begun.elapsed().as_secs(), 7);
}

/// O-B11: zero is a limit, and waits for nobody.
#[tokio::test]
async fn zero_refuses_everything() {
    for layer in [
        ConcurrencyLayer::new(0),
        ConcurrencyLayer::new(5).overall(0),
    ] {
        let refused = events(&layer.layer(actor([done()]))).await;
        assert!(failure(&refused).is(&FailureCode::OVERLOADED));
    }
}

#[tokio::test]
async fn first_come_first_served() {
    let limit = ConcurrencyLayer::new(1);
    let agent = limit.layer(actor([say("a"), Do::Hang]));
    let mut turns: Vec<_> = (0..5).map(|_| Box::pin(ask(&agent))).collect();
    for turn in &mut turns {
        let _ = turn.next().now_or_never();
    }
    // One that waits leaves the queue.
    drop(turns.remove(2));
    assert_eq!(limit.waiting(), 3);
    while turns.len() > 1 {
        drop(turns.remove(0));
        // Nobody gets in between, not even a newcomer.
        assert!(Box::pin(ask(&agent)).next().now_or_never().is_none());
        for (place, turn) in turns.iter_mut().enumerate() {
            assert_eq!(turn.next().now_or_never().is_some(), place == 0);
        }
    }
}

/// A turn that was called up and is dropped before it looked passes its place on.
#[tokio::test]
async fn a_place_is_not_lost_on_the_way() {
    let limit = ConcurrencyLayer::new(1);
    let agent = limit.layer(actor([say("a"), Do::Hang]));
    let mut turns: Vec<_> = (0..3).map(|_| Box::pin(ask(&agent))).collect();
    for turn in &mut turns {
        let _ = turn.next().now_or_never();
    }
    drop(turns.remove(0));
    assert_eq!((limit.running(), limit.waiting()), (1, 1));
    drop(turns.remove(0));
    assert_eq!((limit.running(), limit.waiting()), (1, 0));
    assert!(turns[0].next().now_or_never().is_some());
    drop(turns);
    assert_eq!(counts(&limit), (0, 0, 0));
}

/// "Nothing runs ahead", second half: one key queues a hundred turns, another is served as
/// on an idle system; also where a limit over all keys is in the same layer.
#[tokio::test(start_paused = true)]
async fn a_queue_of_one_key_is_nothing_to_another() {
    let limits = [
        keyed(1).layer(actor([Do::Wait(secs(10)), done()])),
        keyed(1)
            .overall(2)
            .layer(actor([Do::Wait(secs(10)), done()])),
    ];
    for agent in limits {
        let mut crowd: Vec<_> = (0..100).map(|_| of(&agent, "a")).collect();
        for turn in &mut crowd {
            assert!(turn.next().now_or_never().is_none());
        }
        let begun = Instant::now();
        assert_eq!(of(&agent, "b").next().await, Some(AgentEvent::completed()));
        assert_eq!(begun.elapsed().as_secs(), 10);
    }
}

/// A turn that waits reserves nothing: not the place of another layer below either.
#[tokio::test]
async fn who_waits_takes_nothing_below() {
    let below = ConcurrencyLayer::new(2);
    let agent = ServiceBuilder::new()
        .layer(keyed(1))
        .layer(below.clone())
        .service(actor([say("a"), Do::Hang]));
    let mut turns: Vec<_> = ["a", "a", "a", "b"]
        .map(|session| of(&agent, session))
        .into();
    let got: Vec<_> = turns
        .iter_mut()
        .map(|turn| turn.next().now_or_never().is_some())
        .collect();
    assert_eq!(got, [true, false, false, true]);
    assert_eq!((below.running(), below.waiting()), (2, 0));
}

/// Both limits at once: who has no place overall holds none of its key.
#[tokio::test]
async fn takes_both_places_or_none() {
    let limit = keyed(1).overall(1);
    let agent = limit.layer(actor([say("a"), Do::Hang]));
    let mut turns: Vec<_> = ["a", "b", "b", "a"]
        .map(|session| of(&agent, session))
        .into();
    for turn in &mut turns {
        let _ = turn.next().now_or_never();
    }
    assert_eq!(counts(&limit), (1, 3, 2));
    // The next by age is the first "b", then the "a", whose key is free before the second "b".
    drop(turns.remove(0));
    let next: Vec<_> = turns
        .iter_mut()
        .map(|turn| turn.next().now_or_never().is_some())
        .collect();
    assert_eq!(next, [true, false, false]);
    drop(turns.remove(0));
    let next: Vec<_> = turns
        .iter_mut()
        .map(|turn| turn.next().now_or_never().is_some())
        .collect();
    assert_eq!(next, [true, false]);
    drop(turns);
    assert_eq!(counts(&limit), (0, 0, 0));
}

/// O-M03.
#[tokio::test]
async fn keys_are_forgotten() {
    let limit = keyed(1);
    let agent = limit.layer(actor([done()]));
    for session in 0..10_000 {
        let _ = of(&agent, &session.to_string()).collect::<Vec<_>>().await;
    }
    assert_eq!(counts(&limit), (0, 0, 0));
    // A refusal leaves nothing either.
    let shed = keyed(1).overall(1).shed();
    let agent = shed.layer(actor([say("a"), Do::Hang]));
    let mut running = of(&agent, "a");
    let _ = running.next().await;
    assert!(failure(&of(&agent, "b").collect::<Vec<_>>().await).is(&FailureCode::OVERLOADED));
    assert_eq!(counts(&shed), (1, 0, 1));
}

/// One layer is one limit, over all services that it makes; two layers are two (O-B07).
#[tokio::test]
async fn clones_share_a_limit() {
    let limit = ConcurrencyLayer::new(1);
    let one = limit.layer(actor([say("a"), Do::Hang]));
    let two = limit.clone().layer(actor([say("a"), Do::Hang]));
    let mut running = Box::pin(ask(&one));
    let _ = running.next().await;
    assert!(Box::pin(ask(&two)).next().now_or_never().is_none());
    let other = ConcurrencyLayer::new(1).layer(actor([say("a"), Do::Hang]));
    assert!(Box::pin(ask(&other)).next().now_or_never().is_some());
}

/// Counts down when the engine's future is gone.
struct Leaves(Arc<AtomicUsize>);

impl Drop for Leaves {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Never more than the limit, and nobody is forgotten, on many threads.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn holds_under_load() {
    let limit = keyed(2).overall(5);
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let engine = {
        let (now, most) = (Arc::clone(&now), Arc::clone(&most));
        portcullis::agent_fn(move |_: Scope, _: Prompt, out: portcullis::Emitter| {
            let (now, most) = (Arc::clone(&now), Arc::clone(&most));
            async move {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                let _leaves = Leaves(now);
                tokio::task::yield_now().await;
                out.emit(AgentEvent::text("a")).await;
                Ok(())
            }
        })
    };
    let agent = limit.layer(engine);
    let mut turns = JoinSet::new();
    for turn in 0..2_000 {
        let agent = agent.clone();
        turns.spawn(async move {
            let mut events = of(&agent, &(turn % 7).to_string());
            if turn % 10 == 0 {
                // Leaves while it waits, or while it runs.
                let _ = events.next().now_or_never();
                return 0;
            }
            events.collect::<Vec<_>>().await.len()
        });
    }
    let done = turns.join_all().await;
    assert_eq!(done.iter().filter(|events| **events == 2).count(), 1_800);
    assert_eq!(most.load(Ordering::SeqCst), 5);
    assert_eq!(counts(&limit), (0, 0, 0));
}
