use std::task::{Context, Poll};

use portcullis::{Agent, Failure, Prompt, Scope};
use tower_service::Service;

use super::{RaiseFuture, RaiseStream, runs::Runs};

/// An agent whose early failures are errors. See the [module docs](super).
#[derive(Clone, Debug)]
pub struct Raise<S> {
    inner: S,
    hold_back: usize,
}

impl<S> Raise<S> {
    /// Raises the early failures of `inner`, and holds back so many advisory events.
    pub const fn new(inner: S, hold_back: usize) -> Self {
        Self { inner, hold_back }
    }

    /// The agent below.
    pub const fn get_ref(&self) -> &S {
        &self.inner
    }

    /// The agent below.
    pub const fn get_mut(&mut self) -> &mut S {
        &mut self.inner
    }

    /// The agent below.
    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S: Agent> Service<(Scope, Prompt)> for Raise<S> {
    type Response = RaiseStream<S::Response>;
    type Error = Failure;
    type Future = RaiseFuture<S>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        self.inner.poll_ready(cx).map_err(|never| match never {})
    }

    fn call(&mut self, (mut scope, prompt): (Scope, Prompt)) -> Self::Future {
        let run = Runs::begin(&mut scope);
        // Of this run already: it numbers for itself.
        let sink = scope.usage_sink().cloned();
        RaiseFuture::new(self.inner.call((scope, prompt)), self.hold_back, run, sink)
    }
}
