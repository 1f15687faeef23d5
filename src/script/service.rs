use std::{
    convert::Infallible,
    future::{Ready, ready},
    task::{Context, Poll},
};

use tower_service::Service;

use super::{Next, Script, ScriptStream};
use crate::{Agent, Prompt, Scope};

/// An agent whose turns are scripted. See [`Script`].
///
/// It is always ready: readiness of the agent below is part of each run.
#[derive(Clone, Debug)]
pub struct Scripted<S, C> {
    inner: S,
    script: C,
}

impl<S, C> Scripted<S, C> {
    /// Scripts the turns of `inner`.
    pub const fn new(inner: S, script: C) -> Self {
        Self { inner, script }
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

impl<S, C> Service<(Scope, Prompt)> for Scripted<S, C>
where
    S: Agent + Clone,
    C: Script<S>,
{
    type Response = ScriptStream<S>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, (scope, prompt): (Scope, Prompt)) -> Self::Future {
        let next = Next::new(self.inner.clone());
        let script = self.script.clone();
        ready(Ok(ScriptStream::new(|out| {
            script.run(scope, prompt, next, out)
        })))
    }
}
