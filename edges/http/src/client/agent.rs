use std::{
    convert::Infallible,
    fmt,
    future::{Ready, ready},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures_core::Stream;
use http::{
    HeaderValue, Request, Response, StatusCode, Uri,
    header::{ACCEPT, CONTENT_TYPE},
};
use http_body_util::Full;
use portcullis::{
    AgentEvent, AgentExt, BoxEventStream, Completed, Emitter, Failure, FailureCode, Prompt, Scope,
    TraceContext, agent_fn_with,
};
use tokio::time::{Instant, timeout, timeout_at};
use tower_service::Service;

use super::{
    Format, Transport,
    events::{Broken, Events},
    failure,
    transport::ReplyBody,
};
use crate::wire::TurnRequest;

/// A served agent as an agent. See the [module docs](super).
#[derive(Clone)]
pub struct HttpAgent<T> {
    transport: T,
    url: Uri,
    format: Format,
    event_limit: usize,
    idle: Duration,
}

impl<T: Transport> HttpAgent<T> {
    /// The agent that is served at this address.
    #[must_use]
    pub const fn new(transport: T, url: Uri) -> Self {
        Self {
            transport,
            url,
            format: Format::Sse,
            event_limit: 8 << 20,
            idle: Duration::from_secs(60),
        }
    }

    /// How events are to come. The default is [`Format::Sse`].
    #[must_use]
    pub const fn format(mut self, format: Format) -> Self {
        self.format = format;
        self
    }

    /// The most bytes that an event may have, as JSON. The default is 8 MiB.
    #[must_use]
    pub const fn event_limit(mut self, bytes: usize) -> Self {
        self.event_limit = bytes;
        self
    }

    /// How long nothing may come, neither head nor event nor comment. The default is 60 s; a server
    /// sends a comment every 15 s if nobody says otherwise.
    #[must_use]
    pub const fn idle_timeout(mut self, limit: Duration) -> Self {
        self.idle = limit;
        self
    }

    /// The transport.
    #[must_use]
    pub const fn get_ref(&self) -> &T {
        &self.transport
    }
}

impl<T> fmt::Debug for HttpAgent<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpAgent")
            .field("url", &self.url)
            .field("format", &self.format)
            .field("event_limit", &self.event_limit)
            .field("idle", &self.idle)
            .finish_non_exhaustive()
    }
}

impl<T: Transport> Service<(Scope, Prompt)> for HttpAgent<T> {
    type Response = HttpStream;
    type Error = Infallible;
    type Future = Ready<Result<HttpStream, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        // The transport is waited for within the turn.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, (scope, prompt): (Scope, Prompt)) -> Self::Future {
        let turn = agent_fn_with(self.clone(), by_deadline).invoke(scope, prompt);
        ready(Ok(HttpStream(BoxEventStream::new(turn))))
    }
}

/// The events of one turn.
///
/// # Cancel safety
/// Dropping it closes the connection, and that cancels the turn at the server.
#[must_use = "a turn does nothing unless polled"]
pub struct HttpStream(BoxEventStream);

impl Stream for HttpStream {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        Pin::new(&mut self.0).poll_next(cx)
    }
}

impl fmt::Debug for HttpStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpStream").finish_non_exhaustive()
    }
}

async fn by_deadline<T: Transport>(
    agent: HttpAgent<T>,
    scope: Scope,
    prompt: Prompt,
    out: Emitter,
) -> Result<Completed, Failure> {
    let Some(deadline) = scope.deadline().map(Instant::from_std) else {
        return agent.turn(scope, prompt, out).await;
    };
    timeout_at(deadline, agent.turn(scope, prompt, out))
        .await
        .unwrap_or_else(|_| {
            Err(Failure::with_code(
                FailureCode::TIMEOUT,
                "the agent did not answer by the deadline",
            ))
        })
}

impl<T: Transport> HttpAgent<T> {
    async fn turn(self, scope: Scope, prompt: Prompt, out: Emitter) -> Result<Completed, Failure> {
        let mut events = self.ask(scope, prompt).await?;
        loop {
            let event = events.next().await.map_err(failure::of_broken)?;
            match event {
                AgentEvent::Completed(completed) => {
                    events.finish().await;
                    return Ok(completed);
                }
                AgentEvent::Failed(failure) => {
                    events.finish().await;
                    return Err(failure);
                }
                event => out.emit(event).await,
            }
        }
    }

    async fn ask(self, scope: Scope, prompt: Prompt) -> Result<Events, Failure> {
        let request = self.request(scope, prompt)?;
        let response = timeout(self.idle, self.transport.exchange(request))
            .await
            .map_err(|_| failure::silent())?
            .map_err(failure::of_transport)?;
        if response.status() != StatusCode::OK {
            return Err(failure::of_refusal(response, self.idle).await);
        }
        let Some(format) = format_of(&response) else {
            let what = "the reply is no stream of events";
            return Err(failure::of_broken(Broken::Breach(what.into())));
        };
        let body = response.into_body();
        Ok(Events::new(format, body, self.event_limit, self.idle))
    }

    fn request(&self, scope: Scope, prompt: Prompt) -> Result<Request<Full<Bytes>>, Failure> {
        let mut request = Request::post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, self.format.media_types()[0]);
        if let Some(trace) = scope.extensions().get::<TraceContext>() {
            request = request.header("traceparent", trace.traceparent());
            if let Some(state) = trace.tracestate() {
                request = request.header("tracestate", state);
            }
        }
        let body = TurnRequest { scope, prompt }.to_json();
        request
            .body(Full::new(body.into()))
            .map_err(Failure::internal)
    }
}

/// What the reply is, whatever was asked for.
fn format_of(response: &Response<ReplyBody>) -> Option<Format> {
    let media_type = response.headers().get(CONTENT_TYPE);
    let media_type = media_type.map(HeaderValue::to_str)?.ok()?;
    let essence = media_type.split(';').next()?.trim();
    [Format::Sse, Format::JsonLines].into_iter().find(|format| {
        let known = format.media_types().iter();
        known
            .copied()
            .any(|known| known.eq_ignore_ascii_case(essence))
    })
}
