//! A server that answers each request as a test has written it down, in JSON-RPC.

use std::{
    collections::VecDeque,
    convert::Infallible,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_util::{StreamExt, future, stream};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use portcullis_a2a::client::Client;
use serde_json::{Value, json};
use tokio::time::Instant;
use tower::Service;

/// What the server does with a request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// Events, each with its id, if it has one; then the end.
    Events(Vec<(Option<&'static str>, Value)>),
    /// The same, and then silence.
    Silent(Vec<(Option<&'static str>, Value)>),
    Result(Value),
    Refused(i32),
    Status(u16, Option<&'static str>),
    /// Nobody listens.
    Broken,
    /// Nothing, ever.
    Hangs,
}

/// What it was asked.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) at: Instant,
    pub(crate) method: String,
    pub(crate) params: Value,
    pub(crate) last_event_id: Option<String>,
}

/// The server. It has nothing to say to a request too many.
#[derive(Clone)]
pub(crate) struct Scripted {
    replies: Arc<Mutex<VecDeque<Reply>>>,
    calls: Arc<Mutex<Vec<Call>>>,
}

impl Scripted {
    pub(crate) fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self {
            replies: Arc::new(Mutex::new(replies.into_iter().collect())),
            calls: Arc::default(),
        }
    }

    pub(crate) fn client(&self) -> Client<Self> {
        Client::new(self.clone(), "http://agent.example/".parse().unwrap())
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }

    pub(crate) fn methods(&self) -> Vec<String> {
        let calls = self.calls().into_iter();
        calls.map(|call| call.method).collect()
    }

    /// How many replies nobody has asked for.
    pub(crate) fn left(&self) -> usize {
        self.replies.lock().unwrap().len()
    }
}

type Body = UnsyncBoxBody<Bytes, Infallible>;

impl Service<Request<Full<Bytes>>> for Scripted {
    type Response = Response<Body>;
    type Error = std::io::Error;
    type Future = future::BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let server = self.clone();
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            let body: Value = serde_json::from_slice(&body).unwrap();
            let last = head.headers.get("last-event-id");
            server.calls.lock().unwrap().push(Call {
                at: Instant::now(),
                method: body["method"].as_str().unwrap().to_owned(),
                params: body["params"].clone(),
                last_event_id: last.map(|id| id.to_str().unwrap().to_owned()),
            });
            let reply = server.replies.lock().unwrap().pop_front();
            respond(reply.expect("a reply is left"), &body["id"]).await
        })
    }
}

async fn respond(reply: Reply, id: &Value) -> Result<Response<Body>, std::io::Error> {
    let (status, type_, text, hangs) = match reply {
        Reply::Broken => return Err(std::io::ErrorKind::ConnectionRefused.into()),
        Reply::Hangs => future::pending().await,
        Reply::Status(status, after) => {
            let mut response = Response::builder().status(status);
            if let Some(after) = after {
                response = response.header("retry-after", after);
            }
            let empty = Full::new(Bytes::new()).boxed_unsync();
            return Ok(response.body(empty).unwrap());
        }
        Reply::Result(result) => {
            let reply = json!({"jsonrpc": "2.0", "id": id, "result": result});
            (200, "application/json", reply.to_string(), false)
        }
        Reply::Refused(code) => {
            let error = json!({"code": code, "message": "no"});
            let reply = json!({"jsonrpc": "2.0", "id": id, "error": error});
            (200, "application/json", reply.to_string(), false)
        }
        Reply::Events(ref events) | Reply::Silent(ref events) => {
            let mut text = String::new();
            for (event_id, result) in events {
                if let Some(event_id) = event_id {
                    text += &format!("id: {event_id}\n");
                }
                let reply = json!({"jsonrpc": "2.0", "id": id, "result": result});
                text += &format!("data: {reply}\n\n");
            }
            let hangs = matches!(reply, Reply::Silent(_));
            (200, "text/event-stream", text, hangs)
        }
    };
    let chunk = stream::iter([Ok(Frame::data(Bytes::from(text)))]);
    let rest = if hangs {
        stream::pending().left_stream()
    } else {
        stream::empty().right_stream()
    };
    let body = StreamBody::new(chunk.chain(rest)).boxed_unsync();
    let response = Response::builder()
        .status(status)
        .header("content-type", type_);
    Ok(response.body(body).unwrap())
}
