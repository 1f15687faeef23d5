//! Bodies that do not come, bodies in other clothes, and what caches may keep of an answer.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::Request;
use http_body::{Body, Frame};
use http_body_util::BodyExt;
use serde_json::Value;
use tokio::time::Instant;
use tower::ServiceExt;

use crate::{
    rest_golden::say,
    support::{Rig, Step, rig},
};

fn texts(text: &str) -> Vec<Step> {
    match text {
        "wait" => vec![Step::working(), Step::wait(), Step::completed()],
        _ => vec![Step::completed()],
    }
}

/// The beginning of a body, and nothing after it.
struct Stalled(Option<Bytes>);

impl Body for Stalled {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.0.take() {
            Some(bytes) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
            None => Poll::Pending,
        }
    }
}

// O-M06, A2A-SEC-11: a caller that sends half of a request holds nothing for ever.
#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_come_is_given_up() {
    for (path, content_type) in [
        ("/rpc", "application/json"),
        ("/rest/message:send", "application/a2a+json"),
        ("/rest/message:stream", "application/json"),
        (
            "/lf.a2a.v1.A2AService/SendMessage",
            "application/grpc+proto",
        ),
    ] {
        let request = Request::post(path)
            .header("content-type", content_type)
            .header("a2a-version", "1.0")
            .body(Stalled(Some(Bytes::from_static(b"{\"message\": {"))));
        let began = Instant::now();
        let answered = rig(texts).service().oneshot(request.unwrap());
        let (head, body) = answered.await.unwrap().into_parts();
        assert_eq!(began.elapsed(), Duration::from_secs(30), "{path}");
        if content_type.starts_with("application/grpc") {
            assert_eq!(head.headers["grpc-status"], "4");
            continue;
        }
        assert_eq!(head.status, 408, "{path}");
        let body = body.collect().await.unwrap().to_bytes();
        let error = serde_json::from_slice::<Value>(&body).unwrap()["error"].clone();
        assert_eq!(error["message"], "A body may take 30 s to come", "{path}");
    }
}

// O-M04, O-J06: what is compressed is not read, and told so; nobody is told that it is no JSON.
#[tokio::test]
async fn a_compressed_body_is_refused() {
    let rig = rig(texts);
    let body = say("x").to_string();
    let json = ("content-type", "application/json");
    for (coding, refused) in [("gzip", true), ("br", true), ("identity", false)] {
        let headers = [json, ("content-encoding", coding)];
        let reply = rig.post("{}", &headers).await;
        assert_eq!(reply.status == 415, refused, "{coding}");
        let code = if refused { -32005 } else { -32600 };
        assert_eq!(reply.json()["error"]["code"], code);
        let reply = rig.rest("POST", "/message:send", &headers, &body).await;
        assert_eq!(reply.status == 415, refused, "{coding}");
    }
}

async fn kept_of(rig: &Rig, verb: &str, path: &str, body: &str) -> (u16, String) {
    let reply = rig.rest(verb, path, &[], body).await;
    (reply.status, reply.header("cache-control").to_owned())
}

// A2A-SEC-6, A2A-SEC-18: a task is of one caller, and no cache between keeps it for another one.
#[tokio::test]
async fn no_cache_keeps_an_answer() {
    let rig = rig(texts);
    let sent = rig
        .rest("POST", "/message:send", &[], &say("x").to_string())
        .await;
    let task = format!("/tasks/{}", sent.json()["task"]["id"].as_str().unwrap());
    for (verb, path, status) in [
        ("GET", &*task, 200),
        ("GET", "/tasks", 200),
        ("GET", "/tasks/nope", 404),
        ("GET", "/nowhere", 404),
        ("PUT", "/tasks", 405),
    ] {
        let kept = kept_of(&rig, verb, path, "").await;
        assert_eq!(kept, (status, "no-store".to_owned()), "{verb} {path}");
    }
    // Streams go through as they are, event by event (O-S06).
    let kept = kept_of(&rig, "POST", "/message:stream", &say("x").to_string()).await;
    assert_eq!(kept, (200, "no-cache, no-transform".to_owned()));
}
