use std::{
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::Stream;
use pin_project::pin_project;
use portcullis::AgentEvent;

/// The events of an agent with or without a layer.
#[expect(clippy::exhaustive_enums, reason = "there is a layer or there is none")]
#[pin_project(project = StreamProject)]
#[derive(Debug)]
#[must_use = "streams do nothing unless polled"]
pub enum OptionalStream<A, B> {
    /// Of the layer.
    With(#[pin] A),
    /// Of the agent as it is.
    Without(#[pin] B),
}

impl<A, B> Stream for OptionalStream<A, B>
where
    A: Stream<Item = AgentEvent>,
    B: Stream<Item = AgentEvent>,
{
    type Item = AgentEvent;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        match self.project() {
            StreamProject::With(events) => events.poll_next(cx),
            StreamProject::Without(events) => events.poll_next(cx),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self::With(events) => events.size_hint(),
            Self::Without(events) => events.size_hint(),
        }
    }
}
