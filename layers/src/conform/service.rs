use std::{
    convert::Infallible,
    future::Ready,
    task::{Context, Poll},
};

use portcullis::{Agent, Prompt, Scope};
use tower_service::Service;

use crate::settle::{Settle, SettleStream};

/// An agent that keeps to the contract. See the [module docs](super).
#[derive(Clone, Debug)]
pub struct Conform<S> {
    settle: Settle<S>,
}

impl<S> Conform<S> {
    /// Makes good what is wrong with `inner`.
    pub const fn new(inner: S) -> Self {
        Self {
            settle: Settle::new(inner, "conform"),
        }
    }

    /// The agent below.
    pub const fn get_ref(&self) -> &S {
        &self.settle.inner
    }

    /// The agent below.
    pub const fn get_mut(&mut self) -> &mut S {
        &mut self.settle.inner
    }

    /// The agent below.
    pub fn into_inner(self) -> S {
        self.settle.inner
    }
}

impl<S> Service<(Scope, Prompt)> for Conform<S>
where
    S: Agent,
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
