//! A server whose executor does what a text asks for, called as a service.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full};
use portcullis::{Failure, Principal};
use portcullis_a2a::{
    binding::{Layout, OnePort, ResponseBody},
    log::{MemoryLog, TaskLog},
    model::{Artifact, Message, Part, PartContent, TaskState, decode_response},
    server::{Emission, RequestContext, SequentialIds, Server, StepClock, executor_fn},
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tower::ServiceExt;

use crate::{flaky_log::FlakyLog, names::Names, shape};

/// One thing that the executor does.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Status(TaskState, &'static str),
    Artifact {
        artifact: Artifact,
        append: bool,
        last: bool,
    },
    Message(&'static str),
    Wait,
    Sleep(Duration),
    Fail,
    Panic,
}

impl Step {
    pub(crate) fn submitted() -> Self {
        Self::Status(TaskState::Submitted, "")
    }

    pub(crate) fn working() -> Self {
        Self::Status(TaskState::Working, "")
    }

    pub(crate) fn completed() -> Self {
        Self::Status(TaskState::Completed, "")
    }

    pub(crate) fn input_required(question: &'static str) -> Self {
        Self::Status(TaskState::InputRequired, question)
    }

    pub(crate) fn message(text: &'static str) -> Self {
        Self::Message(text)
    }

    pub(crate) fn artifact(json: &str) -> Self {
        Self::Artifact {
            artifact: decode_response(json).unwrap(),
            append: false,
            last: false,
        }
    }

    pub(crate) fn append(json: &str, last: bool) -> Self {
        Self::Artifact {
            artifact: decode_response(json).unwrap(),
            append: true,
            last,
        }
    }

    /// Until the test says `go_on`.
    pub(crate) fn wait() -> Self {
        Self::Wait
    }

    pub(crate) fn sleep(duration: Duration) -> Self {
        Self::Sleep(duration)
    }

    pub(crate) fn fail() -> Self {
        Self::Fail
    }

    pub(crate) fn panic() -> Self {
        Self::Panic
    }

    fn emission(self, context: &RequestContext) -> Emission {
        match self {
            Self::Status(state, text) => {
                let mut event = context.status(state);
                if !text.is_empty() {
                    event.status.message = Some(Message::agent([Part::text(text)]));
                }
                event.into()
            }
            Self::Artifact {
                artifact,
                append,
                last,
            } => {
                let mut event = context.artifact(artifact);
                event.append = append;
                event.last_chunk = last;
                event.into()
            }
            Self::Message(text) => context.answer([Part::text(text)]).into(),
            Self::Fail => Failure::internal("secret: out of luck").into(),
            Self::Panic => panic!("secret: as the test asked"),
            Self::Wait | Self::Sleep(_) => unreachable!("waited for above"),
        }
    }
}

/// What the executor does on a text.
pub(crate) type Script = fn(&str) -> Vec<Step>;

pub(crate) struct Rig {
    service: OnePort,
    log: Arc<MemoryLog>,
    gate: Arc<Semaphore>,
    broken: Arc<AtomicBool>,
    principal: Option<Principal>,
    pub(crate) names: Names,
}

/// The card of EX-1, as far as this server can say so.
pub(crate) fn card() -> Value {
    json!({
        "name": "Echo Agent",
        "description": "Repeats what it is told.",
        "supportedInterfaces": [
            {"url": "https://agent.example.com/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
            {"url": "https://agent.example.com/rest", "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"}
        ],
        "provider": {"organization": "Example Org", "url": "https://example.com"},
        "version": "0.3.1",
        "capabilities": {"streaming": true},
        "securitySchemes": {"bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer", "bearerFormat": "JWT"}}},
        "securityRequirements": [{"schemes": {"bearer": {}}}],
        "defaultInputModes": ["text/plain", "application/json", "audio/wav"],
        "defaultOutputModes": ["text/plain"],
        "skills": [
            {"id": "echo", "name": "Echo", "description": "Echoes text.", "tags": ["demo"], "examples": ["say hello"]}
        ]
    })
}

pub(crate) fn rig(script: Script) -> Rig {
    rig_of(&card(), script)
}

pub(crate) fn rig_of(card: &Value, script: Script) -> Rig {
    let gate = Arc::new(Semaphore::new(0));
    let log = Arc::new(MemoryLog::new());
    let executor = {
        let gate = Arc::clone(&gate);
        executor_fn(move |context: RequestContext, out| {
            let gate = Arc::clone(&gate);
            async move {
                for step in script(first_text(context.message())) {
                    match step {
                        Step::Wait => gate.acquire().await.unwrap().forget(),
                        Step::Sleep(duration) => tokio::time::sleep(duration).await,
                        step => {
                            out.emit(step.emission(&context)).await;
                        }
                    }
                }
            }
        })
    };
    let reads = FlakyLog::new(log.clone());
    let broken = Arc::clone(&reads.broken);
    let start = "2026-01-15T10:00:00Z".parse().unwrap();
    let server = Server::builder(executor, decode_response(&card.to_string()).unwrap())
        .log(Arc::new(reads))
        .ids(SequentialIds::new())
        .clock(StepClock::new(start, 100))
        .build();
    Rig {
        service: OnePort::with_layout(server, &Layout::new().json_rpc_at("/rpc")),
        log,
        gate,
        broken,
        principal: None,
        names: Names::default(),
    }
}

