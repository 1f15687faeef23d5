use std::sync::Arc;

use http::{HeaderValue, Method, Request, Response, StatusCode, request::Parts};
use http_body::Body;

use super::{
    envelope::{Call, NoCall},
    reply,
};
#[cfg(feature = "v0_3")]
use crate::server::ProtocolVersion;
use crate::{
    binding::{
        ResponseBody,
        http::{
            NOTHING_HERE, Settings, Unreadable, activated, addressing, caller, is_json,
            not_allowed, read, settings_of, stream,
        },
    },
    log::Seq,
    model::{Error, ErrorKind},
    server::{self, Server},
    wire::Id,
};

/// The JSON-RPC binding of a server, and its card. A clone shares the server.
///
/// See the module docs.
#[derive(Clone)]
pub struct JsonRpc {
    pub(super) server: Server,
    pub(super) settings: Arc<Settings>,
}

impl JsonRpc {
    /// Serves at `/`, with the card at its well-known path.
    #[must_use]
    pub fn new(server: Server) -> Self {
        let settings = Arc::new(Settings::new(&server, "JSONRPC"));
        Self { server, settings }
    }

    /// With and without a slash at the end (A2A-RPC-13).
    pub(in crate::binding) fn is_endpoint(&self, path: &str) -> bool {
        matches!(self.settings.below(path), Some("" | "/"))
    }

    async fn answer<B: Body>(self, request: Request<B>) -> Response<ResponseBody> {
        let (head, body) = request.into_parts();
        if let Some(card) = self.settings.card(&head) {
            return card;
        }
        if !self.is_endpoint(head.uri.path()) {
            let error = Error::with_message(ErrorKind::InvalidRequest, NOTHING_HERE);
            return reply::transport(StatusCode::NOT_FOUND, &error);
        }
        if head.method != Method::POST {
            let error = Error::with_message(ErrorKind::InvalidRequest, "Every call is a POST");
            let response = reply::transport(StatusCode::METHOD_NOT_ALLOWED, &error);
            return not_allowed(response, HeaderValue::from_static("POST"));
        }
        if !is_json(&head.headers) {
            let message = "The body must be application/json, and its Content-Type must say so";
            let error = Error::with_message(ErrorKind::ContentTypeNotSupported, message);
            return reply::transport(StatusCode::UNSUPPORTED_MEDIA_TYPE, &error);
        }
        let body = match read(&head.headers, body, &self.settings).await {
            Ok(body) => body,
            Err(unreadable) => {
                let kind = match unreadable {
                    Unreadable::Encoded => ErrorKind::ContentTypeNotSupported,
                    _ => ErrorKind::InvalidRequest,
                };
                let error = Error::with_message(kind, unreadable.to_string());
                return reply::transport(unreadable.status(), &error);
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
        match self.server.version(&caller, &self.settings.versions) {
            #[cfg(feature = "v0_3")]
            Ok(ProtocolVersion::V0_3) => return self.perform_v0_3(head, id, method, params).await,
            Ok(_) => {}
            Err(error) => return reply::refusal(&id, &error),
        }
        let caller = addressing(&self.server, caller, params);
        let response = match self.server.handle(&caller, method, Some(params)).await {
            Ok(server::Response::Answer(answer)) => reply::success(&id, &*answer),
            Ok(server::Response::Stream(frames)) => {
                let of_stream = id.clone();
                let events = stream(frames, self.settings.keep_alive, move |item| match item {
                    Ok(next) => reply::event(&of_stream, next.seq().map(Seq::number), next.json()),
                    Err(error) => reply::failed_event(&of_stream, error),
                });
                match events.await {
                    Ok(response) => response,
                    Err(error) => return reply::refusal(&id, &error),
                }
            }
            Err(error) => return reply::refusal(&id, &error),
        };
        activated(&self.server, &caller, response)
    }
}

settings_of!(JsonRpc);
