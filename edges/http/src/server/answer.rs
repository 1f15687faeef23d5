use std::{future::poll_fn, sync::Arc};

use http::{
    HeaderValue, Method, Request, Response, StatusCode,
    header::{CACHE_CONTROL, CONTENT_TYPE},
};
use http_body::Body;
use portcullis::BoxAgent;
use tokio::time::timeout;

use super::{
    ResponseBody,
    accept::{Accepted, accepted},
    body::Events,
    read::read,
    refusal::Refusal,
    request::{demand_json, turn_request},
    settings::Settings,
    turn::Turn,
};

pub(super) async fn answer<B: Body>(
    agent: BoxAgent,
    settings: Arc<Settings>,
    request: Request<B>,
) -> Response<ResponseBody> {
    let begun = begin(&agent, &settings, request).await;
    begun.unwrap_or_else(Refusal::into_response)
}

/// Everything that can be known of a request is, before the agent hears of it.
async fn begin<B: Body>(
    agent: &BoxAgent,
    settings: &Settings,
    request: Request<B>,
) -> Result<Response<ResponseBody>, Refusal> {
    let (head, body) = request.into_parts();
    if head.method != Method::POST {
        return Err(Refusal::of_method("POST"));
    }
    let accepted = accepted(&head.headers).ok_or_else(|| {
        Refusal::of_request(
            StatusCode::NOT_ACCEPTABLE,
            "there are text/event-stream, application/x-ndjson and application/jsonl",
        )
    })?;
    demand_json(&head)?;
    let body = read(&head, body, settings).await?;
    let (scope, prompt) = turn_request(&head, &body, settings)?;
    drop((head, body));
    let turn = Turn::new(agent, scope, prompt, settings.event_limit);
    respond(turn, accepted, settings).await
}

async fn respond(
    mut turn: Turn,
    accepted: Accepted,
    settings: &Settings,
) -> Result<Response<ResponseBody>, Refusal> {
    let first = timeout(settings.status_wait, poll_fn(|cx| turn.poll_line(cx))).await;
    // Who waits longer has to be told that it waits.
    let first = first.ok().flatten();
    let failure = first.as_ref().and_then(|line| line.failure.as_ref());
    if let Some(refusal) = failure.and_then(Refusal::of_turn) {
        return Err(refusal);
    }
    let events = Events::new(turn, first, accepted.format, settings.keep_alive);
    let mut response = Response::new(ResponseBody::events(events));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(accepted.media_type));
    // Nobody on the way is to keep it, hold it back or pack it (O-S06).
    headers.insert(
        CACHE_CONTROL,
        HeaderValue::from_static("no-cache, no-transform"),
    );
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}
