use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Request, Response, StatusCode, header::HeaderMap};
use http_body_util::{BodyExt, Full};
use portcullis::{AgentEvent, BoxAgent, Emitter, Failure, Prompt, Scope, agent_fn};
use portcullis_http::server::{ResponseBody, TurnService};
use serde_json::Value;
use tower::ServiceExt;

pub(crate) const SSE: &str = "text/event-stream";
pub(crate) const LINES: &str = "application/x-ndjson";

/// A body that asks this, in session `s`.
pub(crate) fn asking(text: &str) -> String {
    serde_json::json!({"scope": {"session": "s"}, "prompt": {"text": text}}).to_string()
}

pub(crate) fn post(accept: &str, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    Request::post("/v1/turns")
        .header("content-type", "application/json")
        .header("accept", accept)
        .body(Full::new(body.into()))
        .unwrap()
}

pub(crate) async fn send(
    service: &TurnService,
    request: Request<Full<Bytes>>,
) -> Response<ResponseBody> {
    let Ok(response) = service.clone().oneshot(request).await;
    response
}

/// A response that was read to its end.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Read {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub(crate) fn lines(&self) -> Vec<&str> {
        self.body.lines().collect()
    }
}

pub(crate) async fn exchange(service: &TurnService, request: Request<Full<Bytes>>) -> Read {
    let (head, body) = send(service, request).await.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    Read {
        status: head.status,
        headers: head.headers,
        body: String::from_utf8(body.into()).unwrap(),
    }
}

/// The lines that an agent's turn makes.
pub(crate) async fn lines_of(service: &TurnService, text: &str) -> Vec<String> {
    let read = exchange(service, post(LINES, asking(text))).await;
    assert_eq!(read.status, 200, "{read:?}");
    read.lines().into_iter().map(str::to_owned).collect()
}

/// An agent that emits these events.
pub(crate) fn emits<const N: usize>(events: [&'static str; N]) -> TurnService {
    TurnService::new(agent_fn(
        move |_: Scope, _: Prompt, out: Emitter| async move {
            for event in events {
                out.emit(AgentEvent::from_json(event).unwrap()).await;
            }
            Ok::<_, Failure>(())
        },
    ))
}

/// An agent that fails at once.
pub(crate) fn fails(failure: Failure) -> TurnService {
    TurnService::new(agent_fn(move |_: Scope, _: Prompt, _: Emitter| {
        let failure = failure.clone();
        async move { Err::<(), _>(failure) }
    }))
}

/// An agent that says which scope it was asked in.
pub(crate) fn shows_scope() -> (BoxAgent, Arc<Mutex<Vec<Scope>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sees = Arc::clone(&seen);
    let agent = agent_fn(move |scope: Scope, _: Prompt, _: Emitter| {
        sees.lock().unwrap().push(scope);
        async { Ok::<_, Failure>(()) }
    });
    (BoxAgent::new(agent), seen)
}

/// Tells when the last one is dropped.
pub(crate) struct Counted(tokio::sync::watch::Sender<usize>);

impl Counted {
    pub(crate) fn new(alive: tokio::sync::watch::Sender<usize>) -> Self {
        alive.send_modify(|alive| *alive += 1);
        Self(alive)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.send_modify(|alive| *alive -= 1);
    }
}

/// An agent that says `a` and then hangs; and how many of its turns are alive.
pub(crate) fn hangs() -> (BoxAgent, tokio::sync::watch::Receiver<usize>) {
    hangs_after(["a"])
}

pub(crate) fn hangs_after<const N: usize>(
    deltas: [&'static str; N],
) -> (BoxAgent, tokio::sync::watch::Receiver<usize>) {
    let alive = tokio::sync::watch::Sender::new(0);
    let counted = alive.subscribe();
    let agent = agent_fn(move |_: Scope, _: Prompt, out: Emitter| {
        let counted = Counted::new(alive.clone());
        async move {
            let _counted = counted;
            for delta in deltas {
                out.emit(AgentEvent::text(delta)).await;
            }
            std::future::pending::<Result<(), Failure>>().await
        }
    });
    (BoxAgent::new(agent), counted)
}
