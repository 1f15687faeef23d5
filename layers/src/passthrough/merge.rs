use std::{
    convert::Infallible,
    fmt,
    future::{Ready, ready},
    mem,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures_core::Stream;
use pin_project::{pin_project, pinned_drop};
use portcullis::{Agent, AgentEvent, Invoke, Prompt, Scope};
use tower_service::Service;

use super::slot::Slot;

/// An agent inside a layer that unknown events go around. See the [module docs](super).
#[derive(Clone, Debug)]
pub struct Passthrough<T> {
    inner: T,
}

impl<T> Passthrough<T> {
    pub(super) const fn new(inner: T) -> Self {
        Self { inner }
    }

    /// The layer's service.
    pub const fn get_ref(&self) -> &T {
        &self.inner
    }

    /// The layer's service.
    pub const fn get_mut(&mut self) -> &mut T {
        &mut self.inner
    }

    /// The layer's service.
    pub fn into_inner(self) -> T {
        self.inner
    }
}

impl<T: Agent> Service<(Scope, Prompt)> for Passthrough<T> {
    type Response = PassthroughStream<T>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, (mut scope, prompt): (Scope, Prompt)) -> Self::Future {
        let slot = Slot::open(&mut scope);
        // Answered at once, and the layer's own call driven by the stream: a layer that
        // waits for its first event in there may wait behind an unknown one.
        let events = Invoke::calling(self.inner.call((scope, prompt)));
        ready(Ok(PassthroughStream {
            events,
            slot,
            stage: Stage::Running,
        }))
    }
}

/// The events of the layer, and those that went around it.
///
/// # Cancel safety
///
/// Dropping it drops the layer's stream.
#[pin_project(PinnedDrop)]
#[must_use = "streams do nothing unless polled"]
pub struct PassthroughStream<T: Agent> {
    #[pin]
    events: Invoke<T>,
    slot: Arc<Slot>,
    stage: Stage,
}

enum Stage {
    Running,
    /// The layer has ended like this; what lay in the slot has gone before.
    Ending(Option<AgentEvent>),
    Ended,
}

impl<T: Agent> Stream for PassthroughStream<T> {
    type Item = AgentEvent;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        let this = self.project();
        if matches!(this.stage, Stage::Running) {
            // The layer first: what lies in the slot came after all that it could say
            // before it had to wait.
            match this.events.poll_next(cx) {
                Poll::Ready(Some(event)) if !event.is_terminal() => {
                    return Poll::Ready(Some(event));
                }
                Poll::Ready(last) => {
                    let lying = this.slot.close();
                    *this.stage = Stage::Ending(last);
                    if lying.is_some() {
                        return Poll::Ready(lying);
                    }
                }
                Poll::Pending => {
                    return this
                        .slot
                        .take(cx)
                        .map_or(Poll::Pending, |event| Poll::Ready(Some(event)));
                }
            }
        }
        match mem::replace(this.stage, Stage::Ended) {
            Stage::Ending(last) => Poll::Ready(last),
            Stage::Running | Stage::Ended => Poll::Ready(None),
        }
    }
}

#[pinned_drop]
impl<T: Agent> PinnedDrop for PassthroughStream<T> {
    fn drop(self: Pin<&mut Self>) {
        // A layer may run the agent elsewhere, where it must not wait for this reader.
        self.project().slot.close();
    }
}

impl<T: Agent> fmt::Debug for PassthroughStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PassthroughStream").finish_non_exhaustive()
    }
}
