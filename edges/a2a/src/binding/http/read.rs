use std::{fmt, pin::pin, time::Duration};

use bytes::{Buf, Bytes, BytesMut};
use http::{HeaderMap, StatusCode, header};
use http_body::Body;
use http_body_util::BodyExt;
use tokio::time::timeout;

use super::Settings;

/// Why a body could not be read.
#[derive(Debug)]
pub(in crate::binding) enum Unreadable {
    TooLarge {
        limit: usize,
    },
    /// It took too long to come.
    TooSlow {
        limit: Duration,
    },
    /// It is compressed, which nobody was asked for.
    Encoded,
    /// The client hung up, or what carries the body failed.
    Broken,
}

impl Unreadable {
    /// The status of HTTP.
    pub(in crate::binding) const fn status(&self) -> StatusCode {
        match self {
            Self::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooSlow { .. } => StatusCode::REQUEST_TIMEOUT,
            Self::Encoded => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Broken => StatusCode::BAD_REQUEST,
        }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { limit } => write!(f, "A body may have {limit} bytes"),
            Self::TooSlow { limit } => {
                write!(f, "A body may take {} s to come", limit.as_secs_f32())
            }
            Self::Encoded => f.write_str("The body must not be compressed"),
            Self::Broken => f.write_str("The body broke off"),
        }
    }
}

/// Reads a body within the bounds of size and time. Nothing is kept of one that is longer or slower,
/// and one that says that it is longer is not read at all (O-M04, O-M06).
pub(in crate::binding) async fn read<B: Body>(
    headers: &HeaderMap,
    body: B,
    settings: &Settings,
) -> Result<Bytes, Unreadable> {
    if is_encoded(headers) {
        return Err(Unreadable::Encoded);
    }
    let limit = settings.body_limit;
    let said = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    let at_least = said.unwrap_or(0).max(body.size_hint().lower());
    if at_least > limit as u64 {
        return Err(Unreadable::TooLarge { limit });
    }
    let limit_of_time = settings.body_wait;
    timeout(limit_of_time, whole(body, limit))
        .await
        .unwrap_or(Err(Unreadable::TooSlow {
            limit: limit_of_time,
        }))
}

async fn whole<B: Body>(body: B, limit: usize) -> Result<Bytes, Unreadable> {
    let mut body = pin!(body);
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Unreadable::Broken)?;
        let Ok(mut data) = frame.into_data() else {
            continue;
        };
        if whole.len() + data.remaining() > limit {
            return Err(Unreadable::TooLarge { limit });
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

/// Whether the body is something else than what its type says. `identity` is nothing.
fn is_encoded(headers: &HeaderMap) -> bool {
    headers
        .get_all(header::CONTENT_ENCODING)
        .iter()
        .any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity"))
}
