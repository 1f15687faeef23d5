//! gRPC with metadata that nobody would send who means well, in both directions: an answer, and
//! nobody hurt.

use std::{convert::Infallible, future::pending, time::Duration};

use bytes::Bytes;
use futures_util::StreamExt;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody};
use portcullis_a2a::{
    binding::{Grpc, Layout, OnePort},
    client::{Binding, CallError, Client},
    model::{
        AgentCard, AgentExtension, GetTaskRequest, Message, Part, SendMessageRequest,
        SubscribeToTaskRequest, TaskState,
    },
    server::{Server, executor_fn},
};
use portcullis_net::{HttpClientBuilder, bind};
use prost::Message as _;
use tokio::time::timeout;
use tower::{ServiceExt, service_fn};

use crate::grpc::{Reply, framed, say};

fn service() -> OnePort {
    let works = executor_fn(async |ctx, out| {
        out.emit(ctx.status(TaskState::Working)).await;
        out.emit(ctx.status(TaskState::Completed)).await;
    });
    let interfaces = Layout::new().interfaces("http://h");
    let mut card = AgentCard::of_interfaces("n", "d", interfaces);
    card.capabilities.extensions = vec![AgentExtension::new("urn:a")];
    OnePort::new(Server::new(works, card))
}

/// A call with these headers; each may come several times.
fn request(host: &str, method: &str, headers: &HeaderMap) -> Request<Full<Bytes>> {
    let body = framed(&say("hi").encode_to_vec());
    let mut request = Request::post(format!("{host}{}/{method}", Grpc::PATH))
        .header("content-type", "application/grpc")
        .header("te", "trailers");
    if !headers.contains_key("a2a-version") {
        request = request.header("a2a-version", "1.0");
    }
    let mut request = request.body(Full::new(body)).expect("a request");
    request.headers_mut().extend(headers.clone());
    request
}

async fn call(service: &OnePort, method: &str, headers: &HeaderMap) -> Reply {
    let request = request("http://h", method, headers);
    Reply::of(service.clone().oneshot(request).await.expect("it answers")).await
}

/// Values that are no text, no number, no base64, no anything.
fn values() -> impl Iterator<Item = HeaderValue> {
    let long = "x".repeat(60 << 10);
    let list = ",".repeat(4_096);
    let texts: [&[u8]; 15] = [
        b"",
        b" ",
        b"\t",
        b"\xff\xfe\xfd",
        b"\xc3\x28",
        "\u{e9}\u{1F600}".as_bytes(),
        b"%00%0a%zz",
        b"!!!",
        b"AAA",
        b"-1",
        b"99999999999999999999999999",
        b"null",
        b"{\"a\":[",
        long.as_bytes(),
        list.as_bytes(),
    ];
    let value = |bytes: &[u8]| HeaderValue::from_bytes(bytes).expect("a header may be so");
    texts.map(value).into_iter()
}

/// Everything that the server reads, everything that gRPC itself knows, and what is neither.
const NAMES: [&str; 18] = [
    "a2a-extensions",
    "last-event-id",
    "traceparent",
    "tracestate",
    "grpc-timeout",
    "grpc-accept-encoding",
    "grpc-message",
    "grpc-status",
    "grpc-status-details-bin",
    "grpc-previous-rpc-attempts",
    "grpc-trace-bin",
    "authorization",
    "user-agent",
    "te",
    "x-anything",
    "x-anything-bin",
    "-bin",
    "a2a-extensions-bin",
];

#[tokio::test]
async fn what_says_nothing_changes_nothing() {
    let service = service();
    for (name, value) in NAMES
        .iter()
        .flat_map(|name| values().map(move |value| (*name, value)))
    {
        for (method, times) in [("SendMessage", 1), ("SendStreamingMessage", 3)] {
            let mut headers = HeaderMap::new();
            for _ in 0..times {
                headers.append(HeaderName::from_static(name), value.clone());
            }
            let reply = call(&service, method, &headers).await;
            let what = format!("{method} with {name}: {value:?}, {times} times");
            assert_eq!(reply.code(), 0, "{what}: {}", reply.message());
            assert!(!reply.messages.is_empty(), "{what}");
            assert!(!reply.head.contains_key("a2a-extensions"), "{what}");
        }
    }
}

// A2A-SVC-6: it is no version, so it is refused, and the refusal can be written whatever it says.
#[tokio::test]
async fn a_version_that_is_none_is_refused() {
    let service = service();
    for value in values() {
        let mut headers = HeaderMap::new();
        headers.insert("a2a-version", value.clone());
        for method in ["SendMessage", "SendStreamingMessage"] {
            let reply = call(&service, method, &headers).await;
            assert_eq!(reply.code(), 9, "{method} {value:?}");
            let reason = reply.reason();
            assert_eq!(
                reason.as_deref(),
                Some("VERSION_NOT_SUPPORTED"),
                "{value:?}"
            );
        }
    }
    assert_eq!(
        call(&service, "SendMessage", &HeaderMap::new())
            .await
            .code(),
        0
    );
}

// What cannot be read is said to be so, with what can (gRPC over HTTP/2, "Message-Encoding").
#[tokio::test]
async fn an_encoding_that_nobody_knows_is_refused() {
    let service = service();
    for value in values() {
        let mut headers = HeaderMap::new();
        headers.insert("grpc-encoding", value.clone());
        let reply = call(&service, "SendMessage", &headers).await;
        assert!(
            matches!(reply.code(), 0 | 12),
            "{value:?}: {}",
            reply.message()
        );
    }
}

