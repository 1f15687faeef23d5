use std::{
    convert::Infallible,
    fmt,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header::CONTENT_TYPE};
use http_body::Body;
use http_body_util::Full;
use tonic::Status;
use tower_service::Service;

use super::{deadline::Deadline, methods::Methods};
use crate::{
    binding::{
        ResponseBody, ResponseFuture,
        http::{Settings, Unreadable, caller, read},
    },
    proto::a2a::a2a_service_server::A2aServiceServer,
    server::Server,
};

/// The gRPC binding of a server, and its card. A clone shares the server.
///
/// The paths of gRPC are those of the service, `/lf.a2a.v1.A2AService/…`, whatever is in front of
/// them; several agents behind one address are told apart by tenants. It needs a host that speaks
/// HTTP/2 and passes trailers on. A deadline of the caller (`grpc-timeout`) ends the call, and
/// never a task.
///
/// A host that routes by path has to bring what is below [`PATH`](Self::PATH) here:
///
/// ```
/// # use portcullis_a2a::{binding::Grpc, server::Server};
/// # fn doc(server: Server) -> axum::Router {
/// let agent = Grpc::new(server);
/// axum::Router::new().route_service(&format!("{}/{{*method}}", Grpc::PATH), agent)
/// # }
/// ```
#[derive(Clone)]
pub struct Grpc {
    server: Server,
    settings: Arc<Settings>,
}

impl Grpc {
    /// What every method is below.
    pub const PATH: &'static str = "/lf.a2a.v1.A2AService";

    /// Serves the methods of the service, with the card at its well-known path.
    #[must_use]
    pub fn new(server: Server) -> Self {
        let settings = Arc::new(Settings::new(&server, "GRPC"));
        Self { server, settings }
    }

    /// The most bytes that a request may have here. The default is that of the
    /// [`Limits`](crate::server::Limits) of the server.
    #[must_use]
    pub fn body_limit(mut self, bytes: usize) -> Self {
        Arc::make_mut(&mut self.settings).body_limit = bytes;
        self
    }

    /// The `Cache-Control` of the card. The default is `public, max-age=3600`.
    #[must_use]
    pub fn card_cache_control(mut self, value: HeaderValue) -> Self {
        Arc::make_mut(&mut self.settings).set_card_cache_control(value);
        self
    }

    /// The server.
    #[must_use]
    pub const fn get_ref(&self) -> &Server {
        &self.server
    }

    /// The same for another server.
    #[cfg(all(feature = "jsonrpc", feature = "rest"))]
    pub(in crate::binding) fn serving(self, server: Server) -> Self {
        Self { server, ..self }
    }

    /// Whether a request is one of gRPC, whatever its path (ruling 21).
    #[cfg(all(feature = "jsonrpc", feature = "rest"))]
    pub(in crate::binding) fn is_for(headers: &HeaderMap) -> bool {
        content_type(headers).starts_with("application/grpc")
    }

    async fn answer<B: Body>(self, request: Request<B>) -> Response<ResponseBody> {
        let (mut head, body) = request.into_parts();
        if let Some(card) = self.settings.card(&head) {
            return card;
        }
        // What is in other clothes, as gRPC in browsers or as JSON, is nothing that is read here.
        let content_type = content_type(&head.headers);
        if !matches!(content_type, "application/grpc" | "application/grpc+proto") {
            let mut response = Response::new(ResponseBody::empty());
            *response.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            return response;
        }
        let deadline = Deadline::of(&head.headers);
        let caller = caller(&head);
        head.extensions.insert(caller);
        head.extensions.insert(deadline);
        let answered = deadline.within(async move {
            let limit = self.settings.body_limit;
            let body = match read(&head.headers, body, &self.settings).await {
                Ok(body) => body,
                Err(unreadable) => return refused(&unreadable),
            };
            if !is_one_message(&body) {
                let status = Status::invalid_argument("The body must be one message");
                return status.into_http();
            }
            let methods = A2aServiceServer::new(Methods::new(self.server));
            let mut methods = methods.max_decoding_message_size(limit);
            let request = Request::from_parts(head, Full::new(body));
            let Ok(response) = methods.call(request).await;
            response
        });
        answered
            .await
            .unwrap_or_else(Status::into_http)
            .map(ResponseBody::messages)
    }
}

fn refused(unreadable: &Unreadable) -> Response<tonic::body::Body> {
    let message = unreadable.to_string();
    let status = match unreadable {
        Unreadable::TooLarge { .. } => Status::resource_exhausted(message),
        Unreadable::TooSlow { .. } => Status::deadline_exceeded(message),
        Unreadable::Encoded => Status::invalid_argument(message),
        Unreadable::Broken => Status::cancelled(message),
    };
    status.into_http()
}

/// Without parameters.
fn content_type(headers: &HeaderMap) -> &str {
    let value = headers.get(CONTENT_TYPE);
    let value = value.and_then(|value| value.to_str().ok());
    let essence = value.and_then(|value| value.split(';').next());
    essence.unwrap_or_default().trim()
}

/// A flag, a length, and as many bytes: no operation takes more than one message. So no length that
/// is a lie makes room for itself.
fn is_one_message(body: &Bytes) -> bool {
    let [_, a, b, c, d, message @ ..] = &body[..] else {
        return false;
    };
    u32::from_be_bytes([*a, *b, *c, *d]) as usize == message.len()
}

impl<B> Service<Request<B>> for Grpc
where
    B: Body + Send + 'static,
    B::Data: Send,
{
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        // What a turn needs is admitted when it is known whose it is.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> ResponseFuture {
        ResponseFuture::new(self.clone().answer(request))
    }
}

impl fmt::Debug for Grpc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grpc")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
