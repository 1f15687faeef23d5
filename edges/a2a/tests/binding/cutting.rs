//! A transport that cuts connections.

use std::{
    collections::VecDeque,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use http_body::{Body, Frame};
use http_body_util::Full;
use portcullis_a2a::binding::{OnePort, ResponseBody};
use tower::Service;

/// Cuts the responses that stream: each after as many bytes as it is told.
#[derive(Clone)]
pub(crate) struct Cutting {
    service: OnePort,
    cuts: Arc<Mutex<VecDeque<usize>>>,
}

pub(crate) struct CutBody {
    inner: ResponseBody,
    left: usize,
}

impl Cutting {
    pub(crate) fn new(service: OnePort, cuts: &[usize]) -> Self {
        Self {
            service,
            cuts: Arc::new(Mutex::new(cuts.iter().copied().collect())),
        }
    }
}

impl Body for CutBody {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.left == 0 {
            return Poll::Ready(Some(Err(std::io::ErrorKind::ConnectionReset.into())));
        }
        let frame = ready!(Pin::new(&mut self.inner).poll_frame(cx));
        let Some(frame) = frame else {
            return Poll::Ready(None);
        };
        let frame = frame.unwrap();
        Poll::Ready(Some(Ok(match frame.into_data() {
            Ok(mut data) => {
                data.truncate(self.left);
                self.left -= data.len();
                Frame::data(data)
            }
            Err(trailers) => trailers,
        })))
    }
}

impl Service<Request<Full<Bytes>>> for Cutting {
    type Response = Response<CutBody>;
    type Error = std::convert::Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let path = request.uri().path();
        let is_unary = path.ends_with("/GetTask") || request.method() == http::Method::GET;
        let answer = self.service.call(request);
        let cuts = Arc::clone(&self.cuts);
        Box::pin(async move {
            let response = answer.await?;
            let type_ = response.headers()["content-type"].to_str().unwrap();
            let streams = !is_unary && !type_.ends_with("json");
            let cut = streams.then(|| cuts.lock().unwrap().pop_front()).flatten();
            let left = cut.unwrap_or(usize::MAX);
            Ok(response.map(|inner| CutBody { inner, left }))
        })
    }
}
