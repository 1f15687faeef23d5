use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::Stream;

use crate::{Agent, AgentEvent, Invoke, Prompt, Scope, UsageSink};

/// The agent below a script.
///
/// It is not `Clone`: two of them would give two runs the same number.
#[derive(Debug)]
pub struct Next<S> {
    agent: S,
    runs: u32,
}

impl<S: Agent + Clone> Next<S> {
    pub(super) const fn new(agent: S) -> Self {
        Self { agent, runs: 0 }
    }

    /// Begins a run: readiness, call and events. Nothing happens before it is polled,
    /// and dropping it stops the run.
    ///
    /// The ids of usage records become unique over the runs of the turn, in the stream
    /// and in the sink: those of the second run begin with `2/`, and so on. The first
    /// run's stay as they are, unless they begin with a number and a slash themselves.
    pub fn invoke(&mut self, mut scope: Scope, prompt: Prompt) -> Run<S> {
        self.runs = self.runs.saturating_add(1);
        let run = self.runs;
        if let Some(sink) = scope.usage_sink().cloned() {
            scope.set_usage_sink(Some(UsageSink::new(move |usage| {
                let mut usage = usage.clone();
                usage.number(run);
                sink.report(&usage);
            })));
        }
        Run {
            events: Box::pin(Invoke::new(self.agent.clone(), scope, prompt)),
            run,
        }
    }
}

/// One run of the agent below a script.
///
/// It is boxed, so that a script can look at its first events and hand over the rest.
#[must_use = "streams do nothing unless polled"]
pub struct Run<S: Agent> {
    events: Pin<Box<Invoke<S>>>,
    run: u32,
}

impl<S: Agent> Stream for Run<S> {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        let mut event = ready!(self.events.as_mut().poll_next(cx));
        if let Some(AgentEvent::Usage(usage)) = &mut event {
            usage.number(self.run);
        }
        Poll::Ready(event)
    }
}

impl<S: Agent> fmt::Debug for Run<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run")
            .field("run", &self.run)
            .finish_non_exhaustive()
    }
}
