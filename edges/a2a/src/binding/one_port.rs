use std::{
    convert::Infallible,
    fmt,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use http::{HeaderValue, Request, Response};
use http_body::Body;
use tower_service::Service;

#[cfg(feature = "grpc")]
use super::Grpc;
use super::{JsonRpc, Layout, ResponseBody, ResponseFuture, Rest};
use crate::server::Server;

/// Every binding of a server on one port, and its card: what a request is for follows from its
/// path, and for gRPC from its `Content-Type` (ruling 21). A clone shares the server.
///
/// See the module docs.
#[derive(Clone)]
pub struct OnePort {
    /// What all of it is below; empty for the root.
    base: Arc<str>,
    json_rpc: JsonRpc,
    rest: Rest,
    #[cfg(feature = "grpc")]
    grpc: Grpc,
}

impl OnePort {
    /// JSON-RPC at `/`, HTTP+JSON below `/rest`, gRPC where it is with feature `grpc`, the card at
    /// its well-known path.
    #[must_use]
    pub fn new(server: Server) -> Self {
        Self::with_layout(server, &Layout::new())
    }

    /// Each binding where the layout has it, as the host sees the paths.
    #[must_use]
    pub fn with_layout(server: Server, layout: &Layout) -> Self {
        Self {
            base: layout.base().into(),
            json_rpc: JsonRpc::new(server.clone()).path(&layout.json_rpc()),
            #[cfg(feature = "grpc")]
            grpc: Grpc::new(server.clone()),
            rest: Rest::new(server).path(&layout.rest()),
        }
    }

    /// The most bytes that a request may have here. The default is that of the
    /// [`Limits`](crate::server::Limits) of the server.
    #[must_use]
    #[cfg_attr(not(feature = "grpc"), expect(unused_mut, reason = "one binding less"))]
    pub fn body_limit(mut self, bytes: usize) -> Self {
        #[cfg(feature = "grpc")]
        {
            self.grpc = self.grpc.body_limit(bytes);
        }
        self.with(
            |binding| binding.body_limit(bytes),
            |binding| binding.body_limit(bytes),
        )
    }

    /// How long a stream may be silent before a comment is sent. The default is 15 s. Streams of
    /// gRPC have none: the host sends pings of HTTP/2.
    #[must_use]
    pub fn keep_alive(self, interval: Duration) -> Self {
        self.with(
            |binding| binding.keep_alive(interval),
            |binding| binding.keep_alive(interval),
        )
    }

    /// The `Cache-Control` of the card. The default is `public, max-age=3600`.
    #[must_use]
    pub fn card_cache_control(self, value: HeaderValue) -> Self {
        let same = value.clone();
        self.with(
            |binding| binding.card_cache_control(same),
            |binding| binding.card_cache_control(value),
        )
    }

    /// The server.
    #[must_use]
    pub const fn get_ref(&self) -> &Server {
        self.json_rpc.get_ref()
    }

    /// What all of it is below.
    pub(super) fn base(&self) -> &str {
        &self.base
    }

    /// Whether a path is below the base, as the paths of JSON-RPC and HTTP+JSON, and of the card.
    pub(super) fn covers(&self, path: &str) -> bool {
        path.strip_prefix(&*self.base)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Whether something of it is there, or below.
    pub(super) fn has_below(&self, path: &str) -> bool {
        let is_below = |place: &str| {
            place
                .strip_prefix(path)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        is_below(self.json_rpc.place()) || is_below(self.rest.place())
    }

    /// The same places for another server.
    pub(super) fn serving(self, server: &Server) -> Self {
        Self {
            json_rpc: self.json_rpc.serving(server.clone()),
            rest: self.rest.serving(server.clone()),
            #[cfg(feature = "grpc")]
            grpc: self.grpc.serving(server.clone()),
            ..self
        }
    }

    fn with(
        self,
        json_rpc: impl FnOnce(JsonRpc) -> JsonRpc,
        rest: impl FnOnce(Rest) -> Rest,
    ) -> Self {
        Self {
            json_rpc: json_rpc(self.json_rpc),
            rest: rest(self.rest),
            ..self
        }
    }
}

impl<B> Service<Request<B>> for OnePort
where
    B: Body + Send + 'static,
    B::Data: Send,
{
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> ResponseFuture {
        #[cfg(feature = "grpc")]
        if Grpc::is_for(request.headers()) {
            return self.grpc.call(request);
        }
        let path = request.uri().path();
        // JSON-RPC has one path. Where HTTP+JSON is at the root, the rest is below it.
        if !self.json_rpc.is_endpoint(path) && self.rest.covers(path) {
            self.rest.call(request)
        } else {
            self.json_rpc.call(request)
        }
    }
}

impl fmt::Debug for OnePort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnePort")
            .field("json_rpc", &self.json_rpc)
            .field("rest", &self.rest)
            .finish()
    }
}
