use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use pin_project::pin_project;

/// The body of the service behind, or of a refusal.
#[pin_project]
pub struct HttpAuthBody<B>(#[pin] Kind<B>);

#[pin_project(project = KindProject)]
enum Kind<B> {
    Refusal(Option<Bytes>),
    Inner(#[pin] B),
}

impl<B> HttpAuthBody<B> {
    pub(super) fn refusal(body: String) -> Self {
        Self(Kind::Refusal(Some(body.into())))
    }

    pub(super) const fn inner(body: B) -> Self {
        Self(Kind::Inner(body))
    }
}

impl HttpAuthBody<()> {
    /// As a body of any service: a refusal has nothing of it.
    pub(super) fn of_nobody<B>(self) -> HttpAuthBody<B> {
        HttpAuthBody(Kind::Refusal(match self.0 {
            Kind::Refusal(body) => body,
            Kind::Inner(()) => None,
        }))
    }
}

impl<B> Body for HttpAuthBody<B>
where
    B: Body,
    B::Data: From<Bytes>,
{
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        match self.project().0.project() {
            KindProject::Inner(body) => body.poll_frame(cx),
            KindProject::Refusal(body) => {
                Poll::Ready(body.take().map(|body| Ok(Frame::data(body.into()))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Inner(body) => body.is_end_stream(),
            Kind::Refusal(body) => body.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Inner(body) => body.size_hint(),
            Kind::Refusal(body) => {
                SizeHint::with_exact(body.as_ref().map_or(0, |body| body.len() as u64))
            }
        }
    }
}

impl<B: fmt::Debug> fmt::Debug for HttpAuthBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Inner(body) => body.fmt(f),
            Kind::Refusal(_) => f.write_str("HttpAuthBody(refusal)"),
        }
    }
}
