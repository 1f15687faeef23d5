use bytes::Bytes;
use http::{Response, StatusCode};
use serde::Serialize;

use super::error::{ErrorObject, status};
#[cfg(feature = "v0_3")]
use crate::model::v0_3;
use crate::{
    binding::{
        ResponseBody,
        http::{begin, end, of_error, whole},
    },
    model::{Error, ErrorKind},
    wire::{Id, JSON},
};

/// `{"jsonrpc":"2.0","id":…,"result":…}`
pub(super) fn success(id: &Id, result: &impl Serialize) -> Response<ResponseBody> {
    let mut reply = Vec::with_capacity(512);
    open(&mut reply, id, "result");
    if let Err(error) = serde_json::to_writer(&mut reply, result) {
        // Only a value that refuses to be written gets here, and the model has none.
        tracing::error!(%error, "a result could not be written");
        return refusal(id, &ErrorKind::Internal.into());
    }
    reply.push(b'}');
    whole(StatusCode::OK, JSON, reply)
}

/// The reply that is an error.
pub(super) fn refusal(id: &Id, error: &Error) -> Response<ResponseBody> {
    let reply = failure(id, &ErrorObject(error));
    of_error(error, whole(status(error.kind()), JSON, reply))
}

/// The same in version 0.3.
#[cfg(feature = "v0_3")]
pub(super) fn old_refusal(id: &Id, error: &Error) -> Response<ResponseBody> {
    let reply = failure(id, &old(error));
    of_error(error, whole(status(error.kind()), JSON, reply))
}

/// A condition of the transport: not about a call, but told in the form that callers read
/// (A2A-RPC-11).
pub(super) fn transport(status: StatusCode, error: &Error) -> Response<ResponseBody> {
    whole(status, JSON, failure(&Id::null(), &ErrorObject(error)))
}

/// No reply at all, as a notification gets (A2A-RPC-9).
pub(super) fn nothing() -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

/// An event: a whole reply whose result is JSON already (A2A-RPC-18).
pub(super) fn event(id: &Id, seq: Option<u64>, result: &str) -> Bytes {
    let mut frame = begin(None, seq, result.len());
    let start = frame.len();
    open(&mut frame, id, "result");
    frame.extend_from_slice(result.as_bytes());
    frame.push(b'}');
    end(frame, start)
}

/// The last event of a stream that failed while the task goes on (A2A-RPC-23).
pub(super) fn failed_event(id: &Id, error: &Error) -> Bytes {
    event_of(&failure(id, &ErrorObject(error)))
}

/// The same in version 0.3.
#[cfg(feature = "v0_3")]
pub(super) fn old_failed_event(id: &Id, error: &Error) -> Bytes {
    event_of(&failure(id, &old(error)))
}

fn event_of(reply: &[u8]) -> Bytes {
    let mut frame = begin(None, None, reply.len());
    let start = frame.len();
    frame.extend_from_slice(reply);
    end(frame, start)
}

#[cfg(feature = "v0_3")]
const fn old(error: &Error) -> v0_3::ErrorObject<'_> {
    v0_3::ErrorObject {
        form: v0_3::Form::JsonRpc,
        error,
    }
}

/// `{"jsonrpc":"2.0","id":…,"error":…}`
fn failure(id: &Id, error: &impl Serialize) -> Vec<u8> {
    let mut reply = Vec::with_capacity(256);
    open(&mut reply, id, "error");
    serde_json::to_writer(&mut reply, error).expect("strings and a number");
    reply.push(b'}');
    reply
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
