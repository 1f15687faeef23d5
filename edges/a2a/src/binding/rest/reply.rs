use bytes::Bytes;
use http::{Response, StatusCode};
use serde::Serialize;

use super::error::ErrorBody;
use crate::{
    binding::{
        ResponseBody,
        http::{begin, end, of_error, whole},
    },
    model::{Error, ErrorKind, RpcCode},
};

/// The answer itself (A2A-REST-16).
pub(super) fn success(media_type: &'static str, answer: &impl Serialize) -> Response<ResponseBody> {
    match serde_json::to_vec(answer) {
        Ok(body) => whole(StatusCode::OK, media_type, body),
        Err(error) => {
            // Only a value that refuses to be written gets here, and the model has none.
            tracing::error!(%error, "an answer could not be written");
            refusal(media_type, &ErrorKind::Internal.into())
        }
    }
}

/// A reply that is an error (A2A-REST-20..23).
pub(super) fn refusal(media_type: &'static str, error: &Error) -> Response<ResponseBody> {
    of_error(error, body(media_type, &ErrorBody::of(error)))
}

/// A condition of the transport.
pub(super) fn transport(
    media_type: &'static str,
    code: StatusCode,
    status: RpcCode,
    message: &str,
) -> Response<ResponseBody> {
    let error = ErrorBody {
        code: code.as_u16(),
        status,
        message,
        details: None,
    };
    body(media_type, &error)
}

fn body(media_type: &'static str, error: &ErrorBody<'_>) -> Response<ResponseBody> {
    let mut body = Vec::with_capacity(256);
    error.write(&mut body);
    let status = StatusCode::from_u16(error.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    whole(status, media_type, body)
}

/// An event: a bare `StreamResponse`, which is JSON already (A2A-REST-26, O-S08).
pub(super) fn event(seq: Option<u64>, json: &str) -> Bytes {
    let mut frame = begin(None, seq, json.len());
    let start = frame.len();
    frame.extend_from_slice(json.as_bytes());
    end(frame, start)
}

/// The last event of a stream that failed while the task goes on (A2A-REST-28).
pub(super) fn failed_event(error: &Error) -> Bytes {
    let mut frame = begin(Some("error"), None, 256);
    let start = frame.len();
    ErrorBody::of(error).write(&mut frame);
    end(frame, start)
}
