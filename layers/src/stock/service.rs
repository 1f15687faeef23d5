use std::{
    convert::Infallible,
    future::Ready,
    task::{Context, Poll},
};

use futures_core::Stream;
use portcullis::{AgentEvent, Prompt, Scope};
use tower::BoxError;
use tower_service::Service;

use crate::{
    catch::{Catch, CatchStream},
    raise::Runs,
};

/// An agent inside a stack of tower's layers. See the [module docs](super).
#[derive(Clone, Debug)]
pub struct Stock<S> {
    catch: Catch<S>,
}

impl<S> Stock<S> {
    pub(super) const fn new(stack: S) -> Self {
        Self {
            catch: Catch::new(stack),
        }
    }

    /// The stack.
    pub const fn get_ref(&self) -> &S {
        self.catch.get_ref()
    }

    /// The stack.
    pub const fn get_mut(&mut self) -> &mut S {
        self.catch.get_mut()
    }

    /// The stack.
    pub fn into_inner(self) -> S {
        self.catch.into_inner()
    }
}

impl<S> Service<(Scope, Prompt)> for Stock<S>
where
    S: Service<(Scope, Prompt), Error: Into<BoxError>, Response: Stream<Item = AgentEvent>>,
{
    type Response = CatchStream<S>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.catch.poll_ready(cx)
    }

    fn call(&mut self, (mut scope, prompt): (Scope, Prompt)) -> Self::Future {
        scope.extensions_mut().insert(Runs::default());
        self.catch.call((scope, prompt))
    }
}
