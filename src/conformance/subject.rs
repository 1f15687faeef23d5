//! The agent or stack under test, with its type hidden so that a suite is compiled once.

use std::{any::Any, future::poll_fn, pin::Pin};

use futures_core::Stream;
use futures_util::FutureExt;

use crate::{Agent, AgentEvent, Prompt, Scope};

type Events = Pin<Box<dyn Stream<Item = AgentEvent>>>;
type Ready = Pin<Box<dyn Future<Output = Box<dyn Any>>>>;

pub(super) struct Subject {
    start: Box<dyn Fn(Scope, Prompt) -> Events>,
    make_ready: Box<dyn Fn() -> Ready>,
}

impl Subject {
    pub(super) fn new<A>(agent: A) -> Self
    where
        A: Agent + Clone + 'static,
    {
        let ready = agent.clone();
        Self {
            start: Box::new(move |scope, prompt| Box::pin(raw(agent.clone(), scope, prompt))),
            make_ready: Box::new(move || {
                let mut agent = ready.clone();
                Box::pin(async move {
                    let Ok(()) = poll_fn(|cx| agent.poll_ready(cx)).await;
                    Box::new(agent) as Box<dyn Any>
                })
            }),
        }
    }

    /// Begins a turn.
    pub(super) fn start(&self, scope: Scope, prompt: Prompt) -> Events {
        (self.start)(scope, prompt)
    }

    /// A service that is ready.
    pub(super) async fn ready(&self) -> Box<dyn Any> {
        (self.make_ready)().await
    }
}

/// Readiness, call and events, as `Invoke`; but it does not shield the reader from what
/// comes after the terminal event.
fn raw<A: Agent>(mut agent: A, scope: Scope, prompt: Prompt) -> impl Stream<Item = AgentEvent> {
    async move {
        let Ok(()) = poll_fn(|cx| agent.poll_ready(cx)).await;
        let call = agent.call((scope, prompt));
        drop(agent);
        let Ok(events) = call.await;
        events
    }
    .flatten_stream()
}
