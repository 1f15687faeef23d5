use std::{convert::Infallible, time::Duration};

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use portcullis::{
    AgentEvent, AgentExt, BoxAgent, BoxEventStream, Emitter, Failure, FailureCode, Json, Prompt,
    Scope, agent_fn,
};
use portcullis_http::{
    client::{HttpAgent, Transport},
    server::{Format, TurnService},
};
use tower::service_fn;

pub(crate) const FORMATS: [Format; 2] = [Format::Sse, Format::JsonLines];

pub(crate) fn agent_over<T: Transport>(transport: T, format: Format) -> HttpAgent<T> {
    let url = "http://in.process/v1/turns".parse().unwrap();
    HttpAgent::new(transport, url).format(format)
}

/// An agent behind a server behind a client.
pub(crate) fn gate(agent: BoxAgent, format: Format) -> BoxAgent {
    BoxAgent::new(agent_over(TurnService::new(agent), format))
}

/// All that a turn says, each event as JSON.
pub(crate) async fn said(agent: &BoxAgent) -> Vec<String> {
    let turn = agent.invoke(Scope::new("s"), Prompt::text("p"));
    let events = BoxEventStream::new(turn).map(|event| event.to_json());
    events.collect().await
}

/// An agent that emits these, terminal events too.
pub(crate) fn emits(events: Vec<AgentEvent>) -> BoxAgent {
    BoxAgent::new(service_fn(move |_: (Scope, Prompt)| {
        std::future::ready(Ok::<_, Infallible>(stream::iter(events.clone())))
    }))
}

/// An agent that takes every path: what it does is the prompt.
pub(crate) fn takes_every_path(pause: Duration) -> BoxAgent {
    BoxAgent::new(agent_fn(
        move |_: Scope, prompt: Prompt, out: Emitter| async move {
            match prompt.as_text() {
                "refuses" => {
                    let failure = Failure::with_code(FailureCode::RATE_LIMITED, "slow down");
                    return Err(failure.retryable(true).retry_after(Duration::from_secs(1)));
                }
                "fails" => return Err(Failure::new("no such city")),
                "panics" => panic!("a bug"),
                "thinks" => tokio::time::sleep(pause).await,
                _ => {}
            }
            out.emit(AgentEvent::thinking("hm")).await;
            out.emit(AgentEvent::tool_started("t", "look", Json::null()))
                .await;
            if prompt.as_text() == "works" {
                tokio::time::sleep(pause).await;
            }
            out.emit(AgentEvent::tool_ended("t", false, Json::null()))
                .await;
            for word in prompt.as_text().split(' ') {
                out.emit(AgentEvent::text(word)).await;
            }
            if prompt.as_text() == "fails late" {
                return Err(Failure::new("no such city"));
            }
            Ok(())
        },
    ))
}

pub(crate) const PATHS: [&str; 8] = [
    "",
    "refuses",
    "fails",
    "panics",
    "thinks",
    "works",
    "fails late",
    "many words here",
];

type Body = UnsyncBoxBody<Bytes, std::io::Error>;

/// A transport that answers this to everything.
pub(crate) fn answers(
    make: impl Fn() -> Response<Body> + Clone + Send + Sync + 'static,
) -> impl Transport {
    service_fn(move |_: Request<Full<Bytes>>| std::future::ready(Ok::<_, Infallible>(make())))
}

/// A response in these chunks, in this format.
pub(crate) fn chunks<St>(format: Format, chunks: St) -> Response<Body>
where
    St: Stream<Item = Result<Bytes, std::io::Error>> + Send + 'static,
{
    let media_type = match format {
        Format::Sse => "text/event-stream",
        Format::JsonLines => "application/x-ndjson",
    };
    Response::builder()
        .header("content-type", media_type)
        .body(body(chunks))
        .unwrap()
}

pub(crate) fn body<St>(chunks: St) -> Body
where
    St: Stream<Item = Result<Bytes, std::io::Error>> + Send + 'static,
{
    StreamBody::new(chunks.map(|chunk| chunk.map(Frame::data))).boxed_unsync()
}

pub(crate) fn texts(
    texts: &'static [&'static str],
) -> impl Stream<Item = Result<Bytes, std::io::Error>> {
    stream::iter(
        texts
            .iter()
            .map(|text| Ok(Bytes::from_static(text.as_bytes()))),
    )
}
