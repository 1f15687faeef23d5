use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

/// The answer of a log: there at once, or later.
///
/// The memory log answers without a box; others box their future. The work itself begins
/// with the call, so dropping an unpolled reply undoes nothing.
#[must_use = "futures do nothing unless polled"]
pub struct Reply<T>(Kind<T>);

enum Kind<T> {
    Ready(Option<T>),
    Later(Pin<Box<dyn Future<Output = T> + Send>>),
}

impl<T> Reply<T> {
    /// An answer that is there.
    pub const fn ready(value: T) -> Self {
        Self(Kind::Ready(Some(value)))
    }

    /// An answer that comes later.
    pub fn later(future: impl Future<Output = T> + Send + 'static) -> Self {
        Self(Kind::Later(Box::pin(future)))
    }

    /// The answer, if it is there already.
    ///
    /// # Errors
    /// The reply itself, if one has to wait for it.
    pub fn try_now(self) -> Result<T, Self> {
        match self.0 {
            Kind::Ready(Some(value)) => Ok(value),
            other => Err(Self(other)),
        }
    }
}

impl<T: Unpin> Future for Reply<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        match &mut self.0 {
            Kind::Ready(value) => Poll::Ready(value.take().expect("polled after completion")),
            Kind::Later(future) => future.as_mut().poll(cx),
        }
    }
}

impl<T> fmt::Debug for Reply<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::Ready(_) => "Reply::Ready",
            Kind::Later(_) => "Reply::Later",
        })
    }
}
