use std::{
    convert::Infallible,
    future::{Ready, ready},
    panic::{AssertUnwindSafe, catch_unwind},
    task::{Context, Poll},
};

use futures_core::Stream;
use portcullis::{AgentEvent, Failure, Prompt, Scope};
use tower::BoxError;
use tower_service::Service;

use super::{SettleStream, fold};

/// A service whose turns end with one terminal event.
#[derive(Debug)]
pub(crate) struct Settle<S> {
    pub(crate) inner: S,
    layer: &'static str,
    /// Why `inner` is dead: an error or a panic while it was made ready.
    dead: Option<Failure>,
}

impl<S> Settle<S> {
    pub(crate) const fn new(inner: S, layer: &'static str) -> Self {
        Self {
            inner,
            layer,
            dead: None,
        }
    }
}

/// A clone has to become ready itself, and may turn out to be alive.
impl<S: Clone> Clone for Settle<S> {
    fn clone(&self) -> Self {
        Self::new(self.inner.clone(), self.layer)
    }
}

impl<S> Service<(Scope, Prompt)> for Settle<S>
where
    S: Service<(Scope, Prompt), Error: Into<BoxError>, Response: Stream<Item = AgentEvent>>,
{
    type Response = SettleStream<S>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        if self.dead.is_some() {
            return Poll::Ready(Ok(()));
        }
        let inner = &mut self.inner;
        let polled = catch_unwind(AssertUnwindSafe(|| {
            inner.poll_ready(cx).map_err(Into::<BoxError>::into)
        }));
        match polled {
            Ok(Poll::Ready(Ok(()))) => {}
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(Err(error))) => self.dead = Some(fold::error(self.layer, &*error)),
            Err(panic) => self.dead = Some(fold::panic(self.layer, panic)),
        }
        // A dead service is no error: the next call says what happened.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: (Scope, Prompt)) -> Self::Future {
        if let Some(failure) = &self.dead {
            return ready(Ok(SettleStream::failed(failure.clone())));
        }
        let inner = &mut self.inner;
        let called = catch_unwind(AssertUnwindSafe(|| inner.call(request)));
        ready(Ok(match called {
            Ok(call) => SettleStream::calling(call, self.layer),
            Err(panic) => SettleStream::failed(fold::panic(self.layer, panic)),
        }))
    }
}
