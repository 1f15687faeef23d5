use bytes::Bytes;
use http::{
    HeaderValue, Response, StatusCode,
    header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
};
use serde::Serialize;

use super::{
    body::ResponseBody,
    error::{ErrorObject, status},
    sse::{Events, begin, end},
};
use crate::{
    jsonrpc::{EVENT_STREAM, Id, JSON},
    model::{Error, ErrorKind},
};

/// `{"jsonrpc":"2.0","id":…,"result":…}`
pub(super) fn success(id: &Id, result: &impl Serialize) -> Vec<u8> {
    let mut reply = Vec::with_capacity(512);
    open(&mut reply, id, "result");
    if let Err(error) = serde_json::to_writer(&mut reply, result) {
        // Only a value that refuses to be written gets here, and the model has none.
        tracing::error!(%error, "a result could not be written");
        return failure(id, &ErrorKind::Internal.into());
    }
    reply.push(b'}');
    reply
}

/// `{"jsonrpc":"2.0","id":…,"error":…}`
pub(super) fn failure(id: &Id, error: &Error) -> Vec<u8> {
    let mut reply = Vec::with_capacity(256);
    write_failure(&mut reply, id, error);
    reply
}

/// An event: a whole reply whose result is JSON already (A2A-RPC-18).
pub(super) fn event(id: &Id, seq: Option<u64>, result: &str) -> Bytes {
    let mut frame = begin(seq, result.len());
    let start = frame.len();
    open(&mut frame, id, "result");
    frame.extend_from_slice(result.as_bytes());
    frame.push(b'}');
    end(frame, start)
}

/// The last event of a stream that failed while the task goes on (A2A-RPC-23).
pub(super) fn failed_event(id: &Id, error: &Error) -> Bytes {
    let mut frame = begin(None, 0);
    let start = frame.len();
    write_failure(&mut frame, id, error);
    end(frame, start)
}

fn write_failure(reply: &mut Vec<u8>, id: &Id, error: &Error) {
    open(reply, id, "error");
    serde_json::to_writer(&mut *reply, &ErrorObject(error)).expect("strings and a number");
    reply.push(b'}');
}

fn open(reply: &mut Vec<u8>, id: &Id, member: &str) {
    for piece in [
        r#"{"jsonrpc":"2.0","id":"#,
        id.as_str(),
        ",\"",
        member,
        "\":",
    ] {
        reply.extend_from_slice(piece.as_bytes());
    }
}

/// A reply in one piece.
pub(super) fn json(status: StatusCode, reply: Vec<u8>) -> Response<ResponseBody> {
    let length = reply.len();
    let mut response = Response::new(ResponseBody::whole(reply.into()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    headers.insert(CONTENT_LENGTH, length.into());
    response
}

/// The reply that is an error.
pub(super) fn refusal(id: &Id, error: &Error) -> Response<ResponseBody> {
    let mut response = json(status(error.kind()), failure(id, error));
    let headers = response.headers_mut();
    if error.kind() == ErrorKind::Unauthenticated {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    if let Some(after) = error.after() {
        // Rounded up: a client that comes earlier is refused again.
        headers.insert(
            RETRY_AFTER,
            after.as_millis().div_ceil(1_000).try_into().map_or_else(
                |_| HeaderValue::from(u64::MAX),
                |seconds: u64| HeaderValue::from(seconds),
            ),
        );
    }
    response
}

/// A reply that is a stream of events (A2A-RPC-17, 20).
pub(super) fn events(events: Events) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::events(events));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // nginx would hold small events back otherwise (O-S06).
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// A condition of the transport: not about a call, but told in the form that callers read
/// (A2A-RPC-11).
pub(super) fn transport(status: StatusCode, error: &Error) -> Response<ResponseBody> {
    json(status, failure(&Id::null(), error))
}

/// No reply at all, as a notification gets (A2A-RPC-9).
pub(super) fn nothing() -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}
