use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::StreamExt;
use portcullis::{Emitter, Principal};
use portcullis_a2a::{
    model::{AgentCard, AgentInterface, Artifact, Error, TaskState, Timestamp},
    server::{
        Caller, Emission, Frames, RequestContext, Response, SequentialIds, Server, ServerBuilder,
        StepClock, executor_fn,
    },
};
use serde_json::{Value, json};

pub(crate) fn card() -> AgentCard {
    let mut interface = AgentInterface::json_rpc("https://agent.example.com/rpc");
    interface.tenant = "acme".to_owned();
    let mut card = AgentCard::new("Echo Agent", "Repeats what it is told.", interface);
    card.default_input_modes.push("application/json".to_owned());
    card.default_input_modes.push("audio/wav".to_owned());
    card
}

/// Ids t-1, c-1, m-a1; the clock goes on by a tenth of a second when it is read.
pub(crate) fn deterministic(builder: ServerBuilder) -> ServerBuilder {
    let start: Timestamp = "2026-01-15T10:00:00Z".parse().expect("a time");
    builder
        .ids(SequentialIds::new())
        .clock(StepClock::new(start, 100))
}

pub(crate) fn server_of(builder: ServerBuilder) -> Server {
    deterministic(builder).build()
}

pub(crate) fn send(text: &str) -> Value {
    json!({"message": message("m-1", text)})
}

pub(crate) fn message(id: &str, text: &str) -> Value {
    json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": text}]})
}

pub(crate) fn follow_up(task_id: &str, id: &str, text: &str) -> Value {
    let mut message = message(id, text);
    message["taskId"] = json!(task_id);
    json!({"message": message})
}

pub(crate) fn user(name: &str) -> Caller {
    let principal = Principal::new("user", "https://issuer.example.com", name);
    Caller::new().with_principal(Some(principal))
}

pub(crate) async fn call_as(
    server: &Server,
    caller: &Caller,
    method: &str,
    params: &Value,
) -> Result<Value, Error> {
    match server
        .handle(caller, method, Some(&params.to_string()))
        .await?
    {
        Response::Answer(answer) => Ok(serde_json::to_value(&answer).expect("encodes")),
        Response::Stream(frames) => Ok(Value::Array(collect(frames).await)),
    }
}

/// The answer, or all frames of a stream.
pub(crate) async fn call(server: &Server, method: &str, params: Value) -> Value {
    call_as(server, &Caller::new(), method, &params)
        .await
        .unwrap_or_else(|error| panic!("{method}: {error:?}"))
}

pub(crate) async fn refused(server: &Server, method: &str, params: Value) -> Error {
    match call_as(server, &Caller::new(), method, &params).await {
        Ok(answer) => panic!("{method} should be refused: {answer}"),
        Err(error) => error,
    }
}

pub(crate) async fn open_stream(server: &Server, method: &str, params: Value) -> Frames {
    match server
        .handle(&Caller::new(), method, Some(&params.to_string()))
        .await
    {
        Ok(Response::Stream(frames)) => frames,
        other => panic!("{method} should stream: {other:?}"),
    }
}

pub(crate) async fn next(frames: &mut Frames) -> Option<Value> {
    let frame = frames.next().await?.expect("a frame");
    Some(serde_json::from_str(frame.json()).expect("JSON"))
}

pub(crate) async fn collect(frames: Frames) -> Vec<Value> {
    frames
        .map(|frame| serde_json::from_str(frame.expect("a frame").json()).expect("JSON"))
        .collect()
        .await
}

pub(crate) fn state_of(value: &Value) -> &str {
    let status = ["task", "statusUpdate"]
        .into_iter()
        .find_map(|name| value.get(name))
        .unwrap_or(value);
    status["status"]["state"].as_str().unwrap_or("none")
}

pub(crate) fn states(frames: &[Value]) -> Vec<&str> {
    frames
        .iter()
        .filter(|frame| frame.get("artifactUpdate").is_none())
        .map(|frame| state_of(frame).trim_start_matches("TASK_STATE_"))
        .collect()
}

/// WORKING, one artifact, COMPLETED.
pub(crate) async fn echo(cx: RequestContext, out: Emitter<Emission>) {
    out.emit(cx.status(TaskState::Working)).await;
    out.emit(Artifact::text("a-1", cx.message().text())).await;
    out.emit(cx.status(TaskState::Completed)).await;
}

/// What the text of the message says.
pub(crate) async fn scripted(cx: RequestContext, out: Emitter<Emission>) {
    for word in cx.message().text().split_whitespace() {
        match word {
            "work" => out.emit(cx.status(TaskState::Working)).await,
            "artifact" => out.emit(Artifact::text("a-1", "part")).await,
            "more" => {
                let more = cx.artifact(Artifact::text("a-1", "more")).appending();
                out.emit(more).await;
            }
            "ask" => {
                let ask = cx.status(TaskState::InputRequired).with_text("What?");
                out.emit(ask).await;
            }
            "auth" => {
                let ask = cx.status(TaskState::AuthRequired).with_text("Sign in");
                out.emit(ask).await;
            }
            "complete" => out.emit(cx.status(TaskState::Completed)).await,
            "fail" => out.emit(cx.status(TaskState::Failed)).await,
            "reject" => out.emit(cx.status(TaskState::Rejected)).await,
            "cancel" => out.emit(cx.status(TaskState::Canceled)).await,
            "submit" => out.emit(cx.status(TaskState::Submitted)).await,
            "say" => {
                out.emit(cx.answer([portcullis_a2a::model::Part::text("pong")]))
                    .await
            }
            "yield" => tokio::task::yield_now().await,
            "sleep" => tokio::time::sleep(Duration::from_secs(1)).await,
            "hang" => pending().await,
            "panic" => panic!("password=x"),
            other => panic!("{other}"),
        }
    }
}

pub(crate) fn scripted_server() -> Server {
    server_of(Server::builder(executor_fn(scripted), card()))
}

/// Counts how many of it live.
#[derive(Clone, Default)]
pub(crate) struct Alive(Arc<AtomicUsize>);

pub(crate) struct Life(Arc<AtomicUsize>);

impl Alive {
    pub(crate) fn begin(&self) -> Life {
        self.0.fetch_add(1, Ordering::SeqCst);
        Life(Arc::clone(&self.0))
    }

    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
