use std::{
    convert::Infallible,
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures_util::{StreamExt, stream};
use http::{HeaderValue, Method, Request, Response, StatusCode, header::ALLOW, request::Parts};
use http_body::Body;
use portcullis::Principal;
use tower_service::Service;

use super::{
    body::ResponseBody,
    card::Card,
    envelope::{Call, NoCall},
    media_type::is_json,
    parameters::Parameters,
    read::{Unreadable, read},
    reply,
    settings::Settings,
    sse::Events,
};
use crate::{
    jsonrpc::{EXTENSIONS, Id},
    log::Seq,
    model::{Error, ErrorKind},
    server::{self, Caller, Frames, Server},
};

/// The JSON-RPC binding of a server, and its card. A clone shares the server.
///
/// See the module docs.
#[derive(Clone)]
pub struct JsonRpc {
    server: Server,
    settings: Arc<Settings>,
}

impl JsonRpc {
    /// Serves at `/`, with the card at its well-known path.
    #[must_use]
    pub fn new(server: Server) -> Self {
        let settings = Settings::new(Card::new(server.card(), jiff::Timestamp::now()));
        Self {
            server,
            settings: Arc::new(settings),
        }
    }

    /// Serves at another path, as the host sees it. The card stays where it is, and is below the
    /// path too.
    #[must_use]
    pub fn path(self, path: &str) -> Self {
        self.with(|settings| {
            let path = path.trim_matches('/');
            settings.path = if path.is_empty() {
                String::new()
            } else {
                format!("/{path}")
            };
        })
    }

    /// The most bytes that a request may have. The default is 10 MiB.
    #[must_use]
    pub fn body_limit(self, bytes: usize) -> Self {
        self.with(|settings| settings.body_limit = bytes)
    }

    /// How long a stream may be silent before a comment is sent. The default is 15 s.
    #[must_use]
    pub fn keep_alive(self, interval: Duration) -> Self {
        self.with(|settings| settings.keep_alive = interval)
    }

    /// The `Cache-Control` of the card. The default is `public, max-age=3600`.
    #[must_use]
    pub fn card_cache_control(self, value: HeaderValue) -> Self {
        self.with(|settings| settings.card.cache_control(value))
    }

    /// The server.
    #[must_use]
    pub const fn get_ref(&self) -> &Server {
        &self.server
    }

    fn with(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(Arc::make_mut(&mut self.settings));
        self
    }

    async fn answer<B: Body>(self, request: Request<B>) -> Response<ResponseBody> {
        let (head, body) = request.into_parts();
        let path = head.uri.path();
        if self.settings.is_card(path) {
            return self.settings.card.answer(&head.method, &head.headers);
        }
        if !self.settings.is_endpoint(path) {
            let error = Error::with_message(ErrorKind::InvalidRequest, "Nothing is served here");
            return reply::transport(StatusCode::NOT_FOUND, &error);
        }
        if head.method != Method::POST {
            let error = Error::with_message(ErrorKind::InvalidRequest, "Every call is a POST");
            let mut response = reply::transport(StatusCode::METHOD_NOT_ALLOWED, &error);
            response
                .headers_mut()
                .insert(ALLOW, HeaderValue::from_static("POST"));
            return response;
        }
        if !is_json(&head.headers) {
            let message = "The body must be application/json, and its Content-Type must say so";
            let error = Error::with_message(ErrorKind::ContentTypeNotSupported, message);
            return reply::transport(StatusCode::UNSUPPORTED_MEDIA_TYPE, &error);
        }
        let body = match read(&head.headers, body, self.settings.body_limit).await {
            Ok(body) => body,
            Err(Unreadable::TooLarge) => {
                let message = format!("A body may have {} bytes", self.settings.body_limit);
                let error = Error::with_message(ErrorKind::InvalidRequest, message);
                return reply::transport(StatusCode::PAYLOAD_TOO_LARGE, &error);
            }
            Err(Unreadable::Broken) => {
                let error = Error::with_message(ErrorKind::InvalidRequest, "The body broke off");
                return reply::transport(StatusCode::BAD_REQUEST, &error);
            }
        };
        match Call::decode(&body) {
            Ok(Call { id: None, .. }) => reply::nothing(),
            Ok(Call {
                id: Some(id),
                method,
                params,
            }) => {
                drop(body);
                self.perform(&head, id, &method, &params).await
            }
            Err(NoCall::NotJson) => reply::refusal(&Id::null(), &ErrorKind::Parse.into()),
            Err(NoCall::Invalid(id)) => reply::refusal(&id, &ErrorKind::InvalidRequest.into()),
        }
    }

    async fn perform(
        &self,
        head: &Parts,
        id: Id,
        method: &str,
        params: &str,
    ) -> Response<ResponseBody> {
        let caller = caller(head);
        match self.server.handle(&caller, method, Some(params)).await {
            Ok(server::Response::Answer(answer)) => {
                let response = reply::json(StatusCode::OK, reply::success(&id, &*answer));
                self.activated(&caller, response)
            }
            Ok(server::Response::Stream(frames)) => {
                let response = self.stream(id, frames).await;
                self.activated(&caller, response)
            }
            Err(error) => reply::refusal(&id, &error),
        }
    }

    /// An error that comes before the first frame is no stream (A2A-RPC-21).
    async fn stream(&self, id: Id, mut frames: Frames) -> Response<ResponseBody> {
        let first = match frames.next().await {
            Some(Err(error)) => return reply::refusal(&id, &error),
            first => first,
        };
        let frames = stream::iter(first)
            .chain(frames)
            .map(move |item| match item {
                Ok(next) => reply::event(&id, next.seq().map(Seq::number), next.json()),
                Err(error) => reply::failed_event(&id, &error),
            });
        reply::events(Events::new(Box::pin(frames), self.settings.keep_alive))
    }

    /// Says which extensions are active, on streams too (A2A-EXT-7).
    fn activated(
        &self,
        caller: &Caller,
        mut response: Response<ResponseBody>,
    ) -> Response<ResponseBody> {
        let active = self.server.active_extensions(caller).join(",");
        if let Ok(active) = HeaderValue::from_str(&active)
            && !active.is_empty()
        {
            response.headers_mut().insert(EXTENSIONS.clone(), active);
        }
        response
    }
}

fn caller(head: &Parts) -> Caller {
    let parameters = Parameters::of(head);
    let caller = Caller::new()
        .speaking(parameters.version)
        .asking_for(parameters.extensions)
        .in_trace(parameters.trace)
        .with_principal(head.extensions.get::<Principal>().cloned());
    match parameters.last_event_id {
        Some(seq) => caller.resuming_after(seq),
        None => caller,
    }
}

impl<B> Service<Request<B>> for JsonRpc
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
        ResponseFuture(Box::pin(self.clone().answer(request)))
    }
}

impl fmt::Debug for JsonRpc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonRpc")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// The response of a [`JsonRpc`].
///
/// # Cancel safety
/// Dropping it ends the waiting; a task that was opened goes on (A2A-OP-34).
pub struct ResponseFuture(Pin<Box<dyn Future<Output = Response<ResponseBody>> + Send>>);

impl Future for ResponseFuture {
    type Output = Result<Response<ResponseBody>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx).map(Ok)
    }
}

impl fmt::Debug for ResponseFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
