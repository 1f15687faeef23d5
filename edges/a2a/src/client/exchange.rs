use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{
    HeaderMap, Request, Response, StatusCode,
    header::{CONTENT_TYPE, RETRY_AFTER},
};
use http_body_util::{BodyExt, Full};

use super::{
    binding::Binding,
    error::CallError,
    json_rpc, rest,
    sse::TooLong,
    transport::{ReplyBody, Transport},
};

/// Carries one request out and reads the head of the response, whatever its status.
pub(super) async fn exchange<T: Transport>(
    transport: &T,
    request: Request<Full<Bytes>>,
) -> Result<Response<ReplyBody>, CallError> {
    transport
        .exchange(request)
        .await
        .map_err(CallError::Transport)
}

/// A response with another status than 2xx is what the server refused, or no answer of a server of
/// this protocol (A2A-RPC-12).
pub(super) async fn succeeded(
    response: Response<ReplyBody>,
    binding: Binding,
    limit: usize,
) -> Result<Response<ReplyBody>, CallError> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let after = retry_after(response.headers());
    let body = whole(response.into_body(), limit).await.unwrap_or_default();
    let refusal = match binding {
        Binding::JsonRpc => json_rpc::refusal_in(&body, status),
        Binding::Rest => rest::refusal_in(&body, status),
        #[cfg(feature = "grpc")]
        Binding::Grpc => None,
    };
    Err(refusal.map_or_else(
        || of_status(status, &body),
        |refusal| CallError::Refused(Box::new(refusal.retry_after(after))),
    ))
}

/// When to come again, as servers of agents write it: in seconds.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse();
    seconds.ok().map(Duration::from_secs)
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
