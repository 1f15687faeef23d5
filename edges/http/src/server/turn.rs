use std::{
    fmt,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::Stream;
use portcullis::{
    AgentEvent, AgentExt, BoxAgent, BoxEventStream, Failure, FailureCode, Panicked, Prompt, Scope,
};
use tokio::time::{Instant, Sleep, sleep_until};

use super::line::Line;

/// A turn that always ends with a terminal event, whatever the agent does, and does not outlive
/// its deadline. Dropping it cancels the turn.
pub(super) struct Turn {
    /// `None` once it has ended.
    events: Option<BoxEventStream>,
    deadline: Option<Pin<Box<Sleep>>>,
    event_limit: usize,
}

impl Turn {
    pub(super) fn new(agent: &BoxAgent, scope: Scope, prompt: Prompt, event_limit: usize) -> Self {
        let deadline = scope
            .deadline()
            .map(|deadline| Box::pin(sleep_until(Instant::from_std(deadline))));
        Self {
            events: Some(BoxEventStream::new(agent.invoke(scope, prompt))),
            deadline,
            event_limit,
        }
    }

    pub(super) fn poll_line(&mut self, cx: &mut Context<'_>) -> Poll<Option<Line>> {
        let Some(events) = &mut self.events else {
            return Poll::Ready(None);
        };
        let polled = catch_unwind(AssertUnwindSafe(|| Pin::new(events).poll_next(cx)));
        let event = match polled {
            Ok(Poll::Ready(Some(event))) => event,
            Ok(Poll::Ready(None)) => Failure::with_code(
                FailureCode::CONTRACT_VIOLATION,
                "the agent ended without a result",
            )
            .into(),
            // The event first, then the clock.
            Ok(Poll::Pending) if !self.is_late(cx) => return Poll::Pending,
            Ok(Poll::Pending) => {
                Failure::with_code(FailureCode::TIMEOUT, "the turn took too long").into()
            }
            Err(panic) => Failure::internal(Panicked::new(&*panic)).into(),
        };
        let line = self.bounded(event);
        if line.is_last {
            self.stop();
        }
        Poll::Ready(Some(line))
    }

    fn is_late(&mut self, cx: &mut Context<'_>) -> bool {
        let deadline = self.deadline.as_mut();
        deadline.is_some_and(|deadline| deadline.as_mut().poll(cx).is_ready())
    }

    fn bounded(&self, event: AgentEvent) -> Line {
        let line = Line::of(event);
        if line.json.len() <= self.event_limit {
            return line;
        }
        let limit = self.event_limit;
        let failure = Failure::with_code(
            FailureCode::INVALID_OUTPUT,
            format!("the agent emitted an event of more than {limit} bytes"),
        );
        Line::of(failure.into())
    }

    fn stop(&mut self) {
        let events = self.events.take();
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(events))) {
            tracing::error!(error = %Panicked::new(&*panic), "a turn could not be dropped");
        }
        self.deadline = None;
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.stop();
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn")
            .field("ended", &self.events.is_none())
            .finish_non_exhaustive()
    }
}
