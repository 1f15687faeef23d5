use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use http::{HeaderMap, HeaderValue, header::CONTENT_TYPE};
use http_body::{Body, Frame, SizeHint};
use pin_project::pin_project;

use super::serve::Stopped;

/// The body of a response: a stream of events, of JSON lines or of gRPC messages ends, cleanly and at once, when
/// the server is told to stop. Any other body is finished first.
///
/// A stream may have no end of its own, and a shutdown must not wait for one (O-D04). What ends a
/// stream of gRPC is a status: `UNAVAILABLE`, which says that it may be asked for again.
#[pin_project]
#[derive(Debug)]
pub struct StreamBody<B> {
    #[pin]
    inner: B,
    #[pin]
    stop: Option<Stopped>,
    is_grpc: bool,
    ended: bool,
}

impl<B> StreamBody<B> {
    pub(super) fn new(inner: B, headers: &HeaderMap, stop: &Stopped) -> Self {
        let content_type = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
        let is = |prefix: &[u8]| content_type.is_some_and(|value| value.starts_with(prefix));
        let is_grpc = is(b"application/grpc");
        let is_stream = is_grpc || STREAMS.iter().any(|media_type| is(media_type));
        Self {
            inner,
            stop: is_stream.then(|| stop.clone()),
            is_grpc,
            ended: false,
        }
    }
}

/// What may have no end of its own, beside gRPC.
const STREAMS: [&[u8]; 3] = [
    b"text/event-stream",
    b"application/x-ndjson",
    b"application/jsonl",
];

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
            return Poll::Ready(this.is_grpc.then(|| Ok(Frame::trailers(unavailable()))));
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

/// How a stream of gRPC ends that goes on elsewhere.
fn unavailable() -> HeaderMap {
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("14"));
    let message = HeaderValue::from_static("The server is shutting down");
    trailers.insert("grpc-message", message);
    trailers
}
