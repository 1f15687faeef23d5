use std::{
    convert::Infallible,
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::sse::Events;

/// The body of a response: one piece, an event stream, or the messages of gRPC and their trailers.
///
/// Dropping it only ends the watching; the task goes on (A2A-OP-66, O-D01).
pub struct ResponseBody(Kind);

enum Kind {
    Whole(Bytes),
    Events(Pin<Box<Events>>),
    #[cfg(feature = "grpc")]
    Messages(tonic::body::Body),
}

impl ResponseBody {
    pub(in crate::binding) const fn empty() -> Self {
        Self(Kind::Whole(Bytes::new()))
    }

    pub(super) const fn whole(bytes: Bytes) -> Self {
        Self(Kind::Whole(bytes))
    }

    /// Messages, and the trailers that end them.
    #[cfg(feature = "grpc")]
    pub(in crate::binding) const fn messages(messages: tonic::body::Body) -> Self {
        Self(Kind::Messages(messages))
    }

    pub(super) fn events(events: Events) -> Self {
        Self(Kind::Events(Box::pin(events)))
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.0 {
            Kind::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Kind::Whole(bytes) => {
                let bytes = std::mem::take(bytes);
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
            Kind::Events(events) => events
                .as_mut()
                .poll_frame(cx)
                .map(|frame| frame.map(|bytes| Ok(Frame::data(bytes)))),
            #[cfg(feature = "grpc")]
            Kind::Messages(messages) => Pin::new(messages).poll_frame(cx).map(|frame| {
                // A failure goes where a caller looks for it (O-G05).
                frame.map(|frame| Ok(frame.unwrap_or_else(|status| in_trailers(&status))))
            }),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Whole(bytes) => bytes.is_empty(),
            Kind::Events(_) => false,
            #[cfg(feature = "grpc")]
            Kind::Messages(messages) => messages.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Kind::Events(_) => SizeHint::default(),
            #[cfg(feature = "grpc")]
            Kind::Messages(messages) => messages.size_hint(),
        }
    }
}

#[cfg(feature = "grpc")]
fn in_trailers(status: &tonic::Status) -> Frame<Bytes> {
    let mut trailers = http::HeaderMap::new();
    if status.add_header(&mut trailers).is_err() {
        trailers.insert("grpc-status", http::HeaderValue::from_static("13"));
    }
    Frame::trailers(trailers)
}

impl fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            Kind::Whole(_) => "ResponseBody(whole)",
            Kind::Events(_) => "ResponseBody(events)",
            #[cfg(feature = "grpc")]
            Kind::Messages(_) => "ResponseBody(messages)",
        })
    }
}
