use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use pin_project::pin_project;

use super::Policy;
use crate::{Agent, AgentEvent, Invoke, turn::TurnStream};

/// The events of a turn that has to be admitted.
///
/// # Cancel safety
///
/// Dropping it withdraws the request, or stops the turn and tells it so.
#[pin_project]
#[must_use = "streams do nothing unless polled"]
pub struct AdmittedStream<S: Agent, P: Policy> {
    #[pin]
    stage: Stage<S, P>,
}

#[pin_project(project = StageProject)]
enum Stage<S: Agent, P: Policy> {
    /// Waits for the decision.
    Admitting {
        #[pin]
        admit: P::Admit,
        agent: Option<S>,
    },
    /// Admitted.
    Running(#[pin] TurnStream<Invoke<S>, P::Turn>),
    /// Refused, and said so.
    Refused,
}

impl<S: Agent, P: Policy> AdmittedStream<S, P> {
    pub(super) const fn new(admit: P::Admit, agent: S) -> Self {
        Self {
            stage: Stage::Admitting {
                admit,
                agent: Some(agent),
            },
        }
    }
}

impl<S: Agent, P: Policy> Stream for AdmittedStream<S, P> {
    type Item = AgentEvent;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        let mut stage = self.project().stage;
        loop {
            match stage.as_mut().project() {
                StageProject::Running(events) => return events.poll_next(cx),
                StageProject::Admitting { admit, agent } => match ready!(admit.poll(cx)) {
                    Ok((scope, prompt, turn)) => {
                        let agent = agent.take().expect("taken only where the stage changes");
                        let run = Invoke::new(agent, scope, prompt);
                        stage.set(Stage::Running(TurnStream::new(run, turn)));
                    }
                    Err(failure) => {
                        stage.set(Stage::Refused);
                        return Poll::Ready(Some(AgentEvent::Failed(failure)));
                    }
                },
                StageProject::Refused => return Poll::Ready(None),
            }
        }
    }
}

impl<S: Agent, P: Policy> fmt::Debug for AdmittedStream<S, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = match &self.stage {
            Stage::Admitting { .. } => "admitting",
            Stage::Running(_) => "running",
            Stage::Refused => "refused",
        };
        f.debug_struct("AdmittedStream")
            .field("stage", &stage)
            .finish_non_exhaustive()
    }
}
