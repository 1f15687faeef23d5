//! Unknown events go around a layer that would drop or break them.

mod support;

use std::{
    convert::Infallible,
    future::{Ready, ready},
    pin::Pin,
    task::{Context, Poll},
};

use futures_util::{
    FutureExt, Stream, StreamExt,
    stream::{self, FuturesUnordered},
};
use portcullis::{
    Agent, AgentEvent, AgentExt, BoxEventStream, Failure, FailureCode, Flow, Invoke, Outbox,
    Prompt, Scope, Turn, TurnLayer,
};
use portcullis_layers::{
    catch::CatchLayer,
    passthrough::{Divert, PassthroughLayer},
    raise::RaiseLayer,
};
use tokio::{sync::mpsc, task::JoinSet};
use tower::{Layer, Service, ServiceBuilder, layer::layer_fn, layer::util::Identity};

use support::*;

/// A layer that makes another stream of the agent's.
#[derive(Clone, Debug)]
struct Restream<S, F>(S, F);

impl<S, F, St> Service<(Scope, Prompt)> for Restream<S, F>
where
    S: Agent + Clone,
    F: Fn(Invoke<S>) -> St,
    St: Stream<Item = AgentEvent>,
{
    type Response = St;
    type Error = Infallible;
    type Future = Ready<Result<St, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, (scope, prompt): (Scope, Prompt)) -> Self::Future {
        ready(Ok((self.1)(Invoke::new(self.0.clone(), scope, prompt))))
    }
}

type Below = Invoke<Divert<Actor>>;

/// Around a layer over an [`Actor`].
fn around<F, St>(
    restream: F,
    part: impl IntoIterator<Item = Do>,
) -> (Actor, impl Agent<Response: Send, Future: Send> + Clone)
where
    F: Fn(Below) -> St + Clone + Send,
    St: Stream<Item = AgentEvent> + Send,
{
    let actor = actor(part);
    let layer = layer_fn(move |inner| Restream(inner, restream.clone()));
    (actor.clone(), PassthroughLayer::new(layer).layer(actor))
}

fn x(name: &str) -> Do {
    Do::Say(unknown(name))
}

/// `a X b Y Z c`, all at once.
fn fast() -> Vec<Do> {
    vec![
        x("S"),
        say("a"),
        x("X"),
        say("b"),
        x("Y"),
        x("Z"),
        say("c"),
        x("E"),
        done(),
    ]
}

/// And with waits in between.
fn slow() -> Vec<Do> {
    fast()
        .into_iter()
        .flat_map(|step| [Do::Yield, step, Do::Wait(secs(1))])
        .collect()
}

fn names(events: &[AgentEvent]) -> String {
    let names = events.iter().map(|event| match event {
        AgentEvent::Text(text) => text.delta(),
        event => event.type_name(),
    });
    names.collect::<Vec<_>>().join(" ")
}

fn drops_unknown(events: Below) -> impl Stream<Item = AgentEvent> {
    events.filter(|event| ready(!matches!(event, AgentEvent::Extension(_))))
}

