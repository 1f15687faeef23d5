use std::{
    convert::Infallible,
    future::{Ready, ready},
    task::{Context, Poll},
};

use tower_service::Service;

use super::{AdmittedStream, Policy};
use crate::{Agent, Prompt, Scope};

/// An agent whose turns have to be admitted. See [`Policy`].
///
/// It is always ready: it admits, and only then makes a clone of the agent ready and
/// calls it. To keep a service ready while a turn waits would reserve below what
/// others could use.
#[derive(Clone, Debug)]
pub struct Admitted<S, P> {
    inner: S,
    policy: P,
}

impl<S, P> Admitted<S, P> {
    /// Admits the turns of `inner`.
    pub const fn new(inner: S, policy: P) -> Self {
        Self { inner, policy }
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

impl<S, P> Service<(Scope, Prompt)> for Admitted<S, P>
where
    S: Agent + Clone,
    P: Policy,
{
    type Response = AdmittedStream<S, P>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, (scope, prompt): (Scope, Prompt)) -> Self::Future {
        let admit = self.policy.admit(scope, prompt);
        ready(Ok(AdmittedStream::new(admit, self.inner.clone())))
    }
}
