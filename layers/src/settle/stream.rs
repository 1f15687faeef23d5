use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use pin_project::{pin_project, pinned_drop};
use portcullis::{AgentEvent, Failure, Prompt, Scope};
use tower::BoxError;
use tower_service::Service;

use super::fold;

/// The events of a turn that ends with one terminal event, whatever happens below.
///
/// # Cancel safety
///
/// Dropping it drops what is below. A panic in there is logged and goes no further.
#[pin_project(PinnedDrop)]
#[must_use = "streams do nothing unless polled"]
pub struct SettleStream<S: Service<(Scope, Prompt)>> {
    #[pin]
    stage: Stage<S>,
    layer: &'static str,
}

#[pin_project(project = StageProject)]
enum Stage<S: Service<(Scope, Prompt)>> {
    /// Waits for the stream.
    Calling(#[pin] S::Future),
    /// Yields events.
    Streaming(#[pin] S::Response),
    /// There was no call.
    Failed(Option<Failure>),
    /// The terminal event has come.
    Ended,
}

impl<S: Service<(Scope, Prompt)>> SettleStream<S> {
    pub(super) const fn calling(call: S::Future, layer: &'static str) -> Self {
        Self {
            stage: Stage::Calling(call),
            layer,
        }
    }

    pub(super) const fn failed(failure: Failure) -> Self {
        Self {
            stage: Stage::Failed(Some(failure)),
            layer: "",
        }
    }
}

impl<S> Stage<S>
where
    S: Service<(Scope, Prompt), Error: Into<BoxError>, Response: Stream<Item = AgentEvent>>,
{
    /// The next event; `None` after the last.
    fn poll(
        mut self: Pin<&mut Self>,
        layer: &'static str,
        cx: &mut Context<'_>,
    ) -> Poll<Option<AgentEvent>> {
        loop {
            match self.as_mut().project() {
                StageProject::Streaming(events) => {
                    let event = ready!(events.poll_next(cx));
                    let event = event.unwrap_or_else(|| fold::bare_end(layer).into());
                    return Poll::Ready(Some(event));
                }
                StageProject::Calling(call) => match ready!(call.poll(cx)) {
                    Ok(events) => self.set(Self::Streaming(events)),
                    Err(error) => {
                        let failure = fold::error(layer, &*error.into());
                        return Poll::Ready(Some(failure.into()));
                    }
                },
                StageProject::Failed(failure) => {
                    return Poll::Ready(failure.take().map(AgentEvent::Failed));
                }
                StageProject::Ended => return Poll::Ready(None),
            }
        }
    }
}

impl<S> Stream for SettleStream<S>
where
    S: Service<(Scope, Prompt), Error: Into<BoxError>, Response: Stream<Item = AgentEvent>>,
{
    type Item = AgentEvent;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        let mut this = self.project();
        let layer = *this.layer;
        let polled = catch_unwind(AssertUnwindSafe(|| this.stage.as_mut().poll(layer, cx)));
        let mut event = match polled {
            Ok(poll) => ready!(poll),
            Err(panic) => Some(fold::panic(layer, panic).into()),
        };
        if event.as_ref().is_some_and(AgentEvent::is_terminal) {
            // Before the caller hears of the end: it may never poll again, and it hears of
            // a panic in there instead.
            if let Some(failure) = drop_below(this.stage, layer) {
                event = Some(failure.into());
            }
        }
        Poll::Ready(event)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.stage {
            // A bare end becomes an event.
            Stage::Streaming(events) => {
                let (least, most) = events.size_hint();
                (least.max(1), most.and_then(|most| most.checked_add(1)))
            }
            Stage::Calling(_) => (1, None),
            Stage::Failed(failure) => {
                let left = usize::from(failure.is_some());
                (left, Some(left))
            }
            Stage::Ended => (0, Some(0)),
        }
    }
}

/// Drops what is below, and says if that panicked.
fn drop_below<S: Service<(Scope, Prompt)>>(
    mut stage: Pin<&mut Stage<S>>,
    layer: &'static str,
) -> Option<Failure> {
    let dropped = catch_unwind(AssertUnwindSafe(|| stage.set(Stage::Ended)));
    dropped.err().map(|panic| fold::panic(layer, panic))
}

#[pinned_drop]
impl<S: Service<(Scope, Prompt)>> PinnedDrop for SettleStream<S> {
    fn drop(self: Pin<&mut Self>) {
        let this = self.project();
        // Nobody is left to hear of a panic: it is logged.
        drop_below(this.stage, this.layer);
    }
}

impl<S: Service<(Scope, Prompt)>> fmt::Debug for SettleStream<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = match &self.stage {
            Stage::Calling(_) => "calling",
            Stage::Streaming(_) => "streaming",
            Stage::Failed(_) => "failed",
            Stage::Ended => "ended",
        };
        f.debug_struct("SettleStream")
            .field("stage", &stage)
            .finish_non_exhaustive()
    }
}
