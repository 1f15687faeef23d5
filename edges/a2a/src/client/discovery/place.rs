use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, Uri, header::ACCEPT};
use http_body_util::Full;

use crate::{
    client::{
        binding::Binding,
        error::CallError,
        exchange::{exchange, succeeded, whole},
        limits::Limits,
        transport::{ReplyBody, Transport},
    },
    model::{AgentCard, decode_response},
    wire::{JSON, VERSION, VERSION_1_0, WELL_KNOWN_CARD},
};

/// Fetches the public card of an agent, once. `url` is where the agent is, with or without the path
/// of the card: `http://host`, `http://host/agent/` and `http://host/.well-known/agent-card.json` do.
///
/// [`Cards`](super::Cards) keeps what it fetches, verifies it, and judges where it points to.
///
/// # Errors
/// The address is none, nobody answers, or the answer is no card. A card of more than 1 MiB is
/// refused, and so is one that is not there after half a minute (O-C07).
pub async fn fetch_card<T: Transport>(transport: &T, url: &str) -> Result<AgentCard, CallError> {
    let url = card_url(url)?;
    let response = get(transport, &url, HeaderMap::new()).await?;
    let response = succeeded(response, Binding::JsonRpc, &Limits::CARD).await?;
    let body = whole(response.into_body(), &Limits::CARD).await?;
    let text = text_of(&body, &url)?;
    decode(text, &url)
}

/// Asks for something small that is public.
pub(super) async fn get<T: Transport>(
    transport: &T,
    url: &Uri,
    headers: HeaderMap,
) -> Result<Response<ReplyBody>, CallError> {
    let mut request: Request<Full<Bytes>> = Request::new(Full::default());
    *request.uri_mut() = url.clone();
    *request.headers_mut() = headers;
    let headers = request.headers_mut();
    headers.insert(ACCEPT, HeaderValue::from_static(JSON));
    headers.insert(VERSION.clone(), VERSION_1_0.clone());
    exchange(transport, request, &Limits::CARD).await
}

pub(super) fn text_of<'a>(body: &'a [u8], url: &Uri) -> Result<&'a str, CallError> {
    str::from_utf8(body).map_err(|_| no_card(url, "not UTF-8"))
}

pub(super) fn decode(text: &str, url: &Uri) -> Result<AgentCard, CallError> {
    decode_response(text).map_err(|error| no_card(url, &error.to_string()))
}

pub(super) fn no_card(url: &Uri, why: &str) -> CallError {
    CallError::protocol(format!("no card at {url}: {why}"))
}

/// Neither doubles a slash nor loses a segment (O-C02).
pub(super) fn card_url(url: &str) -> Result<Uri, CallError> {
    let invalid = || CallError::protocol(format!("{url:?} is no address; write http://host:port"));
    let uri: Uri = url.trim().parse().map_err(|_| invalid())?;
    if uri.host().is_none() || !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(invalid());
    }
    if uri.path().ends_with(WELL_KNOWN_CARD) {
        return Ok(uri);
    }
    let path = format!("{}{WELL_KNOWN_CARD}", uri.path().trim_end_matches('/'));
    let mut parts = uri.into_parts();
    parts.path_and_query = Some(path.parse().map_err(|_| invalid())?);
    Uri::from_parts(parts).map_err(|_| invalid())
}
