use std::{fmt, pin::pin};

use bytes::{Buf, Bytes, BytesMut};
use http::HeaderMap;
use http_body::Body;
use http_body_util::BodyExt;

/// Why a body could not be read.
#[derive(Debug)]
pub(in crate::binding) enum Unreadable {
    TooLarge {
        limit: usize,
    },
    /// The client hung up, or what carries the body failed.
    Broken,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge { limit } => write!(f, "A body may have {limit} bytes"),
            Self::Broken => f.write_str("The body broke off"),
        }
    }
}

/// Reads a body that may be as long as `limit`. Nothing is kept of one that is longer, and one
/// that says so is not read at all (O-M04).
pub(in crate::binding) async fn read<B: Body>(
    headers: &HeaderMap,
    body: B,
    limit: usize,
) -> Result<Bytes, Unreadable> {
    let said = headers
        .get(http::header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    let at_least = said.unwrap_or(0).max(body.size_hint().lower());
    if at_least > limit as u64 {
        return Err(Unreadable::TooLarge { limit });
    }
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
