use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use futures_util::{StreamExt, stream};
use http::{
    HeaderValue, Response, StatusCode,
    header::{ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
};

use super::{ResponseBody, sse::Events};
use crate::{
    model::{Error, ErrorKind},
    wire::EVENT_STREAM,
};

/// What is told of an address that is none.
pub(in crate::binding) const NOTHING_HERE: &str =
    "Nothing is served here; the card says where: /.well-known/agent-card.json";

/// A reply in one piece.
pub(in crate::binding) fn whole(
    status: StatusCode,
    media_type: &'static str,
    reply: Vec<u8>,
) -> Response<ResponseBody> {
    let length = reply.len();
    let mut response = Response::new(ResponseBody::whole(reply.into()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(CONTENT_LENGTH, length.into());
    // What a GET answers is of one caller, and a cache that nobody has told so may keep it.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Says which methods there are instead.
pub(in crate::binding) fn not_allowed(
    mut response: Response<ResponseBody>,
    allow: HeaderValue,
) -> Response<ResponseBody> {
    response.headers_mut().insert(ALLOW, allow);
    response
}

/// What the head of a reply says of an error beside the status.
pub(in crate::binding) fn of_error(
    error: &Error,
    mut response: Response<ResponseBody>,
) -> Response<ResponseBody> {
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

/// A reply that is a stream of events (A2A-RPC-17, 20). `encode` makes the bytes of a frame, and
/// those of the error that ends a stream.
///
/// # Errors
/// What comes before the first frame, which is an error and no stream (A2A-RPC-21).
pub(in crate::binding) async fn stream<St, T, F>(
    mut frames: St,
    keep_alive: Duration,
    encode: F,
) -> Result<Response<ResponseBody>, Error>
where
    St: Stream<Item = Result<T, Error>> + Send + Unpin + 'static,
    T: Send + 'static,
    F: Fn(Result<&T, &Error>) -> Bytes + Send + 'static,
{
    let first = match frames.next().await {
        Some(Err(error)) => return Err(error),
        first => first,
    };
    let frames = stream::iter(first)
        .chain(frames)
        .map(move |item| encode(item.as_ref()));
    let events = Events::new(Box::pin(frames), keep_alive);
    let mut response = Response::new(ResponseBody::events(events));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM));
    // A proxy that compresses, and nginx that buffers, would hold small events back (O-S06).
    let as_it_is = HeaderValue::from_static("no-cache, no-transform");
    headers.insert(CACHE_CONTROL, as_it_is);
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}
