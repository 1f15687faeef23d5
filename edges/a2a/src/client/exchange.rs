use bytes::{Bytes, BytesMut};
use http::{
    HeaderMap, HeaderValue, Request, Response, StatusCode,
    header::{ACCEPT, CONTENT_TYPE},
};
use http_body_util::{BodyExt, Full};

use super::{
    error::CallError,
    reply,
    sse::TooLong,
    transport::{ReplyBody, Transport},
};
use crate::wire::JSON;

/// Carries one request out and reads the head of the response.
pub(super) async fn exchange<T: Transport>(
    transport: &T,
    request: Request<Full<Bytes>>,
    limit: usize,
) -> Result<Response<ReplyBody>, CallError> {
    let response = transport
        .exchange(request)
        .await
        .map_err(CallError::Transport)?;
    if response.status().is_success() {
        return Ok(response);
    }
    let status = response.status();
    let body = whole(response.into_body(), limit).await.unwrap_or_default();
    Err(reply::refusal_in(&body).unwrap_or_else(|| of_status(status, &body)))
}

/// Reads a body to its end, or to the limit.
pub(super) async fn whole(mut body: ReplyBody, limit: usize) -> Result<Bytes, CallError> {
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(CallError::Transport)?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if whole.len() + data.len() > limit {
            return Err(TooLong::over(limit).into());
        }
        whole.extend_from_slice(&data);
    }
    Ok(whole.freeze())
}

pub(super) fn has_type(headers: &HeaderMap, wanted: &str) -> bool {
    media_type(headers).eq_ignore_ascii_case(wanted)
}

/// `type/subtype` of a response, without parameters.
pub(super) fn media_type(headers: &HeaderMap) -> &str {
    let value = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    value
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
}

/// Asks for an answer of one piece, or for a stream where one is due (A2A-RPC-24).
pub(super) fn accept(headers: &mut HeaderMap, stream: bool) {
    let accepted = if stream {
        HeaderValue::from_static("text/event-stream, application/json")
    } else {
        HeaderValue::from_static(JSON)
    };
    headers.insert(ACCEPT, accepted);
}

fn of_status(status: StatusCode, body: &[u8]) -> CallError {
    let text = String::from_utf8_lossy(body);
    // What follows is for a person; a page of HTML tells nobody anything.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let body = if text.starts_with('<') {
        String::new()
    } else {
        text.chars().take(200).collect()
    };
    CallError::Status { status, body }
}
