use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use pin_project::pin_project;

use super::ProbeLog;
use crate::AgentEvent;

/// Tells a [`ProbeLog`] which events are taken.
#[pin_project]
#[derive(Debug)]
#[must_use = "streams do nothing unless polled"]
pub struct Taking<St> {
    #[pin]
    events: St,
    log: ProbeLog,
}

impl<St> Taking<St> {
    pub(super) const fn new(events: St, log: ProbeLog) -> Self {
        Self { events, log }
    }
}

impl<St: Stream<Item = AgentEvent>> Stream for Taking<St> {
    type Item = AgentEvent;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        let this = self.project();
        this.log.polls();
        let event = ready!(this.events.poll_next(cx));
        if let Some(event) = &event {
            this.log.takes(event);
        }
        Poll::Ready(event)
    }
}
