//! gRPC on the wire: frames, trailers, statuses. Messages are written by hand here, as another
//! implementation has them.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD_NO_PAD};
use bytes::{BufMut, Bytes, BytesMut};
use futures_util::StreamExt;
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body_util::{BodyExt, Full};
use portcullis::{Emitter, Failure, FailureCode, Prompt, Scope, agent_fn};
use portcullis_a2a::{
    binding::{Grpc, Layout, OnePort},
    client::{Binding, CallError, Client},
    model::{
        AgentCard, AgentExtension, AgentInterface, ErrorKind, GetTaskRequest, ListTasksRequest,
        Message, Metadata, Part, SendMessageConfiguration, SendMessageRequest,
        SubscribeToTaskRequest, TaskState,
    },
    server::{RequestContext, Server, executor_fn},
};
use portcullis_layers::auth::{ApiKeys, HttpAuthLayer, NewApiKey};
use prost::Message as _;
use serde_json::json;
use tower::{Layer, ServiceExt};

use crate::support::{Rig, Step, card, rig, rig_of};

/// `google.rpc.Status` and what is in it.
mod rpc {
    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Status {
        #[prost(int32, tag = "1")]
        pub(super) code: i32,
        #[prost(string, tag = "2")]
        pub(super) message: String,
        #[prost(message, repeated, tag = "3")]
        pub(super) details: Vec<prost_types::Any>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct ErrorInfo {
        #[prost(string, tag = "1")]
        pub(super) reason: String,
        #[prost(string, tag = "2")]
        pub(super) domain: String,
        #[prost(btree_map = "string, string", tag = "3")]
        pub(super) metadata: std::collections::BTreeMap<String, String>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct BadRequest {
        #[prost(message, repeated, tag = "1")]
        pub(super) violations: Vec<Violation>,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct Violation {
        #[prost(string, tag = "1")]
        pub(super) field: String,
        #[prost(string, tag = "2")]
        pub(super) description: String,
    }

    #[derive(Clone, PartialEq, prost::Message)]
    pub(super) struct RetryInfo {
        #[prost(message, optional, tag = "1")]
        pub(super) delay: Option<prost_types::Duration>,
    }
}

/// A request with an id: `GetTask` and its siblings.
#[derive(Clone, PartialEq, prost::Message)]
struct OfTask {
    #[prost(string, tag = "1")]
    tenant: String,
    #[prost(string, tag = "2")]
    id: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Send {
    #[prost(message, optional, tag = "2")]
    message: Option<Said>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Said {
    #[prost(string, tag = "1")]
    message_id: String,
    #[prost(int32, tag = "4")]
    role: i32,
    #[prost(message, repeated, tag = "5")]
    parts: Vec<Text>,
    #[prost(message, optional, tag = "6")]
    metadata: Option<prost_types::Struct>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Text {
    #[prost(string, optional, tag = "1")]
    text: Option<String>,
}

pub(crate) fn say(text: &str) -> Send {
    Send {
        message: Some(Said {
            message_id: "m-1".to_owned(),
            role: 1,
            parts: vec![Text {
                text: Some(text.to_owned()),
            }],
            metadata: None,
        }),
    }
}

/// One message in its frame.
pub(crate) fn framed(message: &[u8]) -> Bytes {
    let mut frame = BytesMut::new();
    frame.put_u8(0);
    frame.put_u32(message.len() as u32);
    frame.put_slice(message);
    frame.freeze()
}

/// The answer to a call: messages, and the head or the trailers that say how it ended.
pub(crate) struct Reply {
    pub(crate) head: HeaderMap,
    pub(crate) messages: Vec<Vec<u8>>,
    /// `None` where the head says it all.
    trailers: Option<HeaderMap>,
}

impl Reply {
    pub(crate) async fn of<B>(response: Response<B>) -> Self
    where
        B: http_body::Body,
        B::Error: std::fmt::Debug,
    {
        assert_eq!(response.status(), 200);
        let (head, body) = response.into_parts();
        assert_eq!(head.headers["content-type"], "application/grpc");
        let body = body.collect().await.unwrap();
        let trailers = body.trailers().cloned();
        let mut rest = body.to_bytes();
        let mut messages = Vec::new();
        while !rest.is_empty() {
            assert_eq!(rest[0], 0, "nothing is compressed");
            let length = u32::from_be_bytes(rest[1..5].try_into().unwrap()) as usize;
            messages.push(rest[5..5 + length].to_vec());
            rest = rest.split_off(5 + length);
        }
        Self {
            head: head.headers,
            messages,
            trailers,
        }
    }

    fn end(&self) -> &HeaderMap {
        self.trailers.as_ref().unwrap_or(&self.head)
    }

    pub(crate) fn code(&self) -> i32 {
        self.end()["grpc-status"].to_str().unwrap().parse().unwrap()
    }

    pub(crate) fn message(&self) -> String {
        let message = self.end().get("grpc-message");
        let mut rest = message.map_or(&b""[..], HeaderValue::as_bytes);
        let mut decoded = Vec::new();
        while let Some((byte, behind)) = rest.split_first() {
            rest = behind;
            decoded.push(if *byte == b'%' {
                let (hex, behind) = rest.split_at(2);
                rest = behind;
                u8::from_str_radix(str::from_utf8(hex).unwrap(), 16).unwrap()
            } else {
                *byte
            });
        }
        String::from_utf8(decoded).unwrap()
    }

    /// What the details say; it is checked that they agree with the head.
    fn details(&self) -> Vec<prost_types::Any> {
        let details = self.end()["grpc-status-details-bin"].as_bytes();
        let status = rpc::Status::decode(&*STANDARD_NO_PAD.decode(details).unwrap()).unwrap();
        assert_eq!(status.code, self.code());
        assert_eq!(status.message, self.message());
        status.details
    }

    /// Why, as the protocol calls it.
    pub(crate) fn reason(&self) -> Option<String> {
        let info: rpc::ErrorInfo = self.detail("ErrorInfo")?;
        Some(info.reason)
    }

    fn detail<M: prost::Message + Default>(&self, name: &str) -> Option<M> {
        let url = format!("type.googleapis.com/google.rpc.{name}");
        let details = self.details();
        let detail = details.iter().find(|detail| detail.type_url == url)?;
        Some(M::decode(&*detail.value).unwrap())
    }
}

/// Says a text by one of the two methods that send.
pub(crate) async fn say_to(service: OnePort, method: &str, text: &str) -> Reply {
    let body = framed(&say(text).encode_to_vec());
    Reply::of(send(service, method, &[("a2a-version", "1.0")], body).await).await
}

/// A call of a method with bytes for a body.
async fn send<S, B>(service: S, method: &str, headers: &[(&str, &str)], body: Bytes) -> Response<B>
where
    S: tower::Service<Request<Full<Bytes>>, Response = Response<B>>,
    S::Error: std::fmt::Debug,
{
    send_to("http://in.process", service, method, headers, body).await
}

async fn send_to<S, B>(
    host: &str,
    service: S,
    method: &str,
    headers: &[(&str, &str)],
    body: Bytes,
) -> Response<B>
where
    S: tower::Service<Request<Full<Bytes>>, Response = Response<B>>,
    S::Error: std::fmt::Debug,
{
    let mut request = Request::post(format!("{host}{}/{method}", Grpc::PATH));
    for (name, value) in [("content-type", "application/grpc"), ("te", "trailers")]
        .iter()
        .filter(|(name, _)| headers.iter().all(|(given, _)| given != name))
        .chain(headers)
    {
        request = request.header(*name, *value);
    }
    service
        .oneshot(request.body(Full::new(body)).unwrap())
        .await
        .unwrap()
}

async fn call_with(
    rig: &Rig,
    method: &str,
    headers: &[(&str, &str)],
    message: &impl prost::Message,
) -> Reply {
    let headers = [&[("a2a-version", "1.0")], headers].concat();
    let body = framed(&message.encode_to_vec());
    Reply::of(send(rig.service(), method, &headers, body).await).await
}

async fn call(rig: &Rig, method: &str, message: &impl prost::Message) -> Reply {
    call_with(rig, method, &[], message).await
}

/// The status of a call of a method with an empty message.
pub(crate) async fn status_of_empty(rig: &Rig, method: &str) -> i32 {
    call(rig, method, &OfTask::default()).await.code()
}

fn of_task(id: &str) -> OfTask {
    OfTask {
        tenant: String::new(),
        id: id.to_owned(),
    }
}

fn texts(text: &str) -> Vec<Step> {
    match text {
        "hang" => vec![Step::working(), Step::wait(), Step::completed()],
        "fail" => vec![Step::working(), Step::working(), Step::fail()],
        "message" => vec![Step::message("pong")],
        _ => vec![Step::working(), Step::completed()],
    }
}

fn client(rig: &Rig) -> Client<OnePort> {
    let url = "http://in.process".parse().unwrap();
    Client::over(Binding::Grpc, rig.service(), url)
}

/// Opens a task that waits.
async fn hanging(client: &Client<OnePort>) -> String {
    let wishes = SendMessageConfiguration::new().returning_immediately();
    let request = SendMessageRequest::new(Message::user("m", [Part::text("hang")]));
    let answer = client
        .send_message(&request.with_configuration(wishes))
        .await;
    let answer = serde_json::to_value(answer.unwrap()).unwrap();
    answer["task"]["id"].as_str().unwrap().to_owned()
}

// A2A-GRPC-1, A2A-GRPC-3, A2A-GRPC-4
#[tokio::test]
async fn ex_25_a_status_and_its_details() {
    let rig = rig(texts);
    let reply = call(&rig, "GetTask", &of_task("nope")).await;
    assert!(reply.trailers.is_none() && reply.messages.is_empty());
    assert_eq!((reply.code(), &*reply.message()), (5, "Task not found"));
    let details = reply.details();
    assert_eq!(details.len(), 1);
    let info: rpc::ErrorInfo = reply.detail("ErrorInfo").unwrap();
    assert_eq!(
        info,
        rpc::ErrorInfo {
            reason: "TASK_NOT_FOUND".to_owned(),
            domain: "a2a-protocol.org".to_owned(),
            metadata: [("taskId".to_owned(), "nope".to_owned())].into(),
        }
    );
}

#[tokio::test]
async fn a_stream_ends_well_after_the_last_event() {
    // A2A-GRPC-7
    let reply = call(&rig(texts), "SendStreamingMessage", &say("x")).await;
    // The task, working, completed; each in a member of its own.
    let members: Vec<_> = reply
        .messages
        .iter()
        .map(|message| message[0] >> 3)
        .collect();
    assert_eq!(members, [1, 3, 3]);
    let trailers = reply.trailers.unwrap();
    assert_eq!(trailers["grpc-status"], "0");
    let reply = call(&rig(texts), "SendStreamingMessage", &say("message")).await;
    assert_eq!((reply.messages.len(), reply.code()), (1, 0));
    assert_eq!(reply.messages[0][0] >> 3, 2, "a message and nothing else");
}

// O-G06: a stream that breaks has the status of the same error before a stream.
#[tokio::test]
async fn an_error_in_a_stream_has_its_status() {
    let rig = rig(texts);
    let id = hanging(&client(&rig)).await;
    let service = rig.service();
    let message = framed(&of_task(&id).encode_to_vec());
    let version = [("a2a-version", "1.0")];
    let response = send(service, "SubscribeToTask", &version, message).await;
    assert_eq!(response.status(), 200);
    let mut body = response.into_body();
    assert!(body.frame().await.unwrap().unwrap().is_data(), "the task");
    rig.break_reads(true);
    rig.go_on();
    let mut trailers = None;
    while let Some(frame) = body.frame().await {
        trailers = frame.unwrap().into_trailers().ok();
    }
    let in_stream = Reply {
        head: HeaderMap::new(),
        messages: Vec::new(),
        trailers,
    };
    assert_eq!(in_stream.code(), 13);
    assert_eq!(in_stream.message(), "Internal error");
    assert!(
        in_stream.details().is_empty(),
        "and the details are a status"
    );
    assert!(!format!("{:?}", in_stream.trailers).contains("secret"));
}

// O-G06: an agent that fails is a state of its task, and the stream is well.
#[tokio::test]
async fn an_agent_that_fails_after_two_events() {
    let reply = call(&rig(texts), "SendStreamingMessage", &say("fail")).await;
    assert_eq!(reply.code(), 0);
    let rig = rig(texts);
    let request = SendMessageRequest::new(Message::user("m", [Part::text("fail")]));
    let stream = client(&rig).send_streaming_message(&request).await.unwrap();
    let events: Vec<_> = stream.map(|event| event.unwrap().response).collect().await;
    let last = serde_json::to_value(events.last().unwrap()).unwrap();
    assert_eq!(last["statusUpdate"]["status"]["state"], "TASK_STATE_FAILED");
}

// O-G04: proto3 requires nothing, the protocol does.
#[tokio::test]
async fn missing_members_are_named() {
    let rig = rig(texts);
    let whole = say("x").message.unwrap();
    let without = |change: fn(&mut Said)| {
        let mut message = whole.clone();
        change(&mut message);
        Send {
            message: Some(message),
        }
    };
    for (request, violation) in [
        (Send { message: None }, "message: required"),
        (
            without(|message| message.message_id.clear()),
            "message.messageId: required",
        ),
        (
            without(|message| message.role = 0),
            "message.role: required",
        ),
        (
            without(|message| message.role = 9),
            "message.role: unknown role",
        ),
        (
            without(|message| message.role = 2),
            "message.role: must be ROLE_USER",
        ),
        (
            without(|message| message.parts.clear()),
            "message.parts: required",
        ),
        (
            without(|message| message.parts[0].text = None),
            "message.parts[0]: one of text, raw, url, data is required",
        ),
        (
            without(|message| message.message_id = "x".repeat(257)),
            "message.messageId: longer than 256 bytes",
        ),
    ] {
        for method in ["SendMessage", "SendStreamingMessage"] {
            let reply = call(&rig, method, &request).await;
            assert_eq!(reply.code(), 3, "{violation}");
            let bad: rpc::BadRequest = reply.detail("BadRequest").unwrap();
            let named: Vec<_> = bad
                .violations
                .iter()
                .map(|violation| format!("{}: {}", violation.field, violation.description))
                .collect();
            assert_eq!(named, [violation]);
        }
    }
    let reply = call(&rig, "GetTask", &of_task("")).await;
    let bad: rpc::BadRequest = reply.detail("BadRequest").unwrap();
    assert_eq!(bad.violations[0].field, "id");
    // An empty text is a text (A2A-DATA-15).
    assert_eq!(call(&rig, "SendMessage", &say("")).await.code(), 0);
}

#[tokio::test]
async fn what_is_no_message_is_refused() {
    let rig = rig(texts);
    let version = [("a2a-version", "1.0")];
    let whole = framed(&say("x").encode_to_vec());
    let mut lie = whole.to_vec();
    lie[1..5].copy_from_slice(&u32::MAX.to_be_bytes());
    for (what, body) in [
        ("nothing", Bytes::new()),
        ("half a frame", whole.slice(..3)),
        ("half a message", whole.slice(..whole.len() - 1)),
        ("two messages", [&whole[..], &whole].concat().into()),
        ("a length that is a lie", lie.into()),
        ("no message", framed(b"\xff\xff\xff")),
        ("a text that is none", framed(b"\x12\x03\x0a\x01\xff")),
    ] {
        let response = send(rig.service(), "SendMessage", &version, body).await;
        assert_eq!(Reply::of(response).await.code(), 3, "{what}");
    }
    // O-W12: a value that nests without end.
    let mut value = prost_types::Value::default();
    for _ in 0..200 {
        let list = prost_types::ListValue {
            values: vec![value],
        };
        value = prost_types::Value {
            kind: Some(prost_types::value::Kind::ListValue(list)),
        };
    }
    let mut deep = say("x");
    deep.message.as_mut().unwrap().metadata = Some(prost_types::Struct {
        fields: [("deep".to_owned(), value)].into(),
    });
    assert_eq!(call(&rig, "SendMessage", &deep).await.code(), 3);
    assert_eq!(
        call(&rig, "SendMessage", &say("x")).await.code(),
        0,
        "it lives"
    );
}

#[tokio::test]
async fn sizes_and_kinds_of_bodies() {
    let rig = rig(texts);
    let version = [("a2a-version", "1.0")];
    let large = framed(&say(&"x".repeat(5 << 20)).encode_to_vec());
    // A2A-GRPC-8: as much as other bindings take, and more than the 4 MiB of gRPC.
    let response = send(rig.service(), "SendMessage", &version, large.clone()).await;
    assert_eq!(Reply::of(response).await.code(), 0);
    let small = rig.service().body_limit(1 << 20);
    let response = send(small, "SendMessage", &version, large).await;
    assert_eq!(Reply::of(response).await.code(), 8);

    let body = || framed(&say("x").encode_to_vec());
    for (content_type, status) in [
        ("application/grpc", 200),
        ("application/grpc+proto", 200),
        ("application/grpc; charset=utf-8", 200),
        ("application/grpc+json", 415),
        ("application/grpc-web+proto", 415),
        ("application/grpc-web", 415),
    ] {
        let headers = [("content-type", content_type), ("a2a-version", "1.0")];
        let response = send(rig.service(), "SendMessage", &headers, body()).await;
        assert_eq!(response.status(), status, "{content_type}");
    }
    // Elsewhere nothing is gRPC.
    let grpc = Grpc::new(rig.service().get_ref().clone());
    let headers = [("content-type", "application/json")];
    assert_eq!(
        send(grpc, "SendMessage", &headers, body()).await.status(),
        415
    );
    let headers = [("a2a-version", "1.0"), ("grpc-encoding", "gzip")];
    let response = send(rig.service(), "SendMessage", &headers, body()).await;
    assert_eq!(Reply::of(response).await.code(), 12, "says what it takes");
    // A2A-GRPC-5
    assert_eq!(call(&rig, "Nothing", &say("x")).await.code(), 12);
}

/// Who asks for what, said by the agent.
fn mirror() -> OnePort {
    let mirror = executor_fn(async |ctx: RequestContext, out| {
        let said = format!("{:?} {:?}", ctx.extensions(), ctx.tenant());
        out.emit(ctx.answer([Part::text(said)])).await;
    });
    let mut interfaces = Layout::new().interfaces("http://h");
    interfaces[0].tenant = "acme".to_owned();
    let mut card = AgentCard::of_interfaces("n", "d", interfaces);
    card.capabilities.extensions = ["urn:a", "urn:b"].map(AgentExtension::new).into();
    OnePort::new(Server::new(mirror, card))
}

// A2A-SVC-1, O-G02: the same parameters on every binding.
#[tokio::test]
async fn an_agent_sees_the_same_parameters_over_every_binding() {
    for &binding in Binding::ALL {
        let url = match binding {
            Binding::Rest => "http://h/rest",
            _ => "http://h",
        };
        let client = Client::over(binding, mirror(), url.parse().unwrap())
            .extensions(["urn:b", "urn:none", "urn:a"])
            .tenant("acme");
        let request = SendMessageRequest::new(Message::user("m", [Part::text("?")]));
        let answer = client.send_message(&request).await.unwrap();
        let answer = serde_json::to_value(answer).unwrap();
        assert_eq!(
            answer["message"]["parts"][0]["text"], r#"["urn:b", "urn:a"] Some("acme")"#,
            "{binding}"
        );
    }
    // Whatever the case that somebody wrote them in, and over several lines.
    let headers = [
        ("A2A-Version", "1.0"),
        ("A2A-Extensions", "urn:a, urn:none"),
        ("a2a-extensions", "urn:b"),
    ];
    let body = framed(&say("?").encode_to_vec());
    for method in ["SendMessage", "SendStreamingMessage"] {
        let response = send(mirror(), method, &headers, body.clone()).await;
        let reply = Reply::of(response).await;
        assert_eq!(reply.code(), 0);
        assert_eq!(reply.head["a2a-extensions"], "urn:a,urn:b");
    }
}

// A2A-GRPC-3, A2A-SVC-6..9
#[tokio::test]
async fn versions() {
    let rig = rig(texts);
    let body = || framed(&say("x").encode_to_vec());
    for (headers, requested) in [
        (&[][..], "0.3"),
        (&[("a2a-version", "")], "0.3"),
        (&[("a2a-version", "99.0")], "99.0"),
        // As the Python SDK sends it.
        (
            &[("a2a-version", "1.0"), ("a2a-version", "99.0")],
            "1.0, 99.0",
        ),
    ] {
        let response = send(rig.service(), "SendMessage", headers, body()).await;
        let reply = Reply::of(response).await;
        assert_eq!(reply.code(), 9, "{requested}");
        let info: rpc::ErrorInfo = reply.detail("ErrorInfo").unwrap();
        assert_eq!(info.reason, "VERSION_NOT_SUPPORTED");
        assert_eq!(info.metadata["requestedVersion"], requested);
        assert_eq!(info.metadata["supportedVersions"], "1.0");
    }
    for headers in [
        &[("a2a-version", "1.0.1")][..],
        &[("a2a-version", "1.0"), ("a2a-version", "1.0")],
    ] {
        let response = send(rig.service(), "SendMessage", headers, body()).await;
        assert_eq!(Reply::of(response).await.code(), 0);
    }
}

// O-G03: what is absent, empty, null or zero is the same everywhere.
#[tokio::test]
async fn presence_is_the_same_on_every_binding() {
    let mut tasks = Vec::new();
    for &binding in Binding::ALL {
        let rig = rig(texts);
        let url = match binding {
            Binding::JsonRpc => "http://in.process/rpc",
            Binding::Rest => "http://in.process/rest",
            _ => "http://in.process",
        };
        let client = Client::over(binding, rig.service(), url.parse().unwrap());
        let null = portcullis::Json::null();
        let mut message = Message::user("m", [Part::text(""), Part::data(null.clone())]);
        message.parts[0].metadata = Metadata::new().with("a", null);
        message.context_id = "c".to_owned();
        let request = SendMessageRequest::new(message);
        let task = client.send_message(&request).await.unwrap();
        let task = serde_json::to_value(task).unwrap();
        let id = task["task"]["id"].as_str().unwrap();
        let mut answers = vec![task.clone()];
        for length in [None, Some(0), Some(1)] {
            let mut request = GetTaskRequest::new(id);
            request.history_length = length;
            let task = client.get_task(&request).await.unwrap();
            answers.push(serde_json::to_value(task).unwrap());
        }
        tasks.push(answers);
    }
    let [_, whole, none, one] = &tasks[0][..] else {
        panic!("{tasks:?}");
    };
    assert_eq!(whole["history"][0]["parts"][1], json!({"data": null}));
    assert_eq!(
        whole["history"][0]["parts"][0],
        json!({"text": "", "metadata": {"a": null}})
    );
    assert!(none.get("history").is_none() && whole == one);
    assert_eq!((&tasks[0], &tasks[0]), (&tasks[1], &tasks[2]));
}

#[tokio::test(start_paused = true)]
async fn a_deadline_ends_the_call_and_not_the_task() {
    // A2A-OP-34
    let rig = rig(texts);
    let timeout = [("grpc-timeout", "1500m")];
    for method in ["SendMessage", "SendStreamingMessage"] {
        let began = tokio::time::Instant::now();
        let reply = call_with(&rig, method, &timeout, &say("hang")).await;
        assert_eq!(reply.code(), 4, "{method}");
        assert_eq!(began.elapsed(), Duration::from_millis(1_500));
        // The stream had begun.
        let begun = method == "SendStreamingMessage";
        assert_eq!(reply.messages.len(), if begun { 2 } else { 0 });
    }
    assert_eq!(rig.watchers(), 0);
    let client = client(&rig);
    let list = client.list_tasks(&ListTasksRequest::new()).await.unwrap();
    let states: Vec<_> = list.tasks.iter().map(|task| task.status.state).collect();
    assert_eq!(states, [TaskState::Working; 2], "they go on");
}

#[tokio::test]
async fn a_caller_that_leaves_is_a_watcher_less() {
    let rig = rig(texts);
    let client = client(&rig);
    let id = hanging(&client).await;
    let watch = SubscribeToTaskRequest::new(&*id);
    let stays = client.subscribe_to_task(&watch, None).await.unwrap();
    let leaves = client.subscribe_to_task(&watch, None).await.unwrap();
    assert_eq!(rig.watchers(), 2);
    drop(leaves);
    assert_eq!(rig.watchers(), 1);
    rig.go_on();
    let events: Vec<_> = stays.map(|event| event.unwrap().response).collect().await;
    let last = serde_json::to_value(events.last().unwrap()).unwrap();
    assert_eq!(
        last["statusUpdate"]["status"]["state"],
        "TASK_STATE_COMPLETED"
    );
    assert_eq!(rig.watchers(), 0);
}

#[tokio::test]
async fn a_stream_is_resumed_after_an_event_of_another_binding() {
    // Ruling 16
    let rig = rig(texts);
    let client = client(&rig);
    let id = hanging(&client).await;
    let watch = SubscribeToTaskRequest::new(&*id);
    let state = async |after: Option<&str>| {
        let mut stream = client.subscribe_to_task(&watch, after).await.unwrap();
        let first = stream.next().await.unwrap().unwrap().response;
        serde_json::to_value(first).unwrap()["task"]["status"]["state"].clone()
    };
    while state(None).await != "TASK_STATE_WORKING" {
        tokio::task::yield_now().await;
    }
    assert_eq!(state(Some("1")).await, "TASK_STATE_SUBMITTED");
    rig.go_on();
}

// O-B09, A2A-GRPC-5: what an agent, or a layer before it, refuses without waiting.
#[tokio::test]
async fn refusals_of_a_guarded_agent_have_their_codes() {
    let agent = agent_fn(
        async |_: Scope, prompt: Prompt, _: Emitter<_>| -> Result<(), Failure> {
            let code = FailureCode::new(prompt.as_text().to_owned());
            let failure = Failure::with_code(code, "not now").retryable(true);
            Err(failure.retry_after(Duration::from_millis(1_500)))
        },
    );
    let card = AgentCard::new("n", "d", AgentInterface::grpc("h:443"));
    let service = Grpc::new(Server::agent(agent, card));
    for (failure, code) in [
        ("unauthenticated", 16),
        ("permission_denied", 7),
        ("rate_limited", 8),
        ("overloaded", 14),
        ("session_busy", 14),
        ("unavailable", 14),
    ] {
        for method in ["SendMessage", "SendStreamingMessage"] {
            let body = framed(&say(failure).encode_to_vec());
            let version = [("a2a-version", "1.0")];
            let response = send(service.clone(), method, &version, body).await;
            let reply = Reply::of(response).await;
            assert_eq!(reply.code(), code, "{failure}");
            let retry: rpc::RetryInfo = reply.detail("RetryInfo").unwrap();
            let delay = retry.delay.unwrap();
            assert_eq!((delay.seconds, delay.nanos), (1, 500_000_000));
        }
    }
}

#[tokio::test]
async fn a_required_extension_is_required() {
    // Ruling 19
    let mut card = card();
    card["capabilities"]["extensions"] = json!([{"uri": "urn:x", "required": true}]);
    let rig = rig_of(&card, texts);
    let reply = call(&rig, "GetTask", &of_task("t")).await;
    assert_eq!(reply.code(), 9);
    let info: rpc::ErrorInfo = reply.detail("ErrorInfo").unwrap();
    assert_eq!(info.reason, "EXTENSION_SUPPORT_REQUIRED");
    assert_eq!(info.metadata["extensions"], "urn:x");
    let asks = [("a2a-extensions", "urn:x")];
    let reply = call_with(&rig, "GetTask", &asks, &of_task("t")).await;
    assert_eq!(reply.code(), 5);
}

// O-S10
#[tokio::test]
async fn a_stream_that_just_stops_over_grpc_is_cut() {
    let rig = rig(texts);
    let id = hanging(&client(&rig)).await;
    let server = rig.service().get_ref().clone();
    let watch = SubscribeToTaskRequest::new(&*id);
    let mut stream = client(&rig).subscribe_to_task(&watch, None).await.unwrap();
    stream.next().await.unwrap().unwrap();
    let (_, last) = tokio::join!(
        // Streams end at once, turns have a moment.
        server.shut_down(Duration::ZERO),
        async {
            let mut last = None;
            while let Some(event) = stream.next().await {
                last = Some(event);
            }
            last.unwrap()
        }
    );
    match last {
        Err(CallError::Cut { task_id, .. }) => assert_eq!(task_id.as_deref(), Some(&*id)),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_client_bounds_what_it_reads() {
    let rig = rig(texts);
    let client = client(&rig).limit(64);
    let request = SendMessageRequest::new(Message::user("m", [Part::text("x".repeat(100))]));
    assert!(matches!(
        client.send_message(&request).await,
        Err(CallError::TooLong(_))
    ));
}

// O-G05: a refusal in the head, and one behind messages, through our layer and our host.
#[tokio::test]
async fn trailers_survive_what_is_around_them() {
    let rig = rig(texts);
    let key = NewApiKey::generate("me", ["agent"]).unwrap();
    let keys = ApiKeys::from_text(key.line()).unwrap();
    let app = HttpAuthLayer::new(keys).layer(rig.service());
    let listener = portcullis_net::bind("127.0.0.1:0").await.unwrap();
    let host = format!("http://{}", listener.local_addr().unwrap());
    let http: portcullis_net::HttpClient<_, Full<Bytes>> = portcullis_net::HttpClientBuilder::new()
        .http2_only()
        .build();
    let calls = async {
        let secret = format!("Bearer {}", key.reveal());
        let headers = [("a2a-version", "1.0"), ("authorization", &*secret)];
        let id = framed(&of_task("nope").encode_to_vec());
        let reply = send_to(&host, http.clone(), "GetTask", &headers, id).await;
        let reply = Reply::of(reply).await;
        let info: rpc::ErrorInfo = reply.detail("ErrorInfo").unwrap();
        assert_eq!((reply.code(), &*info.reason), (5, "TASK_NOT_FOUND"));

        let message = framed(&say("hang").encode_to_vec());
        let method = "SendStreamingMessage";
        let response = send_to(&host, http.clone(), method, &headers, message.clone()).await;
        let (head, mut body) = response.into_parts();
        assert!(!head.headers.contains_key("grpc-status"));
        assert!(body.frame().await.unwrap().unwrap().is_data(), "the task");
        rig.break_reads(true);
        rig.go_on();
        let mut trailers = None;
        while let Some(frame) = body.frame().await {
            trailers = frame.unwrap().into_trailers().ok();
        }
        let reply = Reply {
            head: head.headers,
            messages: Vec::new(),
            trailers,
        };
        assert_eq!((reply.code(), &*reply.message()), (13, "Internal error"));
        assert!(reply.details().is_empty(), "and the details are a status");
        rig.break_reads(false);

        // Who has no key is told so in words of HTTP, which every client of gRPC understands.
        let client = Client::over(Binding::Grpc, http.clone(), host.parse().unwrap());
        let error = client
            .get_task(&GetTaskRequest::new("t"))
            .await
            .unwrap_err();
        let refusal = error.as_refusal().unwrap_or_else(|| panic!("{error:?}"));
        assert_eq!(refusal.kind(), ErrorKind::Unauthenticated);
    };
    tokio::select! {
        () = portcullis_net::Server::new().serve(listener, app, std::future::pending()) => unreachable!(),
        () = calls => {}
    }
}

#[tokio::test]
async fn nobody_is_no_refusal() {
    let http: portcullis_net::HttpClient<_, Full<Bytes>> = portcullis_net::HttpClientBuilder::new()
        .http2_only()
        .build();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let client = Client::over(Binding::Grpc, http, url.parse().unwrap());
    let error = client
        .get_task(&GetTaskRequest::new("t"))
        .await
        .unwrap_err();
    assert!(matches!(error, CallError::Transport(_)), "{error:?}");
}
