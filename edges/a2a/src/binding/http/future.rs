use std::{
    convert::Infallible,
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use http::Response;

use super::ResponseBody;

/// The response of a binding.
///
/// # Cancel safety
/// Dropping it ends the waiting; a task that was opened goes on (A2A-OP-34).
pub struct ResponseFuture(Pin<Box<dyn Future<Output = Response<ResponseBody>> + Send>>);

impl ResponseFuture {
    pub(in crate::binding) fn new(
        answer: impl Future<Output = Response<ResponseBody>> + Send + 'static,
    ) -> Self {
        Self(Box::pin(answer))
    }
}

impl Future for ResponseFuture {
    type Output = Result<Response<ResponseBody>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx).map(Ok)
    }
}

impl fmt::Debug for ResponseFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
