use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use http::{Request, Response, Uri};
use http_body::Body;
use hyper::body::Incoming;
use hyper_util::client::legacy::{
    Client, ResponseFuture,
    connect::{Connect, HttpConnector},
};
use tower_service::Service;

use super::{builder::HttpClientBuilder, error::ClientError};
use crate::BoxError;

/// A pooled HTTP client as a service. A clone shares the pool.
///
/// Dropping the response body closes the connection, so that the server learns of it.
pub struct HttpClient<C, B> {
    client: Client<C, B>,
}

impl<B> HttpClient<HttpConnector, B>
where
    B: Body + Send,
    B::Data: Send,
{
    /// A client with the settings of [`HttpClientBuilder::new`].
    #[must_use]
    pub fn new() -> Self {
        HttpClientBuilder::new().build()
    }
}

impl<C, B> HttpClient<C, B> {
    pub(super) const fn over(client: Client<C, B>) -> Self {
        Self { client }
    }
}

impl<B> Default for HttpClient<HttpConnector, B>
where
    B: Body + Send,
    B::Data: Send,
{
    fn default() -> Self {
        Self::new()
    }
}

impl<C: Clone, B> Clone for HttpClient<C, B> {
    fn clone(&self) -> Self {
        Self {
            client: self.client.clone(),
        }
    }
}

impl<C, B> fmt::Debug for HttpClient<C, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient").finish_non_exhaustive()
    }
}

impl<C, B> Service<Request<B>> for HttpClient<C, B>
where
    C: Connect + Clone + Send + Sync + 'static,
    B: Body + Send + Unpin + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    type Response = Response<Incoming>;
    type Error = ClientError;
    type Future = ClientFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ClientError>> {
        // The pool opens what it needs; there is nothing to reserve.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> ClientFuture {
        ClientFuture {
            target: target(request.uri()),
            inner: self.client.request(request),
        }
    }
}

/// The response of an [`HttpClient`].
pub struct ClientFuture {
    target: String,
    inner: ResponseFuture,
}

impl Future for ClientFuture {
    type Output = Result<Response<Incoming>, ClientError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        Pin::new(&mut this.inner)
            .poll(cx)
            .map_err(|error| ClientError::new(std::mem::take(&mut this.target), error))
    }
}

impl fmt::Debug for ClientFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientFuture")
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}

/// Scheme and authority only: a path or a query may hold a secret.
fn target(uri: &Uri) -> String {
    format!(
        "{}://{}",
        uri.scheme_str().unwrap_or("http"),
        uri.authority()
            .map_or_else(|| "(no host)".to_owned(), host_and_port)
    )
}

fn host_and_port(authority: &http::uri::Authority) -> String {
    authority.port_u16().map_or_else(
        || authority.host().to_owned(),
        |port| format!("{}:{port}", authority.host()),
    )
}
