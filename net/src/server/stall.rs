use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use pin_project::pin_project;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep, sleep_until},
};

/// A connection whose other end has to take what it is sent: a write that gets nowhere for so long
/// fails, and the connection with it.
///
/// A client that does not read holds a socket and what waits for it; one whose machine has gone
/// without a word does so for the quarter of an hour that TCP tries.
#[pin_project]
#[derive(Debug)]
pub(super) struct Stalling<I> {
    #[pin]
    inner: I,
    limit: Duration,
    /// Made once something waits, and used again from then on.
    clock: Option<Pin<Box<Sleep>>>,
    waits: bool,
}

impl<I> Stalling<I> {
    pub(super) const fn new(inner: I, limit: Duration) -> Self {
        Self {
            inner,
            limit,
            clock: None,
            waits: false,
        }
    }
}

impl<I: AsyncWrite> Stalling<I> {
    fn within<T>(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut I>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let this = self.project();
        if let Poll::Ready(result) = write(this.inner, cx) {
            *this.waits = false;
            return Poll::Ready(result);
        }
        let limit = *this.limit;
        let clock = this
            .clock
            .get_or_insert_with(|| Box::pin(sleep_until(Instant::now() + limit)));
        if !std::mem::replace(this.waits, true) {
            clock.as_mut().reset(Instant::now() + limit);
        }
        ready!(clock.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "the client does not read",
        )))
    }
}

impl<I: AsyncRead> AsyncRead for Stalling<I> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.project().inner.poll_read(cx, buf)
    }
}

impl<I: AsyncWrite> AsyncWrite for Stalling<I> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.within(cx, |inner, cx| inner.poll_write(cx, buf))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.within(cx, |inner, cx| inner.poll_write_vectored(cx, bufs))
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.within(cx, |inner, cx| inner.poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.within(cx, |inner, cx| inner.poll_shutdown(cx))
    }
}