fn first_text(message: &Message) -> &str {
    match message.parts.first().map(|part| &part.content) {
        Some(PartContent::Text(text)) => text,
        _ => "",
    }
}

impl Rig {
    /// The same server for somebody else.
    pub(crate) fn as_other(&self) -> Self {
        Self {
            service: self.service.clone(),
            log: self.log.clone(),
            gate: self.gate.clone(),
            broken: self.broken.clone(),
            principal: Some(Principal::new("user", "issuer", "other")),
            names: Names::default(),
        }
    }

    /// Lets one waiting executor go on.
    pub(crate) fn go_on(&self) {
        self.gate.add_permits(1);
    }

    /// Lets every read of the log fail, or none.
    pub(crate) fn break_reads(&self, broken: bool) {
        self.broken.store(broken, Ordering::Relaxed);
    }

    /// How many watch a task.
    pub(crate) fn watchers(&self) -> usize {
        self.log.bells()
    }

    pub(crate) async fn card(&self, verb: &str, headers: &[(&str, &str)]) -> Reply {
        self.send(verb, "/.well-known/agent-card.json", headers, "")
            .await
    }

    pub(crate) async fn send(
        &self,
        verb: &str,
        uri: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Reply {
        Reply::of(
            self.exchange(verb, uri, headers, Full::new(body.into()))
                .await,
        )
        .await
    }

    pub(crate) async fn post(&self, body: &str, headers: &[(&str, &str)]) -> Reply {
        let headers = [&[("a2a-version", "1.0")], headers].concat();
        self.send("POST", "/rpc", &headers, body.to_owned()).await
    }

    /// A request of HTTP+JSON, below `/rest`.
    pub(crate) async fn rest(
        &self,
        verb: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Reply {
        let headers = [&[("a2a-version", "1.0")], headers].concat();
        let uri = format!("/rest{path}");
        self.send(verb, &uri, &headers, body.to_owned()).await
    }

    /// A stream of HTTP+JSON.
    pub(crate) async fn rest_watch(
        &self,
        verb: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Watcher {
        let headers = [&[("a2a-version", "1.0")], headers].concat();
        let body = Full::<Bytes>::from(body.to_owned());
        let uri = format!("/rest{path}");
        let response = self.exchange(verb, &uri, &headers, body).await;
        Watcher::of(response).await
    }

    /// A stream of whoever sends just these headers.
    pub(crate) async fn stream(
        &self,
        verb: &str,
        uri: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Watcher {
        let body = Full::<Bytes>::from(body.to_owned());
        Watcher::of(self.exchange(verb, uri, headers, body).await).await
    }

    /// The service, for somebody else to call.
    pub(crate) fn service(&self) -> OnePort {
        self.service.clone()
    }

    /// A request of the examples, and what it must be answered with.
    pub(crate) async fn call(&mut self, request: &str, want: &str) -> Reply {
        let reply = self.post(&self.names.resolve(request), &[]).await;
        self.names.same(&reply.json(), want);
        reply
    }

    /// A streaming request of the examples, and the `data` of all its frames.
    pub(crate) async fn events(&mut self, request: &str, want: &[&str]) -> Reply {
        let reply = self.post(&self.names.resolve(request), &[]).await;
        let text = String::from_utf8(reply.body.to_vec()).unwrap();
        let data: Vec<_> = text
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .collect();
        assert_eq!(data.len(), want.len(), "{text}");
        for (data, want) in data.iter().zip(want) {
            self.names.same(&serde_json::from_str(data).unwrap(), want);
        }
        reply
    }

    /// Sends what opens a task, which is `t-NAME` in `c-NAME` from now on.
    pub(crate) async fn ready(&mut self, request: &str, name: &str) {
        let reply = self.post(request, &[]).await.json();
        let task = &reply["result"]["task"];
        self.names.same(
            &json!({"taskId": task["id"], "contextId": task["contextId"]}),
            &format!(r#"{{"taskId": "t-{name}", "contextId": "c-{name}"}}"#),
        );
    }

    pub(crate) async fn watch(&self, request: &str) -> Watcher {
        self.watch_with(request, &[]).await
    }

    pub(crate) async fn watch_after(&self, request: &str, id: &str) -> Watcher {
        self.watch_with(request, &[("last-event-id", id)]).await
    }

    async fn watch_with(&self, request: &str, headers: &[(&str, &str)]) -> Watcher {
        let headers = [&[("a2a-version", "1.0")], headers].concat();
        let body = Full::<Bytes>::from(self.names.resolve(request));
        let response = self.exchange("POST", "/rpc", &headers, body).await;
        Watcher::of(response).await
    }

    /// Sends a body without its length, and tells how many chunks of it were read.
    pub(crate) async fn post_in_chunks(&self, chunks: Vec<Bytes>) -> (Reply, usize) {
        let read = Arc::new(AtomicUsize::new(0));
        let body = Chunks {
            rest: chunks.into_iter(),
            read: read.clone(),
        };
        let reply = Reply::of(
            self.exchange("POST", "/rpc", &[("a2a-version", "1.0")], body)
                .await,
        )
        .await;
        (reply, read.load(Ordering::Relaxed))
    }

    async fn exchange<B>(
        &self,
        verb: &str,
        uri: &str,
        headers: &[(&str, &str)],
        body: B,
    ) -> Response<ResponseBody>
    where
        B: Body + Send + 'static,
        B::Data: Send,
    {
        let mut request = Request::builder().method(verb).uri(uri);
        let typed =
            uri.starts_with("/rest") || headers.iter().any(|(name, _)| *name == "content-type");
        if !typed {
            request = request.header("content-type", "application/json");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(principal) = &self.principal {
            request = request.extension(principal.clone());
        }
        let request = request.body(body).unwrap();
        let mut response = self.service.clone().oneshot(request).await.unwrap();
        if headers.contains(&("a2a-version", "1.0")) {
            response.extensions_mut().insert(Speaks1_0);
        }
        response
    }
}

/// A response to somebody who speaks 1.0: other versions have other shapes.
#[derive(Clone, Copy)]
struct Speaks1_0;

/// Whatever a test is about, what came has the form of the protocol.
fn look_at(body: &Value) {
    if let Err(fault) = shape::of_reply(body) {
        panic!("{fault}\n{body:#}");
    }
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Reply {
    async fn of(response: Response<ResponseBody>) -> Self {
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let reply = Self {
            status: head.status.as_u16(),
            headers: head.headers,
            body,
        };
        if head.extensions.get::<Speaks1_0>().is_some() {
            reply.look_at();
        }
        reply
    }

    fn look_at(&self) {
        let text = String::from_utf8_lossy(&self.body);
        let pieces: Vec<&str> = match self.headers.get("content-type") {
            Some(events) if events == "text/event-stream" => text
                .lines()
                .filter_map(|line| line.strip_prefix("data: "))
                .collect(),
            _ => vec![&text],
        };
        // What nests deeper than this reader reads is compared as text by its own test.
        pieces
            .iter()
            .flat_map(|piece| serde_json::from_str(piece))
            .for_each(|body| look_at(&body));
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }
}

/// Reads an event stream as it comes.
pub(crate) struct Watcher {
    speaks_1_0: bool,
    body: ResponseBody,
    text: String,
    pub(crate) comments: usize,
    pub(crate) last_id: Option<String>,
    /// What the last event called itself.
    pub(crate) last_event: Option<String>,
}

impl Watcher {
    async fn of(response: Response<ResponseBody>) -> Self {
        if response.headers()["content-type"] != "text/event-stream" {
            panic!("no stream: {:?}", Reply::of(response).await);
        }
        Self {
            speaks_1_0: response.extensions().get::<Speaks1_0>().is_some(),
            body: response.into_body(),
            text: String::new(),
            comments: 0,
            last_id: None,
            last_event: None,
        }
    }

    /// The `data` of the next event; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            while let Some((event, rest)) = self.text.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.text = rest;
                let mut data = None;
                for line in event.lines() {
                    if line.starts_with(':') {
                        self.comments += 1;
                    } else if let Some(name) = line.strip_prefix("event: ") {
                        self.last_event = Some(name.to_owned());
                    } else if let Some(id) = line.strip_prefix("id: ") {
                        self.last_id = Some(id.to_owned());
                    } else if let Some(json) = line.strip_prefix("data: ") {
                        let event = serde_json::from_str(json).unwrap();
                        if self.speaks_1_0 {
                            look_at(&event);
                        }
                        data = Some(event);
                    }
                }
                if data.is_some() {
                    return data;
                }
            }
            let frame = self.body.frame().await?.unwrap();
            self.text
                .push_str(std::str::from_utf8(&frame.into_data().unwrap()).unwrap());
        }
    }
}

/// A body of chunks that counts what is taken.
struct Chunks {
    rest: std::vec::IntoIter<Bytes>,
    read: Arc<AtomicUsize>,
}

impl Body for Chunks {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.read.fetch_add(1, Ordering::Relaxed);
        Poll::Ready(self.rest.next().map(|chunk| Ok(Frame::data(chunk))))
    }
}
