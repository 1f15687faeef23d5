use http::{HeaderValue, Request, Uri, header::ACCEPT};
use http_body_util::Full;

use super::{
    binding::Binding,
    error::CallError,
    exchange::{exchange, succeeded, whole},
    limits::Limits,
    transport::Transport,
};
use crate::{
    model::{AgentCard, decode_response},
    wire::{JSON, VERSION, VERSION_1_0, WELL_KNOWN_CARD},
};

/// Fetches the public card of an agent. `url` is where the agent is, with or without the path of
/// the card: `http://host`, `http://host/agent/` and `http://host/.well-known/agent-card.json` do.
///
/// # Errors
/// The address is none, nobody answers, or the answer is no card. A card of more than 1 MiB is
/// refused (O-C07).
pub async fn fetch_card<T: Transport>(transport: &T, url: &str) -> Result<AgentCard, CallError> {
    let url = card_url(url)?;
    let mut request = Request::new(Full::default());
    *request.uri_mut() = url.clone();
    let headers = request.headers_mut();
    headers.insert(ACCEPT, HeaderValue::from_static(JSON));
    headers.insert(VERSION.clone(), VERSION_1_0.clone());
    let response = exchange(transport, request, &Limits::CARD).await?;
    let response = succeeded(response, Binding::JsonRpc, &Limits::CARD).await?;
    let body = whole(response.into_body(), &Limits::CARD).await?;
    let no_card = |why: String| CallError::protocol(format!("no card at {url}: {why}"));
    let text = std::str::from_utf8(&body).map_err(|_| no_card("not UTF-8".into()))?;
    decode_response(text).map_err(|error| no_card(error.to_string()))
}

/// Neither doubles a slash nor loses a segment (O-C02).
fn card_url(url: &str) -> Result<Uri, CallError> {
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
