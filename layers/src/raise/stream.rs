use std::{
    collections::VecDeque,
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use portcullis::AgentEvent;

/// The events of a turn that did not fail at once.
///
/// # Cancel safety
///
/// Dropping it stops the turn.
#[must_use = "streams do nothing unless polled"]
pub struct RaiseStream<St> {
    /// What was held back, and the event that ended the wait.
    held: VecDeque<AgentEvent>,
    events: Option<Pin<Box<St>>>,
    run: Option<u32>,
}

impl<St> RaiseStream<St> {
    pub(super) const fn new(
        held: VecDeque<AgentEvent>,
        events: Option<Pin<Box<St>>>,
        run: Option<u32>,
    ) -> Self {
        Self { held, events, run }
    }
}

impl<St: Stream<Item = AgentEvent>> Stream for RaiseStream<St> {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        let this = &mut *self;
        let mut event = match this.held.pop_front() {
            Some(event) => event,
            None => {
                let Some(events) = &mut this.events else {
                    return Poll::Ready(None);
                };
                let event = ready!(events.as_mut().poll_next(cx));
                if event.as_ref().is_none_or(AgentEvent::is_terminal) {
                    this.events = None;
                }
                let Some(event) = event else {
                    return Poll::Ready(None);
                };
                event
            }
        };
        if let (AgentEvent::Usage(usage), Some(run)) = (&mut event, this.run) {
            usage.number(run);
        }
        Poll::Ready(Some(event))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let held = self.held.len();
        let (least, most) = self
            .events
            .as_ref()
            .map_or((0, Some(0)), |events| events.size_hint());
        (
            least.saturating_add(held),
            most.and_then(|most| most.checked_add(held)),
        )
    }
}

impl<St> fmt::Debug for RaiseStream<St> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RaiseStream")
            .field("held", &self.held.len())
            .field("over", &self.events.is_none())
            .finish_non_exhaustive()
    }
}
