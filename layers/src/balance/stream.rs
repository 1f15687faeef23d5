use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::Stream;
use pin_project::pin_project;
use portcullis::{Agent, AgentEvent, Failure, Invoke, Prompt, Scope, TurnStream};
use tower_service::Service;

use super::Place;

/// The events of a turn at one of the replicas.
///
/// # Cancel safety
///
/// Dropping it stops the turn, and gives its place back.
#[pin_project]
#[must_use = "streams do nothing unless polled"]
pub struct BalanceStream<S: Service<(Scope, Prompt)>> {
    #[pin]
    stage: Stage<S>,
}

#[pin_project(project = StageProject)]
enum Stage<S: Service<(Scope, Prompt)>> {
    Running(#[pin] TurnStream<Invoke<S>, Place>),
    /// No replica takes it. `None` once it was said.
    Refused(Option<Failure>),
}

impl<S: Agent> BalanceStream<S> {
    pub(super) const fn running(run: Invoke<S>, place: Place) -> Self {
        Self {
            stage: Stage::Running(TurnStream::new(run, place)),
        }
    }

    pub(super) const fn refused(failure: Failure) -> Self {
        Self {
            stage: Stage::Refused(Some(failure)),
        }
    }
}

impl<S: Agent> Stream for BalanceStream<S> {
    type Item = AgentEvent;

    #[inline]
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        match self.project().stage.project() {
            StageProject::Running(events) => events.poll_next(cx),
            StageProject::Refused(failure) => Poll::Ready(failure.take().map(AgentEvent::Failed)),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.stage {
            Stage::Running(events) => events.size_hint(),
            Stage::Refused(failure) => {
                let left = usize::from(failure.is_some());
                (left, Some(left))
            }
        }
    }
}

impl<S: Service<(Scope, Prompt)>> fmt::Debug for BalanceStream<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = match &self.stage {
            Stage::Running(_) => "running",
            Stage::Refused(_) => "refused",
        };
        f.debug_struct("BalanceStream")
            .field("stage", &stage)
            .finish_non_exhaustive()
    }
}
