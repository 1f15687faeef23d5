//! A web site whose answers a test makes up.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use tower::Service;

type Answer = dyn Fn(&Request<Bytes>) -> Response<Bytes> + Send + Sync;

/// The site. It takes a while for every answer, so that two requests can be on their way at once.
#[derive(Clone)]
pub(crate) struct Site {
    answer: Arc<Answer>,
    asked: Arc<Mutex<Vec<Request<Bytes>>>>,
}

impl Site {
    pub(crate) fn new(
        answer: impl Fn(&Request<Bytes>) -> Response<Bytes> + Send + Sync + 'static,
    ) -> Self {
        Self {
            answer: Arc::new(answer),
            asked: Arc::default(),
        }
    }

    /// What it was asked since the last time.
    pub(crate) fn asked(&self) -> Vec<Request<Bytes>> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }

    /// How often since the last time.
    pub(crate) fn count(&self) -> usize {
        self.asked().len()
    }
}

/// A response with these headers.
pub(crate) fn reply(
    status: u16,
    headers: &[(&str, &str)],
    body: impl Into<Bytes>,
) -> Response<Bytes> {
    let mut response = Response::builder()
        .status(status)
        .header("content-type", "application/json");
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    response.body(body.into()).unwrap()
}

impl Service<Request<Full<Bytes>>> for Site {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let site = self.clone();
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            let request = Request::from_parts(head, body);
            let response = (site.answer)(&request);
            site.asked.lock().unwrap().push(request);
            tokio::task::yield_now().await;
            Ok(response.map(Full::new))
        })
    }
}
