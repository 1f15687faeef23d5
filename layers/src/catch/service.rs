use std::{
    convert::Infallible,
    future::Ready,
    task::{Context, Poll},
};

use futures_core::Stream;
use portcullis::{AgentEvent, Prompt, Scope};
use tower::BoxError;
use tower_service::Service;

use crate::settle::{Settle, SettleStream};

/// A service whose errors and panics are failures. See the [module docs](super).
#[derive(Clone, Debug)]
pub struct Catch<S> {
    settle: Settle<S>,
}

impl<S> Catch<S> {
    /// Catches what comes out of `inner`.
    pub const fn new(inner: S) -> Self {
        Self {
            settle: Settle::new(inner, "catch"),
        }
    }

    /// The service below.
    pub const fn get_ref(&self) -> &S {
        &self.settle.inner
    }

    /// The service below.
    pub const fn get_mut(&mut self) -> &mut S {
        &mut self.settle.inner
    }

    /// The service below.
    pub fn into_inner(self) -> S {
        self.settle.inner
    }
}

impl<S> Service<(Scope, Prompt)> for Catch<S>
where
    S: Service<(Scope, Prompt), Error: Into<BoxError>, Response: Stream<Item = AgentEvent>>,
{
    type Response = SettleStream<S>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.settle.poll_ready(cx)
    }

    fn call(&mut self, request: (Scope, Prompt)) -> Self::Future {
        self.settle.call(request)
    }
}
