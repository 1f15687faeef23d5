use std::sync::Arc;

use bytes::Bytes;
use http::{
    HeaderValue, Method, Request, Response, StatusCode,
    header::{CONTENT_LENGTH, CONTENT_TYPE},
    request::Parts,
};
use http_body::Body;

use super::{body, extended_card, media_type, query, reply, route::Route};
use crate::{
    binding::{
        ResponseBody,
        http::{
            NOTHING_HERE, Settings, activated, caller, is_json, not_allowed, read, settings_of,
            stream,
        },
    },
    log::Seq,
    model::{Bounds, Error, Operation, RpcCode},
    server::{self, Answer, Caller, Request as Call, Server},
    wire::{json_string, object},
};

/// The HTTP+JSON binding of a server, and its card. A clone shares the server.
///
/// See the module docs.
#[derive(Clone)]
pub struct Rest {
    pub(super) server: Server,
    pub(super) settings: Arc<Settings>,
}

impl Rest {
    /// Serves at the root: `/message:send`, `/tasks` and the others, with the card at its
    /// well-known path.
    #[must_use]
    pub fn new(server: Server) -> Self {
        let settings = Arc::new(Settings::new(&server, "HTTP+JSON"));
        Self { server, settings }
    }

    /// Whether a path is the endpoint or below it.
    #[cfg(feature = "jsonrpc")]
    pub(in crate::binding) fn covers(&self, path: &str) -> bool {
        self.settings.below(path).is_some()
    }

    async fn answer<B: Body>(self, request: Request<B>) -> Response<ResponseBody> {
        let (head, body) = request.into_parts();
        if let Some(card) = self.settings.card(&head) {
            return card;
        }
        #[cfg(feature = "v0_3")]
        if self.is_v0_3(&head) {
            return self.answer_v0_3(&head, body).await;
        }
        let media_type = media_type::of_reply(&head.headers);
        let Some(route) = self.settings.below(head.uri.path()).and_then(Route::of) else {
            let message = NOTHING_HERE;
            let status = StatusCode::NOT_FOUND;
            return reply::transport(media_type, status, RpcCode::NotFound, message);
        };
        let Some(operation) = route.operation(&head.method) else {
            let message = "The method is none of this address";
            let status = StatusCode::METHOD_NOT_ALLOWED;
            let refusal = reply::transport(media_type, status, RpcCode::Unimplemented, message);
            let allow = HeaderValue::try_from(route.allow()).expect("names of methods");
            return not_allowed(refusal, allow);
        };
        // Only a POST carries parameters in its body (A2A-REST-10). It is read before anything is
        // answered (O-R05).
        let body = if head.method == Method::POST {
            match self.read(&head, body).await {
                Ok(body) => body,
                Err((status, message)) => {
                    let code = RpcCode::InvalidArgument;
                    return reply::transport(media_type, status, code, &message);
                }
            }
        } else {
            Bytes::new()
        };
        match self.perform(&head, &route, operation, body).await {
            Ok((caller, server::Response::Answer(answer))) => {
                let response = match &*answer {
                    Answer::Card(card) => extended_card::reply(media_type, &head.headers, card),
                    answer => reply::success(media_type, answer),
                };
                activated(&self.server, &caller, response)
            }
            Ok((caller, server::Response::Stream(frames))) => {
                let events = stream(frames, self.settings.keep_alive, |item| match item {
                    Ok(next) => reply::event(next.seq().map(Seq::number), next.json()),
                    Err(error) => reply::failed_event(error),
                });
                match events.await {
                    Ok(response) => activated(&self.server, &caller, response),
                    Err(error) => reply::refusal(media_type, &error),
                }
            }
            Err(error) => reply::refusal(media_type, &error),
        }
    }

    pub(super) async fn read<B: Body>(
        &self,
        head: &Parts,
        body: B,
    ) -> Result<Bytes, (StatusCode, String)> {
        let typed = head.headers.contains_key(CONTENT_TYPE);
        // Who sends nothing may call it what it likes.
        let empty = body.is_end_stream()
            || head
                .headers
                .get(CONTENT_LENGTH)
                .is_some_and(|length| length == "0");
        if typed && !empty && !is_json(&head.headers) {
            let message = "The body must be application/a2a+json or application/json";
            return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, message.to_owned()));
        }
        read(&head.headers, body, &self.settings)
            .await
            .map_err(|unreadable| (unreadable.status(), unreadable.to_string()))
    }

    async fn perform(
        &self,
        head: &Parts,
        route: &Route<'_>,
        operation: Operation,
        body: Bytes,
    ) -> Result<(Caller, server::Response), Error> {
        let query = head.uri.query().unwrap_or_default();
        // What is no JSON is told before the version is looked at (A2A-OP-11).
        let body = body::object(&body)?;
        let mut caller = caller(head);
        self.server.version(&caller, &self.settings.versions)?;
        let params = params(route, operation, query, body);
        let tenant = tenant(route, query, &self.server.limits().bounds);
        if let Ok(Some(tenant)) = &tenant {
            caller = caller.in_tenant(tenant);
        }
        let response = self
            .server
            .handle_with(&caller, |bounds| {
                tenant?;
                Call::decode(operation, &params?, bounds)
            })
            .await?;
        Ok((caller, response))
    }
}

/// What path, query and body say together, as one JSON object.
pub(super) fn params(
    route: &Route<'_>,
    operation: Operation,
    query: &str,
    body: &str,
) -> Result<String, Error> {
    let of_query = query::members(operation, query)?;
    if of_query.is_empty() {
        return body::with_members(body, &route.members()?);
    }
    let mut members = of_query;
    members.extend(
        route
            .members()?
            .into_iter()
            .map(|(name, value)| (name, json_string(&value))),
    );
    Ok(object(&members))
}

/// The tenant of the address, which path and query may both name but not differently.
fn tenant(route: &Route<'_>, query: &str, bounds: &Bounds) -> Result<Option<String>, Error> {
    let tenant = match (route.tenant()?, query::tenant(query)?) {
        (Some(of_path), Some(of_query)) if of_path != of_query => {
            let description = "does not match the tenant of the path";
            return Err(Error::invalid_param("tenant", description));
        }
        (of_path, of_query) => of_path.or(of_query),
    };
    match &tenant {
        Some(tenant) if tenant.len() > bounds.id_bytes => {
            let description = format!("longer than {} bytes", bounds.id_bytes);
            Err(Error::invalid_param("tenant", description))
        }
        Some(tenant) if tenant.chars().any(char::is_control) => Err(Error::invalid_param(
            "tenant",
            "must not hold control characters",
        )),
        _ => Ok(tenant),
    }
}

settings_of!(Rest);
