use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use pin_project::pin_project;
use tower_service::Service;

use super::Agent;
use crate::{AgentEvent, Prompt, Scope};

/// One invocation of an agent: readiness, call and events, as one stream.
///
/// The agent's stream is dropped as soon as its terminal event has come, so an agent
/// that breaks the contract cannot add to it, and what the stream holds is free then.
///
/// # Cancel safety
///
/// Dropping it stops the invocation, in whatever state it is.
#[pin_project]
#[must_use = "streams do nothing unless polled"]
pub struct Invoke<S: Service<(Scope, Prompt)>> {
    #[pin]
    stage: Stage<S>,
}

#[pin_project(project = StageProject)]
enum Stage<S: Service<(Scope, Prompt)>> {
    /// Waits for the agent to be ready.
    Readying {
        agent: S,
        request: Option<(Scope, Prompt)>,
    },
    /// Waits for the stream.
    Calling {
        #[pin]
        call: S::Future,
    },
    /// Yields events.
    Streaming {
        #[pin]
        events: S::Response,
    },
    /// The terminal event, or the end without one, has come.
    Ended,
}

impl<S: Service<(Scope, Prompt)>> Invoke<S> {
    /// Makes `agent` ready, calls it and yields its events.
    pub const fn new(agent: S, scope: Scope, prompt: Prompt) -> Self {
        Self {
            stage: Stage::Readying {
                agent,
                request: Some((scope, prompt)),
            },
        }
    }

    /// Yields the events of a call that was made.
    pub const fn calling(call: S::Future) -> Self {
        Self {
            stage: Stage::Calling { call },
        }
    }
}

impl<S: Agent> Stream for Invoke<S> {
    type Item = AgentEvent;

    #[inline]
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        let mut stage = self.project().stage;
        loop {
            match stage.as_mut().project() {
                StageProject::Streaming { events } => {
                    // Looked at where it is: every layer moves it once more otherwise.
                    let polled = events.poll_next(cx);
                    let has_ended = match &polled {
                        Poll::Ready(event) => event.as_ref().is_none_or(AgentEvent::is_terminal),
                        Poll::Pending => false,
                    };
                    if has_ended {
                        stage.set(Stage::Ended);
                    }
                    return polled;
                }
                StageProject::Calling { call } => {
                    let Ok(events) = ready!(call.poll(cx));
                    stage.set(Stage::Streaming { events });
                }
                StageProject::Readying { agent, request } => {
                    let Ok(()) = ready!(agent.poll_ready(cx));
                    let request = request.take().expect("taken only where the stage changes");
                    let call = agent.call(request);
                    stage.set(Stage::Calling { call });
                }
                StageProject::Ended => return Poll::Ready(None),
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.stage {
            Stage::Streaming { events } => events.size_hint(),
            Stage::Ended => (0, Some(0)),
            Stage::Readying { .. } | Stage::Calling { .. } => (0, None),
        }
    }
}

impl<S: Service<(Scope, Prompt)>> fmt::Debug for Invoke<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = match &self.stage {
            Stage::Readying { .. } => "readying",
            Stage::Calling { .. } => "calling",
            Stage::Streaming { .. } => "streaming",
            Stage::Ended => "ended",
        };
        f.debug_struct("Invoke")
            .field("stage", &stage)
            .finish_non_exhaustive()
    }
}
