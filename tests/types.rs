//! What the public types promise by their nature: auto traits, sizes, and no box in a box.

use std::{
    convert::Infallible,
    future::{Ready, ready},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use futures_core::Stream;
use portcullis::*;
use tower::Layer;
use tower_service::Service;

fn send<T: Send>() {}
fn send_sync<T: Send + Sync>() {}
fn unpin<T: Unpin>() {}
fn clone<T: Clone>() {}
fn debug<T: std::fmt::Debug>() {}
fn send_value<T: Send>(_: &T) {}
fn sync_value<T: Sync>(_: &T) {}

type Fun = fn(Scope, Prompt, Emitter) -> Ready<Result<(), Failure>>;
type Make = fn(&mut Scope, &mut Prompt);

#[derive(Clone, Debug)]
struct Open;

impl Policy for Open {
    type Turn = ();
    type Admit = Ready<Result<(Scope, Prompt, ()), Failure>>;

    fn admit(&self, scope: Scope, prompt: Prompt) -> Self::Admit {
        ready(Ok((scope, prompt, ())))
    }
}

#[test]
fn auto_traits_hold() {
    send_sync::<BoxAgent>();
    send_sync::<AgentFn<Fun>>();
    send_sync::<Emitter>();
    send_sync::<Outbox>();
    send_sync::<TurnLayer<Make>>();
    send_sync::<Watched<BoxAgent, Make>>();
    send_sync::<PolicyLayer<Open>>();
    send_sync::<Admitted<BoxAgent, Open>>();
    send_sync::<ScriptLayer<Open>>();
    send_sync::<Scripted<BoxAgent, Open>>();
    send_sync::<FromFnLayer<Fun>>();
    send_sync::<FromFn<Fun>>();
    send_sync::<Next<BoxAgent>>();
    send_sync::<AgentEvent>();
    send_sync::<Scope>();
    send_sync::<Prompt>();
    send_sync::<Failure>();
    send_sync::<End<'_>>();
    send_sync::<UsageSink>();
    send_sync::<TurnRecord>();
    send_sync::<Panicked>();
    send_sync::<Collected>();
    send_sync::<CollectError>();
    send_sync::<Inbox>();
    send_sync::<InboxSender>();
    send_sync::<Box<dyn SessionControl>>();

    send::<BoxEventStream>();
    send::<Invoke<BoxAgent>>();
    send::<TurnStream<BoxEventStream, ()>>();
    send::<AdmittedStream<BoxAgent, Open>>();
    send::<ScriptStream<BoxAgent>>();
    send::<Run<BoxAgent>>();
    send::<Finish<BoxAgent>>();
    send::<Emit<'_, AgentEvent>>();
    send::<Emitting<Ready<()>, AgentEvent>>();
    send::<AgentFnStream<Ready<Result<(), Failure>>>>();

    unpin::<BoxEventStream>();
    unpin::<BoxAgent>();
    unpin::<Invoke<BoxAgent>>();
    unpin::<Emit<'_, AgentEvent>>();
    unpin::<Run<BoxAgent>>();

    clone::<BoxAgent>();
    clone::<Watched<BoxAgent, Make>>();
    clone::<Admitted<BoxAgent, Open>>();
    clone::<Scripted<BoxAgent, Open>>();
    clone::<Emitter>();

    debug::<BoxAgent>();
    debug::<BoxEventStream>();
    debug::<AgentFn<Fun>>();
    debug::<Invoke<BoxAgent>>();
    debug::<TurnStream<BoxEventStream, ()>>();
    debug::<AdmittedStream<BoxAgent, Open>>();
    debug::<ScriptStream<BoxAgent>>();
    debug::<Finish<BoxAgent>>();
    debug::<FromFnLayer<Fun>>();
}

/// Without a box: what the function's future is decides.
#[test]
fn a_generic_turn_is_send_as_its_future_is() {
    let agent = agent_fn(async |_, _, out: Emitter| {
        out.emit(AgentEvent::text("a")).await;
        Ok(())
    });
    sync_value(&agent);
    let layered = TurnLayer::new(|_: &mut Scope, _: &mut Prompt| ()).layer(agent);
    let layered = PolicyLayer::new(Open).layer(layered);
    sync_value(&layered);
    send_value(&layered.invoke(Scope::new("s"), Prompt::text("p")));
}

#[test]
fn sizes_are_as_they_were() {
    // Every hop of every layer moves an event.
    assert!(size_of::<AgentEvent>() <= 40, "{}", size_of::<AgentEvent>());
    assert_eq!(size_of::<Option<AgentEvent>>(), size_of::<AgentEvent>());
    assert_eq!(size_of::<Scope>(), 8);
    assert_eq!(size_of::<Prompt>(), 8);
    assert_eq!(size_of::<Failure>(), 8);
    assert_eq!(size_of::<Outbox>(), 8, "one pointer for all that is rare");
    assert_eq!(size_of::<BoxEventStream>(), 16);
    assert_eq!(size_of::<BoxAgent>(), 16);
    // A layer that watches nothing costs its outbox and two flags.
    let plain = size_of::<BoxEventStream>();
    assert!(size_of::<TurnStream<BoxEventStream, ()>>() <= plain + 16);
}

/// Tells how deep the stack is when it is polled.
#[derive(Clone, Default)]
struct Depth(Arc<AtomicUsize>);

impl Stream for Depth {
    type Item = AgentEvent;

    fn poll_next(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        let here = 0_u8;
        self.0.store(&raw const here as usize, Ordering::SeqCst);
        Poll::Ready(Some(AgentEvent::completed()))
    }
}

impl Service<(Scope, Prompt)> for Depth {
    type Response = Self;
    type Error = Infallible;
    type Future = Ready<Result<Self, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _request: (Scope, Prompt)) -> Self::Future {
        ready(Ok(self.clone()))
    }
}

/// Every poll comes from here, so that only what lies below differs.
#[inline(never)]
fn depth(depth: &Depth, mut events: BoxEventStream) -> usize {
    let mut cx = Context::from_waker(std::task::Waker::noop());
    assert!(Pin::new(&mut events).poll_next(&mut cx).is_ready());
    depth.0.load(Ordering::SeqCst)
}

#[test]
fn a_box_is_never_boxed() {
    let probe = Depth::default();
    let once = BoxEventStream::new(probe.clone());
    let often = (0..50).fold(BoxEventStream::new(probe.clone()), |events, _| {
        BoxEventStream::new(events)
    });
    assert_eq!(depth(&probe, once), depth(&probe, often));

    let events = |mut agent: BoxAgent| {
        let Ok(events) = agent
            .call((Scope::new("s"), Prompt::text("p")))
            .into_inner();
        depth(&probe, events)
    };
    let often = (0..50).fold(probe.clone().boxed(), |agent, _| agent.boxed());
    assert_eq!(events(probe.clone().boxed()), events(often));
}
