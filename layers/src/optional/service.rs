use std::{
    convert::Infallible,
    future::{Ready, ready},
    task::{Context, Poll},
};

use portcullis::{Agent, Invoke, Prompt, Scope};
use tower_service::Service;

use super::OptionalStream;

/// An agent with or without a layer. See the [module docs](super).
#[expect(clippy::exhaustive_enums, reason = "there is a layer or there is none")]
#[derive(Clone, Debug)]
pub enum Optional<T, S> {
    /// Inside the layer.
    With(T),
    /// As it is.
    Without(S),
}

impl<T: Agent, S: Agent> Service<(Scope, Prompt)> for Optional<T, S> {
    type Response = OptionalStream<Invoke<T>, Invoke<S>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        match self {
            Self::With(agent) => agent.poll_ready(cx),
            Self::Without(agent) => agent.poll_ready(cx),
        }
    }

    fn call(&mut self, request: (Scope, Prompt)) -> Self::Future {
        ready(Ok(match self {
            Self::With(agent) => OptionalStream::With(Invoke::calling(agent.call(request))),
            Self::Without(agent) => OptionalStream::Without(Invoke::calling(agent.call(request))),
        }))
    }
}
