//! A server of one reply, in chunks of the test's choice.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_util::{StreamExt, future, stream};
use http::{HeaderMap, Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use portcullis_a2a::{
    client::{CallError, Client, Event, EventStream},
    model::{SendMessageRequest, decode_request},
};
use tower::Service;

/// Answers every request with the same response and keeps what it was asked.
#[derive(Clone)]
pub(crate) struct Fake {
    status: u16,
    type_: &'static str,
    chunks: Arc<Vec<Bytes>>,
    hangs: bool,
    asked: Arc<Mutex<Vec<Asked>>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) verb: String,
    pub(crate) uri: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: serde_json::Value,
}

impl Fake {
    pub(crate) fn new(status: u16, type_: &'static str, chunks: Vec<Bytes>) -> Self {
        Self {
            status,
            type_,
            chunks: Arc::new(chunks),
            hangs: false,
            asked: Arc::default(),
        }
    }

    pub(crate) fn json(body: impl Into<String>) -> Self {
        Self::new(200, "application/json", vec![body.into().into()])
    }

    pub(crate) fn events(text: impl Into<String>) -> Self {
        Self::new(200, "text/event-stream", vec![text.into().into()])
    }

    /// The body does not end.
    pub(crate) fn hanging(mut self) -> Self {
        self.hangs = true;
        self
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn client(&self) -> Client<Self> {
        Client::new(self.clone(), "http://agent.example/rpc".parse().unwrap())
    }

    pub(crate) async fn stream(&self) -> Result<EventStream, CallError> {
        self.client().send_streaming_message(&message()).await
    }

    /// All items of a streaming call.
    pub(crate) async fn items(&self) -> Vec<Result<Event, CallError>> {
        self.stream().await.unwrap().collect().await
    }
}

impl Service<Request<Full<Bytes>>> for Fake {
    type Response = Response<UnsyncBoxBody<Bytes, Infallible>>;
    type Error = Infallible;
    type Future = future::BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let fake = self.clone();
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            fake.asked.lock().unwrap().push(Asked {
                verb: head.method.to_string(),
                uri: head.uri.to_string(),
                headers: head.headers,
                body: serde_json::from_slice(&body).unwrap_or_default(),
            });
            let chunks = Vec::clone(&fake.chunks);
            let frames = stream::iter(chunks).map(|chunk| Ok(Frame::data(chunk)));
            let rest = if fake.hangs {
                stream::pending().left_stream()
            } else {
                stream::empty().right_stream()
            };
            let body = StreamBody::new(frames.chain(rest)).boxed_unsync();
            let response = Response::builder()
                .status(fake.status)
                .header("content-type", fake.type_);
            Ok(response.body(body).unwrap())
        })
    }
}

pub(crate) fn message() -> SendMessageRequest {
    decode_request(
        r#"{"message": {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "hi"}]}}"#,
    )
    .unwrap()
}

/// The first request of a client has id 1.
pub(crate) const TASK: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_WORKING"}}}}"#;
pub(crate) const CHUNK: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"artifactUpdate":{"taskId":"t-1","contextId":"c-1","artifact":{"artifactId":"a-1","parts":[{"text":"né"}]}}}}"#;
pub(crate) const DONE: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{"taskId":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_COMPLETED"}}}}"#;

pub(crate) fn frames(data: &[&str]) -> String {
    data.iter()
        .map(|data| format!("data: {data}\n\n"))
        .collect()
}
