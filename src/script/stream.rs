use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use pin_project::pin_project;

use super::{Finish, Run};
use crate::{Agent, AgentEvent, Emitter, Emitting, Failure, Step, emitting};

type Boxed<S> = Pin<Box<dyn Future<Output = Result<Finish<S>, Failure>> + Send>>;

/// The events of a scripted turn.
///
/// # Cancel safety
///
/// Dropping it drops the script and its runs.
#[pin_project]
#[must_use = "streams do nothing unless polled"]
pub struct ScriptStream<S: Agent> {
    #[pin]
    stage: Stage<S>,
}

#[pin_project(project = StageProject)]
enum Stage<S: Agent> {
    /// The script runs.
    Running(#[pin] Emitting<Boxed<S>, AgentEvent>),
    /// It has handed over.
    Rest(#[pin] Run<S>),
    /// The terminal event has come.
    Ended,
}

impl<S: Agent> ScriptStream<S> {
    pub(super) fn new<F, Fut>(script: F) -> Self
    where
        F: FnOnce(Emitter) -> Fut,
        Fut: Future<Output = Result<Finish<S>, Failure>> + Send + 'static,
    {
        Self {
            stage: Stage::Running(emitting(|out| Box::pin(script(out)) as Boxed<S>)),
        }
    }
}

impl<S: Agent> Stream for ScriptStream<S> {
    type Item = AgentEvent;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        let mut stage = self.project().stage;
        loop {
            let event = match stage.as_mut().project() {
                StageProject::Rest(run) => return run.poll_next(cx),
                StageProject::Running(emitting) => match ready!(emitting.poll_step(cx)) {
                    Step::Item(event) => event,
                    Step::Done(Ok(Finish::Completed(done))) => AgentEvent::Completed(done),
                    Step::Done(Err(failure)) => AgentEvent::Failed(failure),
                    Step::Done(Ok(Finish::HandOver(run))) => {
                        stage.set(Stage::Rest(run));
                        continue;
                    }
                },
                StageProject::Ended => return Poll::Ready(None),
            };
            if event.is_terminal() {
                stage.set(Stage::Ended);
            }
            return Poll::Ready(Some(event));
        }
    }
}

impl<S: Agent> fmt::Debug for ScriptStream<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptStream").finish_non_exhaustive()
    }
}
