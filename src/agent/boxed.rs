use std::{
    any::Any,
    convert::Infallible,
    fmt,
    future::{Ready, ready},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures_core::Stream;
use tower_service::Service;

use super::{Agent, Invoke};
use crate::{AgentEvent, Prompt, Scope};

/// An agent whose type is hidden. Cloning is one reference count, and a turn costs one
/// box.
///
/// It is always ready: the readiness of the agent inside is awaited within the turn,
/// so that a turn that waits reserves nothing. A layer that asks for readiness, as
/// tower's `LoadShed` does, belongs below it.
#[derive(Clone)]
pub struct BoxAgent(Arc<dyn Erased + Send + Sync>);

trait Erased {
    fn invoke(&self, scope: Scope, prompt: Prompt) -> BoxEventStream;
}

struct Plain<A>(A);

impl<A> Erased for Plain<A>
where
    A: Agent + Clone + Send + 'static,
    A::Future: Send,
    A::Response: Send,
{
    fn invoke(&self, scope: Scope, prompt: Prompt) -> BoxEventStream {
        BoxEventStream::new(Invoke::new(self.0.clone(), scope, prompt))
    }
}

impl BoxAgent {
    /// Hides the type of an agent. One that is a `BoxAgent` already is returned as it is.
    #[expect(
        clippy::missing_panics_doc,
        reason = "both options are set above their use"
    )]
    pub fn new<A>(agent: A) -> Self
    where
        A: Agent + Clone + Send + Sync + 'static,
        A::Future: Send,
        A::Response: Send,
    {
        let mut agent = Some(agent);
        match (&mut agent as &mut dyn Any).downcast_mut::<Option<Self>>() {
            Some(same) => same.take().expect("set above"),
            None => Self(Arc::new(Plain(agent.expect("set above")))),
        }
    }
}

impl Service<(Scope, Prompt)> for BoxAgent {
    type Response = BoxEventStream;
    type Error = Infallible;
    type Future = Ready<Result<BoxEventStream, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, (scope, prompt): (Scope, Prompt)) -> Self::Future {
        ready(Ok(self.0.invoke(scope, prompt)))
    }
}

impl fmt::Debug for BoxAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoxAgent").finish_non_exhaustive()
    }
}

/// A stream of events whose type is hidden. `Send` and `Unpin`, not `Sync`.
#[must_use = "streams do nothing unless polled"]
pub struct BoxEventStream(Pin<Box<dyn Stream<Item = AgentEvent> + Send>>);

impl BoxEventStream {
    /// Hides the type of a stream. One that is boxed already is returned as it is.
    #[expect(
        clippy::missing_panics_doc,
        reason = "both options are set above their use"
    )]
    pub fn new<St>(events: St) -> Self
    where
        St: Stream<Item = AgentEvent> + Send + 'static,
    {
        let mut events = Some(events);
        match (&mut events as &mut dyn Any).downcast_mut::<Option<Self>>() {
            Some(same) => same.take().expect("set above"),
            None => Self(Box::pin(events.expect("set above"))),
        }
    }
}

impl Stream for BoxEventStream {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        self.0.as_mut().poll_next(cx)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl fmt::Debug for BoxEventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoxEventStream").finish_non_exhaustive()
    }
}
