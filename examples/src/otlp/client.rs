use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::client::legacy::connect::HttpConnector;
use opentelemetry_http::{HttpClient, HttpError};
use tokio::{runtime::Handle, time::timeout};
use tower::ServiceExt;

/// What carries the exports.
#[derive(Debug)]
pub(super) struct Client {
    http: portcullis_net::HttpClient<HttpConnector, Full<Bytes>>,
    runtime: Handle,
    limit: Duration,
}

/// A collector answers with a few bytes.
const MAX_ANSWER: usize = 1 << 20;

impl Client {
    /// Works in the runtime that this is called in.
    pub(super) fn new(limit: Duration) -> Self {
        Self {
            http: portcullis_net::HttpClient::new(),
            runtime: Handle::current(),
            limit,
        }
    }
}

type Sent<'a> = Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'a>>;

impl HttpClient for Client {
    fn send_bytes<'a, 'sent>(&'a self, request: Request<Bytes>) -> Sent<'sent>
    where
        'a: 'sent,
        Self: 'sent,
    {
        let http = self.http.clone();
        let limit = self.limit;
        let send = async move {
            let exchange = async {
                let response = http.oneshot(request.map(Full::new)).await?;
                let (head, body) = response.into_parts();
                let body = Limited::new(body, MAX_ANSWER).collect().await?;
                Ok(Response::from_parts(head, body.to_bytes()))
            };
            timeout(limit, exchange).await?
        };
        Box::pin(Inside {
            runtime: self.runtime.clone(),
            future: Box::pin(send),
        })
    }
}

/// Polls inside of a runtime: exports come from a thread that knows none.
struct Inside<F> {
    runtime: Handle,
    future: Pin<Box<F>>,
}

impl<F: Future> Future for Inside<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = &mut *self;
        let _inside = this.runtime.enter();
        this.future.as_mut().poll(cx)
    }
}
