use std::{
    convert::Infallible,
    fmt,
    future::{Ready, ready},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures_core::Stream;
use pin_project::pin_project;
use portcullis::{Agent, AgentEvent, Invoke, Prompt, Scope};
use tower_service::Service;

/// An agent to fall back to.
#[derive(Clone, Debug)]
pub(super) struct Target<B> {
    pub(super) name: String,
    pub(super) agent: B,
}

/// Says in a run's scope which of the others is meant. Taken out before that sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pick(pub(super) usize);

/// The first agent and those to fall back to, as one.
///
/// It is always ready: the readiness of the agent that is asked is part of the run.
#[derive(Clone, Debug)]
pub struct Targets<S, B> {
    first: S,
    others: Arc<[Target<B>]>,
}

impl<S, B> Targets<S, B> {
    pub(super) const fn new(first: S, others: Arc<[Target<B>]>) -> Self {
        Self { first, others }
    }

    /// The agent that is asked first.
    pub const fn first(&self) -> &S {
        &self.first
    }
}

impl<S, B> Service<(Scope, Prompt)> for Targets<S, B>
where
    S: Agent + Clone,
    B: Agent + Clone,
{
    type Response = TargetStream<S, B>;
    type Error = Infallible;
    type Future = Ready<Result<TargetStream<S, B>, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, (mut scope, prompt): (Scope, Prompt)) -> Self::Future {
        let pick = scope.extensions().get::<Pick>().copied();
        let other = pick.and_then(|Pick(other)| self.others.get(other));
        let run = match other {
            None => Run::First(Invoke::new(self.first.clone(), scope, prompt)),
            Some(other) => {
                scope.extensions_mut().remove::<Pick>();
                Run::Other(Invoke::new(other.agent.clone(), scope, prompt))
            }
        };
        ready(Ok(TargetStream { run }))
    }
}

/// The events of whichever agent was asked.
///
/// # Cancel safety
///
/// Dropping it stops that agent's run.
#[pin_project]
#[must_use = "streams do nothing unless polled"]
pub struct TargetStream<S: Agent, B: Agent> {
    #[pin]
    run: Run<S, B>,
}

#[pin_project(project = RunProject)]
enum Run<S: Agent, B: Agent> {
    First(#[pin] Invoke<S>),
    Other(#[pin] Invoke<B>),
}

impl<S: Agent, B: Agent> Stream for TargetStream<S, B> {
    type Item = AgentEvent;

    #[inline]
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        match self.project().run.project() {
            RunProject::First(run) => run.poll_next(cx),
            RunProject::Other(run) => run.poll_next(cx),
        }
    }
}

impl<S: Agent, B: Agent> fmt::Debug for TargetStream<S, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TargetStream").finish_non_exhaustive()
    }
}
