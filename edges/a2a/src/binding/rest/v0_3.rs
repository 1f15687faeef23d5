//! A call of version 0.3.

use bytes::Bytes;
use http::{HeaderValue, Method, Response, StatusCode, request::Parts};
use http_body::Body;
use serde::Serialize;

use super::{
    body, media_type, reply,
    route::Route,
    service::{Rest, params},
};
use crate::{
    binding::{
        ResponseBody,
        http::{
            NOTHING_HERE, begin, caller as caller_of, end, not_allowed, of_error, stream, whole,
        },
        v0_3::{Answered, activated, caller, needs_version, perform},
    },
    log::Seq,
    model::{
        Bounds, Error, ErrorKind, Operation, Request,
        v0_3::{ErrorObject, Form, decode_create, decode_send},
    },
    server::ProtocolVersion,
    wire::JSON,
};

impl Rest {
    /// Whether a request is one of version 0.3, and that is spoken here.
    pub(super) fn is_v0_3(&self, head: &Parts) -> bool {
        let version = self
            .server
            .version(&caller_of(head), &self.settings.versions);
        matches!(version, Ok(ProtocolVersion::V0_3))
    }

    pub(super) async fn answer_v0_3<B: Body>(
        &self,
        head: &Parts,
        body: B,
    ) -> Response<ResponseBody> {
        let path = self.settings.below(head.uri.path()).unwrap_or_default();
        let Some(route) = Route::of_v0_3(path) else {
            return self.elsewhere(head, path);
        };
        let Some(operation) = route.operation(&head.method) else {
            let message = "The method is none of this address";
            let refusal = transport(StatusCode::METHOD_NOT_ALLOWED, message);
            let allow = HeaderValue::try_from(route.allow()).expect("names of methods");
            return not_allowed(refusal, allow);
        };
        let body = if head.method == Method::POST {
            match self.read(head, body).await {
                Ok(body) => body,
                Err((status, message)) => return transport(status, message),
            }
        } else {
            Bytes::new()
        };
        let caller = caller(head);
        let bounds = &self.server.limits().bounds;
        let query = head.uri.query().unwrap_or_default();
        let answered = match request(&route, operation, query, &body, bounds) {
            Ok(request) => perform(&self.server, &caller, Form::Proto, request).await,
            Err(error) => Err(error),
        };
        let response = match answered {
            Ok(Answered::Once(answer)) => reply::success(JSON, &answer),
            Ok(Answered::Stream(frames)) => {
                let events = stream(frames, self.settings.keep_alive, |item| match item {
                    Ok(next) => reply::event(next.seq.map(Seq::number), &next.json),
                    Err(error) => failed_event(error),
                });
                match events.await {
                    Ok(response) => response,
                    Err(error) => return refusal(&error),
                }
            }
            Err(error) => return refusal(&error),
        };
        activated(&self.server, &caller, response)
    }

    /// No address of 0.3. Perhaps one of 1.0, whose caller did not say so (A2A-COMPAT-3). What is
    /// below `/v1` can only mean 0.3.
    fn elsewhere(&self, head: &Parts, path: &str) -> Response<ResponseBody> {
        let speaks_1_0 = self.settings.versions.contains(&ProtocolVersion::V1_0);
        let is_below_v1 = path == "/v1" || path.starts_with("/v1/");
        if speaks_1_0 && !is_below_v1 && Route::of(path).is_some() {
            let media_type = media_type::of_reply(&head.headers);
            return reply::refusal(media_type, &needs_version("such address"));
        }
        transport(StatusCode::NOT_FOUND, NOTHING_HERE)
    }
}

/// What path, query and body say together. But for what has a body, the names are those of 1.0.
fn request(
    route: &Route<'_>,
    operation: Operation,
    query: &str,
    body: &[u8],
    bounds: &Bounds,
) -> Result<Request, Error> {
    let body = body::object(body)?;
    Ok(match operation {
        Operation::SendMessage => Request::SendMessage(decode_send(body, bounds)?),
        Operation::SendStreamingMessage => {
            Request::SendStreamingMessage(decode_send(body, bounds)?)
        }
        Operation::CreateTaskPushNotificationConfig => {
            let members = route.members()?;
            let (_, task_id) = members.first().expect("the address names the task");
            Request::CreateTaskPushNotificationConfig(decode_create(task_id, body, bounds)?)
        }
        _ => {
            let params = params(route, operation, query, "{}")?;
            match Request::decode(operation, &params, bounds)? {
                Request::GetTask(mut request) => {
                    // There 0 is all of it (T-47).
                    request.history_length = request.history_length.filter(|length| *length != 0);
                    Request::GetTask(request)
                }
                request => request,
            }
        }
    })
}

/// A reply that is an error.
fn refusal(error: &Error) -> Response<ResponseBody> {
    let object = old(error);
    let status = StatusCode::from_u16(object.http_status());
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    of_error(error, whole(status, JSON, json(&object)))
}

/// A condition of the transport.
fn transport(status: StatusCode, message: impl Into<String>) -> Response<ResponseBody> {
    let kind = match status {
        StatusCode::NOT_FOUND => ErrorKind::MethodNotFound,
        _ => ErrorKind::InvalidRequest,
    };
    let error = Error::with_message(kind, message.into());
    whole(status, JSON, json(&old(&error)))
}

/// The last event of a stream that failed while the task goes on.
fn failed_event(error: &Error) -> Bytes {
    let mut frame = begin(Some("error"), None, 256);
    let start = frame.len();
    frame.extend_from_slice(&json(&old(error)));
    end(frame, start)
}

const fn old(error: &Error) -> ErrorObject<'_> {
    ErrorObject {
        form: Form::Proto,
        error,
    }
}

fn json(object: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(object).expect("strings and a number")
}
