use std::future::Future;

use bytes::{Bytes, BytesMut};
use http::{
    HeaderMap, Request, Response,
    header::{CONTENT_TYPE, LOCATION},
};
use http_body_util::{BodyExt, Full};
use tokio::time::timeout;

use super::{
    binding::Binding,
    error::CallError,
    json_rpc,
    limits::{Limits, TooLong},
    rest,
    retry_after::retry_after,
    transport::{ReplyBody, Transport},
};

/// Carries one request out and reads the head of the response, whatever its status.
pub(super) async fn exchange<T: Transport>(
    transport: &T,
    request: Request<Full<Bytes>>,
    limits: &Limits,
) -> Result<Response<ReplyBody>, CallError> {
    in_time(limits, transport.exchange(request))
        .await?
        .map_err(CallError::Transport)
}

/// Waits for the head of a reply, for as long as a server may be silent.
pub(super) async fn in_time<F: Future>(limits: &Limits, reply: F) -> Result<F::Output, CallError> {
    let reply = timeout(limits.silence(), reply).await;
    reply.map_err(|_| CallError::NoReply)
}

/// A response with another status than 2xx is what the server refused, or no answer of a server of
/// this protocol (A2A-RPC-12).
pub(super) async fn succeeded(
    response: Response<ReplyBody>,
    binding: Binding,
    limits: &Limits,
) -> Result<Response<ReplyBody>, CallError> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    // Nobody follows it: what was meant for one server is not for another.
    if let Some(location) = response.headers().get(LOCATION)
        && status.is_redirection()
    {
        return Err(CallError::Redirect {
            status,
            location: String::from_utf8_lossy(location.as_bytes())
                .chars()
                .take(200)
                .collect(),
        });
    }
    let retry_after = retry_after(response.headers());
    let body = whole(response.into_body(), limits)
        .await
        .unwrap_or_default();
    let refusal = match binding {
        Binding::JsonRpc => json_rpc::refusal_in(&body, status),
        Binding::Rest => rest::refusal_in(&body, status),
        #[cfg(feature = "grpc")]
        Binding::Grpc => None,
    };
    Err(match refusal {
        Some(refusal) => CallError::Refused(Box::new(refusal.retry_after(retry_after))),
        None => CallError::Status {
            status,
            body: excerpt(&body),
            retry_after,
        },
    })
}

/// Reads a body to its end, or to the limit.
pub(super) async fn whole(body: ReplyBody, limits: &Limits) -> Result<Bytes, CallError> {
    let read = timeout(limits.body, read(body, limits.piece)).await;
    read.map_err(|_| CallError::Slow)?
}

async fn read(mut body: ReplyBody, limit: usize) -> Result<Bytes, CallError> {
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(CallError::Transport)?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if whole.len() + data.len() > limit {
            return Err(TooLong::reply(limit).into());
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

/// The beginning of a body, for a person; a page of HTML tells nobody anything.
fn excerpt(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(1 << 10)]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.starts_with('<') {
        return String::new();
    }
    text.chars().take(200).collect()
}
