use std::time::Duration;

use bytes::Bytes;
use http::{
    HeaderValue, Method, Request, Response, StatusCode, Uri,
    header::{ACCEPT, CONTENT_TYPE},
    request,
};
use http_body_util::Full;
use portcullis::{
    AgentEvent, Completed, Emitter, Failure, FailureCode, Prompt, Scope, TraceContext,
};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::{
    Format, HttpAgent, Transport,
    events::{Broken, Events},
    failure,
    farewell::Farewell,
    place::{place_of, with_query},
    transport::ReplyBody,
};
use crate::wire::TurnRequest;

/// How long to wait before a connection is made again, at first and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// One turn, from the request to its end.
pub(super) async fn turn<T: Transport>(
    agent: HttpAgent<T>,
    scope: Scope,
    prompt: Prompt,
    out: Emitter,
) -> Result<Completed, Failure> {
    let Some(deadline) = scope.deadline().map(Instant::from_std) else {
        return until_the_end(agent, scope, prompt, out).await;
    };
    timeout_at(deadline, until_the_end(agent, scope, prompt, out))
        .await
        .unwrap_or_else(|_| {
            Err(Failure::with_code(
                FailureCode::TIMEOUT,
                "the agent did not answer by the deadline",
            ))
        })
}

async fn until_the_end<T: Transport>(
    agent: HttpAgent<T>,
    scope: Scope,
    prompt: Prompt,
    out: Emitter,
) -> Result<Completed, Failure> {
    let (mut events, kept) = ask(&agent, scope, prompt).await?;
    let mut outage = None;
    loop {
        let event = match events.next().await {
            Ok(event) => event,
            Err(broken) => {
                let Some(kept) = kept.as_ref().filter(|_| broken.is_cut()) else {
                    return Err(failure::of_broken(broken));
                };
                let outage = outage.get_or_insert_with(|| Outage::of(kept.grace));
                events = resume(&agent, kept, events.seq(), outage, broken).await?;
                continue;
            }
        };
        outage = None;
        let ended = match event {
            AgentEvent::Completed(completed) => Ok(completed),
            AgentEvent::Failed(failure) => Err(failure),
            event => {
                out.emit(event).await;
                continue;
            }
        };
        if let Some(kept) = kept {
            kept.farewell.dismiss();
        }
        return ended;
    }
}

/// The time since the last event: a connection that is cut again before anything came is of the same
/// outage.
struct Outage {
    /// When the server stops waiting.
    until: Instant,
    pause: Duration,
}

impl Outage {
    fn of(grace: Duration) -> Self {
        Self {
            until: Instant::now() + grace,
            pause: FIRST_PAUSE,
        }
    }

    /// Waits before the next connection is made. `false` if there is no time for one.
    async fn wait(&mut self) -> bool {
        if Instant::now() + self.pause > self.until {
            return false;
        }
        sleep(self.pause).await;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        true
    }
}

/// A turn that the server keeps for a while when it is cut.
struct Kept<T: Transport> {
    place: Uri,
    grace: Duration,
    farewell: Farewell<T>,
}

async fn ask<T: Transport>(
    agent: &HttpAgent<T>,
    scope: Scope,
    prompt: Prompt,
) -> Result<(Events, Option<Kept<T>>), Failure> {
    let url = match &agent.resuming {
        // A server takes whole seconds.
        Some((grace, _)) => {
            let seconds = grace.as_millis().div_ceil(1000);
            with_query(&agent.url, &format!("detach={seconds}"))
        }
        None => Some(agent.url.clone()),
    };
    let request = agent.request(Method::POST, url.unwrap_or_else(|| agent.url.clone()));
    let request = traced(request, &scope).header(CONTENT_TYPE, "application/json");
    let body = TurnRequest { scope, prompt }.to_json();
    let request = request.body(Full::new(body.into()));
    let response = exchange(agent, request.map_err(Failure::internal)?).await?;
    if response.status() != StatusCode::OK {
        return Err(failure::of_refusal(response, agent.idle).await);
    }
    let place = place_of(&agent.url, response.headers());
    let kept = agent.resuming.as_ref().zip(place);
    let kept = kept.map(|((grace, farewells), place)| Kept {
        grace: *grace,
        farewell: Farewell::new(farewells, agent.transport.clone(), place.clone()),
        place,
    });
    match events_of(agent, response, 0) {
        Some(events) => Ok((events, kept)),
        None => {
            let what = "the reply is no stream of events";
            Err(failure::of_broken(Broken::Breach(what.into())))
        }
    }
}

/// Reads on where a turn was cut. What keeps that from happening is told as the cut that it was.
async fn resume<T: Transport>(
    agent: &HttpAgent<T>,
    kept: &Kept<T>,
    after: u64,
    outage: &mut Outage,
    cut: Broken,
) -> Result<Events, Failure> {
    while outage.wait().await {
        let request = agent
            .request(Method::GET, kept.place.clone())
            .header("last-event-id", after)
            .body(Full::default())
            .map_err(Failure::internal)?;
        let Ok(response) = exchange(agent, request).await else {
            continue;
        };
        let status = response.status();
        if status == StatusCode::OK
            && let Some(events) = events_of(agent, response, after)
        {
            return Ok(events);
        }
        if !status.is_server_error() && status != StatusCode::TOO_MANY_REQUESTS {
            tracing::debug!(%status, "a turn cannot be taken up again");
            break;
        }
    }
    Err(failure::of_broken(cut))
}

async fn exchange<T: Transport>(
    agent: &HttpAgent<T>,
    request: Request<Full<Bytes>>,
) -> Result<Response<ReplyBody>, Failure> {
    timeout(agent.idle, agent.transport.clone().exchange(request))
        .await
        .map_err(|_| failure::silent())?
        .map_err(failure::of_transport)
}

impl<T> HttpAgent<T> {
    fn request(&self, method: Method, url: Uri) -> request::Builder {
        Request::builder()
            .method(method)
            .uri(url)
            .header(ACCEPT, self.format.media_types()[0])
    }
}

fn traced(request: request::Builder, scope: &Scope) -> request::Builder {
    let Some(trace) = scope.extensions().get::<TraceContext>() else {
        return request;
    };
    let request = request.header("traceparent", trace.traceparent());
    match trace.tracestate() {
        Some(state) => request.header("tracestate", state),
        None => request,
    }
}

/// The events after that one, if the reply has any.
fn events_of<T>(agent: &HttpAgent<T>, response: Response<ReplyBody>, seq: u64) -> Option<Events> {
    let format = format_of(&response)?;
    let body = response.into_body();
    Some(Events::new(
        format,
        body,
        agent.event_limit,
        agent.idle,
        seq,
    ))
}

/// What the reply is, whatever was asked for.
fn format_of(response: &Response<ReplyBody>) -> Option<Format> {
    let media_type = response.headers().get(CONTENT_TYPE);
    let media_type = media_type.map(HeaderValue::to_str)?.ok()?;
    let essence = media_type.split(';').next()?.trim();
    [Format::Sse, Format::JsonLines].into_iter().find(|format| {
        let mut known = format.media_types().iter();
        known.any(|known| known.eq_ignore_ascii_case(essence))
    })
}
