use std::{future::poll_fn, sync::Arc};

use http::{
    HeaderValue, Method, Request, Response, StatusCode,
    header::{CACHE_CONTROL, CONTENT_LOCATION, CONTENT_TYPE},
    request::Parts,
};
use http_body::Body;
use portcullis::BoxAgent;
use tokio::time::timeout;

use super::{
    ResponseBody,
    accept::{Accepted, accepted},
    body::Events,
    detach::{Owner, Turns},
    lines::{Lines, Numbered},
    query::Query,
    read::read,
    refusal::Refusal,
    request::{demand_json, scope_of_nothing, turn_request},
    settings::Settings,
    turn::Turn,
};

/// What answers.
#[derive(Clone, Debug)]
pub(super) struct Host {
    pub(super) agent: BoxAgent,
    pub(super) settings: Arc<Settings>,
    pub(super) turns: Option<Arc<Turns>>,
}

pub(super) async fn answer<B: Body>(host: Host, request: Request<B>) -> Response<ResponseBody> {
    let (head, body) = request.into_parts();
    let answered = match (&head.method, &host.turns) {
        (&Method::POST, _) => host.begin(head, body).await,
        (&Method::GET, Some(turns)) => host.resume(turns, &head),
        (&Method::DELETE, Some(turns)) => host.cancel(turns, &head),
        (_, Some(_)) => Err(Refusal::of_method("POST, GET, DELETE")),
        (_, None) => Err(Refusal::of_method("POST")),
    };
    answered.unwrap_or_else(Refusal::into_response)
}

type Answered = Result<Response<ResponseBody>, Refusal>;

impl Host {
    /// Everything that can be known of a request is, before the agent hears of it.
    async fn begin<B: Body>(&self, head: Parts, body: B) -> Answered {
        let settings = &*self.settings;
        let accepted = acceptable(&head)?;
        demand_json(&head)?;
        let asked = Query::of(&head.uri);
        let body = read(&head, body, settings).await?;
        let (scope, prompt) = turn_request(&head, &body, settings)?;
        drop((head, body));
        let owner = Owner::of(&scope);
        let turn = Turn::new(&self.agent, scope, prompt, settings.event_limit);
        let mut lines = match (&self.turns, asked.detach) {
            (Some(turns), Some(grace)) => Lines::Kept(turns.begin(turn, owner, grace)),
            _ => Lines::own(turn),
        };
        // Who waits longer for the status has to be told that it waits.
        let first = timeout(settings.status_wait, poll_fn(|cx| lines.poll_line(cx))).await;
        let first = first.ok().flatten();
        let failure = first.as_ref().and_then(|(_, line)| line.failure.as_ref());
        if let Some(refusal) = failure.and_then(Refusal::of_turn) {
            return Err(refusal);
        }
        let place = match &mut lines {
            Lines::Kept(reader) => HeaderValue::try_from(format!("?turn={}", reader.name())).ok(),
            Lines::Own(..) => None,
        };
        let mut response = self.stream(lines, first, accepted);
        if let Some(place) = place {
            response.headers_mut().insert(CONTENT_LOCATION, place);
        }
        Ok(response)
    }

    fn resume(&self, turns: &Arc<Turns>, head: &Parts) -> Answered {
        let accepted = acceptable(head)?;
        let owner = Owner::of(&scope_of_nothing(head, &self.settings));
        let id = Query::of(&head.uri).turn.ok_or_else(Refusal::of_no_turn)?;
        let after = head.headers.get("last-event-id");
        let after = match after {
            None => 0,
            Some(value) => value
                .to_str()
                .ok()
                .and_then(|value| value.trim().parse().ok())
                .ok_or_else(|| {
                    let what = "the last event id is none of ours";
                    Refusal::of_request(StatusCode::BAD_REQUEST, what)
                })?,
        };
        let reader = turns
            .resume(&id, &owner, after)
            .map_err(Refusal::of_absent)?;
        Ok(match reader {
            Some(reader) => self.stream(Lines::Kept(reader), None, accepted),
            None => no_content(),
        })
    }

    fn cancel(&self, turns: &Turns, head: &Parts) -> Answered {
        let owner = Owner::of(&scope_of_nothing(head, &self.settings));
        let id = Query::of(&head.uri).turn.ok_or_else(Refusal::of_no_turn)?;
        turns.cancel(&id, &owner).map_err(Refusal::of_absent)?;
        Ok(no_content())
    }

    fn stream(
        &self,
        lines: Lines,
        first: Option<Numbered>,
        accepted: Accepted,
    ) -> Response<ResponseBody> {
        let events = Events::new(lines, first, accepted.format, self.settings.keep_alive);
        let mut response = Response::new(ResponseBody::events(events));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(accepted.media_type));
        // Nobody on the way is to keep it, hold it back or pack it (O-S06).
        headers.insert(
            CACHE_CONTROL,
            HeaderValue::from_static("no-cache, no-transform"),
        );
        headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        response
    }
}

fn acceptable(head: &Parts) -> Result<Accepted, Refusal> {
    accepted(&head.headers).ok_or_else(|| {
        Refusal::of_request(
            StatusCode::NOT_ACCEPTABLE,
            "there are text/event-stream, application/x-ndjson and application/jsonl",
        )
    })
}

fn no_content() -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::whole(bytes::Bytes::new()));
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}
