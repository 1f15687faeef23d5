use std::{
    convert::Infallible,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use http_body::Body;
use http_body_util::Either;
use portcullis_a2a::binding::{self, OnePort};
use portcullis_http::server::{self, TurnService};
use tower::{Service, ServiceExt};

/// Both edges of an agent on one port: turns at their path, A2A everywhere else.
#[derive(Clone, Debug)]
pub(crate) struct Edges {
    a2a: OnePort,
    turns: Option<(String, TurnService)>,
}

impl Edges {
    pub(crate) const fn new(a2a: OnePort, turns: Option<(String, TurnService)>) -> Self {
        Self { a2a, turns }
    }
}

impl<B> Service<Request<B>> for Edges
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<Either<server::ResponseBody, binding::ResponseBody>>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        // As both edges are.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        match &self.turns {
            Some((path, turns)) if request.uri().path() == path => {
                let response = turns.clone().oneshot(request);
                Box::pin(async { Ok(response.await?.map(Either::Left)) })
            }
            _ => {
                let response = self.a2a.clone().oneshot(request);
                Box::pin(async { Ok(response.await?.map(Either::Right)) })
            }
        }
    }
}
