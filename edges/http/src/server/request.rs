//! From the head and the body of a request to a scope and a prompt.

use std::time::Instant;

use bytes::Bytes;
use http::{HeaderMap, StatusCode, header::CONTENT_TYPE, request::Parts};
use portcullis::{Peer, Principal, Prompt, Scope, TraceContext};
use portcullis_session::session_key;

use super::{refusal::Refusal, settings::Settings};
use crate::wire::TurnRequest;

/// Whether the request says that its body is JSON. A browser sends anything else without asking the
/// server first, so this also keeps the forms of strangers out.
pub(super) fn demand_json(head: &Parts) -> Result<(), Refusal> {
    let media_type = head.headers.get(CONTENT_TYPE);
    let media_type = media_type.and_then(|value| value.to_str().ok());
    let essence = media_type.and_then(|value| value.split(';').next());
    let essence = essence.unwrap_or_default().trim().to_ascii_lowercase();
    let is_json = essence
        .strip_prefix("application/")
        .is_some_and(|subtype| subtype == "json" || subtype.ends_with("+json"));
    if is_json {
        return Ok(());
    }
    Err(Refusal::of_request(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "the content type has to be application/json",
    ))
}

/// What the agent is asked, and by whom: the body says no more than a caller may, the rest comes
/// from what stands in front.
pub(super) fn turn_request(
    head: &Parts,
    body: &Bytes,
    settings: &Settings,
) -> Result<(Scope, Prompt), Refusal> {
    let TurnRequest { mut scope, prompt } = TurnRequest::from_slice(body)
        .map_err(|what| Refusal::of_request(StatusCode::BAD_REQUEST, what))?;
    if prompt.images().len() > settings.image_limit {
        let what = format!("a prompt may have {} images", settings.image_limit);
        return Err(Refusal::of_request(StatusCode::BAD_REQUEST, what));
    }
    let asked = scope.deadline();
    if let Some(trace) = trace(&head.headers) {
        scope.extensions_mut().insert(trace);
    }
    prepare(head, &mut scope, settings);
    let limit = settings
        .turn_limit
        .and_then(|limit| tokio::time::Instant::now().into_std().checked_add(limit));
    scope.set_deadline(earliest([asked, scope.deadline(), limit]));
    let tenant = scope.tenant().filter(|tenant| !tenant.is_empty());
    let session = session_key(tenant, scope.principal(), scope.session());
    scope.set_session(session);
    Ok((scope, prompt))
}

/// Who asks, where nothing is asked of the agent.
pub(super) fn scope_of_nothing(head: &Parts, settings: &Settings) -> Scope {
    let mut scope = Scope::new("");
    prepare(head, &mut scope, settings);
    scope
}

/// What stands in front has the last word.
fn prepare(head: &Parts, scope: &mut Scope, settings: &Settings) {
    scope.set_principal(head.extensions.get::<Principal>().cloned());
    if let Some(peer) = head.extensions.get::<Peer>() {
        scope.extensions_mut().insert(*peer);
    }
    if let Some(prepare) = &settings.prepare {
        prepare(head, scope);
    }
}

fn earliest(deadlines: [Option<Instant>; 3]) -> Option<Instant> {
    deadlines.into_iter().flatten().min()
}

/// One `traceparent`, and all lines of `tracestate` as one list. Two parents are none.
fn trace(headers: &HeaderMap) -> Option<TraceContext> {
    let mut parents = headers.get_all("traceparent").iter();
    let parent = parents.next()?.to_str().ok()?;
    if parents.next().is_some() {
        return None;
    }
    let states = headers.get_all("tracestate").iter();
    let states: Result<Vec<_>, _> = states.map(|line| line.to_str()).collect();
    TraceContext::from_headers(parent, states.ok().map(|lines| lines.join(",")).as_deref())
}
