use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use http::{HeaderMap, header::CONTENT_TYPE};
use http_body::{Body, Frame, SizeHint};
use pin_project::pin_project;

use super::serve::Stopped;

/// The body of a response: an event stream ends, cleanly and at once, when the server is told to
/// stop. Any other body is finished first.
///
/// A stream of events may have no end of its own, and a shutdown must not wait for one (O-D04).
#[pin_project]
#[derive(Debug)]
pub struct StreamBody<B> {
    #[pin]
    inner: B,
    #[pin]
    stop: Option<Stopped>,
    ended: bool,
}

impl<B> StreamBody<B> {
    pub(super) fn new(inner: B, headers: &HeaderMap, stop: &Stopped) -> Self {
        let is_events = headers
            .get(CONTENT_TYPE)
            .is_some_and(|value| value.as_bytes().starts_with(b"text/event-stream"));
        Self {
            inner,
            stop: is_events.then(|| stop.clone()),
            ended: false,
        }
    }
}

impl<B: Body> Body for StreamBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let this = self.project();
        if *this.ended {
            return Poll::Ready(None);
        }
        // What is there already is still sent; only waiting ends.
        if let Poll::Ready(frame) = this.inner.poll_frame(cx) {
            return Poll::Ready(frame);
        }
        if let Some(stop) = this.stop.as_pin_mut()
            && stop.poll(cx).is_ready()
        {
            *this.ended = true;
            return Poll::Ready(None);
        }
        Poll::Pending
    }

    fn is_end_stream(&self) -> bool {
        self.ended || self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
