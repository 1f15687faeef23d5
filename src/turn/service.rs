use std::{
    convert::Infallible,
    future::{Ready, ready},
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    task::{Context, Poll},
};

use tower_service::Service;

use super::{End, MakeTurn, Turn, TurnStream};
use crate::{Agent, Invoke, Prompt, Scope};

/// An agent whose turns are watched. See [`Turn`].
///
/// It answers at once: the call below is driven by the stream, so that a clock runs
/// while the call is pending, and every end is told in one place.
#[derive(Clone, Debug)]
pub struct Watched<S, M> {
    inner: S,
    make: M,
}

impl<S, M> Watched<S, M> {
    /// Watches the turns of `inner`.
    pub const fn new(inner: S, make: M) -> Self {
        Self { inner, make }
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

impl<S, M> Service<(Scope, Prompt)> for Watched<S, M>
where
    S: Agent,
    M: MakeTurn,
{
    type Response = TurnStream<Invoke<S>, M::Turn>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, (mut scope, mut prompt): (Scope, Prompt)) -> Self::Future {
        let mut turn = self.make.make_turn(&mut scope, &mut prompt);
        let inner = &mut self.inner;
        let called = catch_unwind(AssertUnwindSafe(|| {
            turn.around(|| inner.call((scope, prompt)))
        }));
        match called {
            Ok(call) => ready(Ok(TurnStream::new(Invoke::calling(call), turn))),
            Err(panic) => {
                turn.on_end(End::Panicked);
                resume_unwind(panic);
            }
        }
    }
}