// A place in a stream that is none is no place (ruling 16), and no task is found by it.
#[tokio::test]
async fn a_place_that_is_none_is_no_place() {
    let hangs = executor_fn(async |ctx, out| {
        out.emit(ctx.status(TaskState::Working)).await;
        pending::<()>().await;
    });
    let interfaces = Layout::new().interfaces("http://h");
    let service = OnePort::new(Server::new(
        hangs,
        AgentCard::of_interfaces("n", "d", interfaces),
    ));
    let client = Client::over(
        Binding::Grpc,
        service,
        "http://h".parse().expect("an address"),
    );
    let hello = SendMessageRequest::new(Message::user("m", [Part::text("hi")]));
    let mut sent = client
        .send_streaming_message(&hello)
        .await
        .expect("a stream");
    sent.next().await.expect("the task").expect("the task");
    let id = sent.task_id().expect("it was told").to_owned();
    for place in [
        "",
        " ",
        "-1",
        "x",
        "0",
        "18446744073709551615",
        "18446744073709551616",
    ] {
        let request = SubscribeToTaskRequest::new(&*id);
        let watched = client.subscribe_to_task(&request, Some(place)).await;
        let mut watched = watched.unwrap_or_else(|error| panic!("{place:?}: {error}"));
        let first = watched.next().await.expect("the task");
        assert!(first.is_ok(), "{place:?}: {first:?}");
    }
}

/// Over a socket: what is too large ends a connection or a call at most, and the next one is
/// answered (O-M06).
#[tokio::test]
async fn more_metadata_than_a_server_reads() {
    let listener = bind("127.0.0.1:0").await.expect("a free port");
    let host = format!("http://{}", listener.local_addr().expect("it listens"));
    let calls = async {
        for (count, size) in [(1, 10), (1, 1 << 20), (20_000, 10), (200, 1 << 10)] {
            let http = HttpClientBuilder::new().http2_only().build();
            let mut headers = HeaderMap::new();
            for number in 0..count {
                let name = HeaderName::try_from(format!("x-{number}")).expect("a name");
                headers.insert(name, "y".repeat(size).parse().expect("a value"));
            }
            let call = http
                .clone()
                .oneshot(request(&host, "SendMessage", &headers));
            let called = timeout(Duration::from_secs(10), call).await;
            match called.expect("it ends") {
                Ok(response) if count * size < 1_000 => {
                    assert_eq!(Reply::of(response).await.code(), 0);
                }
                Ok(response) => assert_eq!(response.status(), 431, "{count} of {size}"),
                // It was cut off in the middle.
                Err(_) => assert!(count * size > 1_000),
            }
            // On the same connection where there is one still.
            let call = http.oneshot(request(&host, "SendMessage", &HeaderMap::new()));
            let response = timeout(Duration::from_secs(10), call)
                .await
                .expect("it ends");
            let reply = Reply::of(response.expect("it answers")).await;
            assert_eq!(reply.code(), 0, "after {count} of {size}");
        }
    };
    tokio::select! {
        () = portcullis_net::Server::new().serve(listener, service(), pending()) => {
            unreachable!("no stop");
        }
        () = calls => {}
    }
}

/// A server that answers with this, in the head or in the trailers.
async fn answered(name: &'static str, value: HeaderValue, trailers: bool) -> [CallError; 2] {
    let server = service_fn(move |_: Request<Full<Bytes>>| {
        let value = value.clone();
        async move {
            let mut said = HeaderMap::new();
            said.insert("grpc-status", HeaderValue::from_static("5"));
            said.insert(HeaderName::from_static(name), value);
            let mut response = Response::new(());
            let head = response.headers_mut();
            head.insert("content-type", HeaderValue::from_static("application/grpc"));
            let frames = if trailers {
                vec![Ok::<_, Infallible>(Frame::<Bytes>::trailers(said))]
            } else {
                head.extend(said);
                Vec::new()
            };
            let body = StreamBody::new(futures_util::stream::iter(frames));
            Ok::<_, Infallible>(response.map(|()| body.boxed_unsync()))
        }
    });
    let client = Client::over(
        Binding::Grpc,
        server,
        "http://h".parse().expect("an address"),
    );
    let hello = SendMessageRequest::new(Message::user("m", [Part::text("hi")]));
    [
        client
            .get_task(&GetTaskRequest::new("t"))
            .await
            .expect_err("no answer"),
        client
            .send_streaming_message(&hello)
            .await
            .map(drop)
            .expect_err("no stream"),
    ]
}

#[tokio::test]
async fn a_client_bears_what_a_server_says() {
    for name in [
        "grpc-status",
        "grpc-message",
        "grpc-status-details-bin",
        "grpc-encoding",
        "retry-after",
        "a2a-extensions",
        "x-anything-bin",
    ] {
        for value in values() {
            for trailers in [false, true] {
                for error in answered(name, value.clone(), trailers).await {
                    // It can be told, whatever it says.
                    let told = format!("{error} {error:?}");
                    assert!(
                        matches!(
                            error,
                            CallError::Refused(_)
                                | CallError::Transport(_)
                                | CallError::Protocol(_)
                        ),
                        "{name} {value:?}: {told}"
                    );
                }
            }
        }
    }
}