#[tokio::test(start_paused = true)]
async fn hands_on_everything() {
    assert_transparent(|actor| PassthroughLayer::new(Identity::new()).layer(actor)).await;
    assert_drops(
        everything(),
        |actor| PassthroughLayer::new(Identity::new()).layer(actor),
        || true,
    )
    .await;
    let dropping = layer_fn(|inner| Restream(inner, drops_unknown));
    assert_transparent(|actor| PassthroughLayer::new(dropping).layer(actor)).await;
    assert_drops(
        everything(),
        |actor| PassthroughLayer::new(dropping).layer(actor),
        || true,
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn around_a_layer_that_drops_them() {
    for part in [fast(), slow()] {
        let (actor, agent) = around(drops_unknown, part);
        assert_eq!(names(&events(&agent).await), "S a X b Y Z c E completed");
        assert_eq!(actor.seen.alive(), 0);
    }
}

/// A layer that answers only after its first event.
#[tokio::test(start_paused = true)]
async fn around_a_layer_that_peeks() {
    for part in [fast(), slow()] {
        let peeks = |events: Below| {
            stream::once(async move {
                let mut events = Box::pin(drops_unknown(events));
                let first = events.next().await;
                stream::iter(first).chain(events)
            })
            .flatten()
        };
        let (_, agent) = around(peeks, part.clone());
        assert_eq!(names(&events(&agent).await), "S a X b Y Z c E completed");
        // In its call.
        let raising = ServiceBuilder::new()
            .layer(CatchLayer::new())
            .layer(RaiseLayer::new())
            .layer(layer_fn(|inner| Restream(inner, drops_unknown)))
            .into_inner();
        let agent = PassthroughLayer::new(raising).layer(actor(part));
        assert_eq!(names(&events(&agent).await), "S a X b Y Z c E completed");
    }
}

/// A layer that polls under a waker of its own.
#[tokio::test(start_paused = true)]
async fn around_a_layer_with_its_own_waker() {
    for part in [fast(), slow()] {
        let unordered = |events: Below| {
            let events = Box::pin(drops_unknown(events));
            let next = |mut events: Pin<Box<_>>| async move {
                let event = StreamExt::next(&mut events).await;
                (event, events)
            };
            let running: FuturesUnordered<_> = [next(events)].into_iter().collect();
            stream::unfold(running, move |mut running| async move {
                let (event, events) = running.next().await?;
                running.push(next(events));
                Some((event?, running))
            })
        };
        let (_, agent) = around(unordered, part);
        assert_eq!(names(&events(&agent).await), "S a X b Y Z c E completed");
    }
}

/// A layer that runs the agent on another task.
#[tokio::test(start_paused = true)]
async fn around_a_layer_with_a_task() {
    for part in [fast(), slow()] {
        let (_, agent) = around(elsewhere, part);
        assert_eq!(names(&events(&agent).await), "S a X b Y Z c E completed");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn around_a_layer_with_a_thread() {
    let part: Vec<_> = (0..300)
        .flat_map(|_| [say("a"), x("X"), Do::Yield, x("Y")])
        .chain([done()])
        .collect();
    for _ in 0..20 {
        let (_, agent) = around(elsewhere, part.clone());
        let events = events(&agent).await;
        assert_eq!(events.len(), 901);
        // Known events may be read ahead here; the unknown ones keep their order, and none
        // comes after a known one that followed it.
        let unknown: Vec<_> = events
            .iter()
            .map(AgentEvent::type_name)
            .filter(|name| name.len() == 1)
            .collect();
        assert_eq!(unknown.concat(), "XY".repeat(300));
        let (mut texts, mut unknown) = (0, 0);
        for event in &events {
            match event {
                AgentEvent::Text(_) => {
                    texts += 1;
                    assert!(unknown >= 2 * (texts - 1), "{texts} {unknown}");
                }
                _ => unknown += 1,
            }
        }
    }
}

fn elsewhere(events: Below) -> impl Stream<Item = AgentEvent> {
    let (sender, receiver) = mpsc::channel(1);
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let mut events = Box::pin(drops_unknown(events));
        while let Some(event) = events.next().await {
            if sender.send(event).await.is_err() {
                return;
            }
        }
    });
    stream::unfold((receiver, tasks), async |(mut receiver, tasks)| {
        let event = receiver.recv().await?;
        Some((event, (receiver, tasks)))
    })
}

/// A layer that cuts: what lay in the slot comes before the failure, and nothing after it.
#[tokio::test(start_paused = true)]
async fn around_a_layer_that_cuts() {
    struct Cut(u8);
    impl Turn for Cut {
        fn on_event(&mut self, event: &mut AgentEvent, out: &mut Outbox) -> Flow {
            assert!(!matches!(event, AgentEvent::Extension(_)), "it sees none");
            self.0 -= 1;
            if self.0 == 0 {
                out.fail(Failure::new("enough"));
            }
            Flow::Forward
        }
    }
    for part in [fast(), slow()] {
        let actor = actor(part);
        let cut = TurnLayer::new(|_: &mut Scope, _: &mut Prompt| Cut(2));
        let agent = PassthroughLayer::new(cut).layer(actor.clone());
        assert_eq!(names(&events(&agent).await), "S a X b failed");
        assert_eq!(actor.seen.alive(), 0);
    }
}

/// The first limit: an unknown event overtakes what the layer holds back.
#[tokio::test(start_paused = true)]
async fn around_a_layer_that_holds_back() {
    let part = [
        say("a"),
        x("X1"),
        x("X2"),
        say("b"),
        say("c"),
        x("X3"),
        done(),
    ];
    let holds_two = |events: Below| drops_unknown(events).chunks(2).flat_map(stream::iter);
    let (_, agent) = around(holds_two, part);
    assert_eq!(names(&events(&agent).await), "X1 X2 a b X3 c completed");
}

/// A bare end and an agent without known events.
#[tokio::test(start_paused = true)]
async fn at_the_end() {
    let (_, agent) = around(drops_unknown, [x("X"), x("Y")]);
    assert_eq!(names(&events(&agent).await), "X Y");
    let (_, agent) = around(drops_unknown, [x("X"), done()]);
    let mut turn = Box::pin(ask(&agent));
    let mut got = Vec::new();
    while let Some(event) = turn.next().await {
        got.push(event);
    }
    assert_eq!(names(&got), "X completed");
    assert_eq!(turn.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn nested() {
    struct Drops;
    impl Turn for Drops {
        fn on_event(&mut self, event: &mut AgentEvent, _: &mut Outbox) -> Flow {
            match event {
                AgentEvent::Extension(_) => Flow::Skip,
                _ => Flow::Forward,
            }
        }
    }
    let dropping = || TurnLayer::new(|_: &mut Scope, _: &mut Prompt| Drops);
    let bare = dropping().layer(actor(fast()));
    assert_eq!(names(&events(&bare).await), "a b c completed");
    for part in [fast(), slow()] {
        // Around a stack that has one in it, and one below another.
        let inside = ServiceBuilder::new()
            .layer(dropping())
            .layer(PassthroughLayer::new(dropping()))
            .layer(dropping())
            .into_inner();
        let agent = ServiceBuilder::new()
            .layer(PassthroughLayer::new(inside))
            .layer(PassthroughLayer::new(dropping()))
            .service(actor(part));
        assert_eq!(names(&events(&agent).await), "S a X b Y Z c E completed");
    }
}

/// A layer that invokes again: each run has the slot.
#[tokio::test(start_paused = true)]
async fn around_a_layer_that_invokes_again() {
    let twice = portcullis::from_fn(
        async |scope: Scope,
               prompt: Prompt,
               mut next: portcullis::Next<_>,
               _: portcullis::Emitter| {
            let _ = portcullis::collect(next.invoke(scope.clone(), prompt.clone())).await;
            Ok(next.invoke(scope, prompt))
        },
    );
    let agent = PassthroughLayer::new(twice).layer(actor([x("X"), say("a"), x("Y"), done()]));
    assert_eq!(names(&events(&agent).await), "X Y X a Y completed");
}

/// The third limit: a layer that makes a scope of its own ends the turn.
#[tokio::test]
async fn a_lost_slot_is_no_secret() {
    let forgetful = layer_fn(|inner: Divert<Actor>| {
        tower::util::MapRequest::new(inner, |(_, prompt): (Scope, Prompt)| {
            (Scope::new("mine"), prompt)
        })
    });
    let actor = actor(fast());
    let agent = PassthroughLayer::new(forgetful).layer(actor.clone());
    let events = events(&agent).await;
    assert!(failure(&events).is(&FailureCode::CONTRACT_VIOLATION));
    assert_eq!((events.len(), actor.seen.calls()), (1, 0));
}

/// The place is for one: the agent is not read ahead, and a turn that is dropped leaves
/// nobody waiting.
#[tokio::test]
async fn nothing_is_read_ahead() {
    let (actor, agent) = around(drops_unknown, [x("X"), x("Y"), x("Z"), done()]);
    let mut turn = Box::pin(ask(&agent));
    for polls in 1..=3 {
        let _ = turn.next().now_or_never();
        assert_eq!(actor.seen.polls(), polls);
    }
    drop(turn);
    assert_eq!(actor.seen.alive(), 0);
}

#[tokio::test(start_paused = true)]
async fn hidden_types_fit() {
    let dropping = layer_fn(|inner| Restream(inner, drops_unknown));
    let agent = PassthroughLayer::new(dropping).layer(actor(fast())).boxed();
    let events: BoxEventStream = BoxEventStream::new(ask(&agent));
    assert_eq!(
        names(&events.collect::<Vec<_>>().await),
        "S a X b Y Z c E completed"
    );
}
