use std::pin::pin;

use bytes::{Buf, Bytes, BytesMut};
use http::{StatusCode, request::Parts};
use http_body::Body;
use http_body_util::BodyExt;
use tokio::time::timeout;

use super::{refusal::Refusal, settings::Settings};

/// Reads the whole body, within the bounds of size and time. One that says that it is longer is not
/// read at all.
pub(super) async fn read<B: Body>(
    head: &Parts,
    body: B,
    settings: &Settings,
) -> Result<Bytes, Refusal> {
    let said = head
        .headers
        .get(http::header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    let at_least = said.unwrap_or(0).max(body.size_hint().lower());
    if at_least > settings.body_limit as u64 {
        return Err(too_large(settings.body_limit));
    }
    timeout(settings.body_timeout, whole(body, settings.body_limit))
        .await
        .unwrap_or_else(|_| {
            Err(Refusal::of_request(
                StatusCode::REQUEST_TIMEOUT,
                "the body took too long",
            ))
        })
}

async fn whole<B: Body>(body: B, limit: usize) -> Result<Bytes, Refusal> {
    let mut body = pin!(body);
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else {
            let what = "the body broke off";
            return Err(Refusal::of_request(StatusCode::BAD_REQUEST, what));
        };
        let Ok(mut data) = frame.into_data() else {
            continue;
        };
        if whole.len() + data.remaining() > limit {
            return Err(too_large(limit));
        }
        while data.has_remaining() {
            let chunk = data.chunk();
            whole.extend_from_slice(chunk);
            let taken = chunk.len();
            data.advance(taken);
        }
    }
    Ok(whole.freeze())
}

fn too_large(limit: usize) -> Refusal {
    Refusal::of_request(
        StatusCode::PAYLOAD_TOO_LARGE,
        format!("a body may have {limit} bytes"),
    )
}
