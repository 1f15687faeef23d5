use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::StreamExt;
use portcullis::{Emitter, Principal};
use portcullis_a2a::{
    log::{MemoryLog, TaskLog},
    model::{AgentCard, AgentInterface, Artifact, Error, Part, TaskState},
    server::{
        Caller, Emission, Limits, RequestContext, Response, SequentialIds, Server, executor_fn,
        push::{
            Deliver, Delivery, DeliveryFuture, MemoryPushStore, Outcome, Push, PushLimits,
            PushStore,
        },
    },
};
use serde_json::{Value, json};
use tokio::time::Instant;

/// What a receiver does with one attempt.
#[derive(Clone, Copy)]
pub(crate) enum Does {
    Takes,
    Answers(u16),
    AsksToWait(u16, Duration),
    Hangs,
    Panics,
    TakesAfter(Duration),
    IsForbidden,
}

/// A receiver that follows a script, and takes everything behind its end.
#[derive(Clone)]
pub(crate) struct Receiver(Arc<Mutex<State>>);

struct State {
    script: VecDeque<Does>,
    then: Does,
    attempts: Vec<Attempt>,
}

/// One attempt as the receiver saw it.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) at: Instant,
    pub(crate) url: String,
    pub(crate) id: String,
    pub(crate) authorization: Option<String>,
    pub(crate) token: Option<String>,
    pub(crate) body: Value,
    pub(crate) taken: bool,
}

impl Receiver {
    pub(crate) fn new(script: impl IntoIterator<Item = Does>) -> Self {
        Self::ending(script, Does::Takes)
    }

    pub(crate) fn ending(script: impl IntoIterator<Item = Does>, then: Does) -> Self {
        Self(Arc::new(Mutex::new(State {
            script: script.into_iter().collect(),
            then,
            attempts: Vec::new(),
        })))
    }

    pub(crate) fn attempts(&self) -> Vec<Attempt> {
        self.0.lock().unwrap().attempts.clone()
    }

    /// The states and artifacts that were taken, in order.
    pub(crate) fn taken(&self) -> Vec<String> {
        let attempts = self.attempts();
        attempts
            .iter()
            .filter(|attempt| attempt.taken)
            .map(|attempt| named(&attempt.body))
            .collect()
    }

    /// Waits until so many attempts were made.
    pub(crate) async fn attempted(&self, count: usize) {
        for _ in 0..100_000 {
            if self.attempts().len() >= count {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("{} attempts, not {count}", self.attempts().len());
    }
}

/// `COMPLETED`, or the text of an artifact.
pub(crate) fn named(body: &Value) -> String {
    let state = body.pointer("/statusUpdate/status/state");
    let text = body.pointer("/artifactUpdate/artifact/parts/0/text");
    let name = state.or(text).and_then(Value::as_str).unwrap_or("?");
    name.trim_start_matches("TASK_STATE_").to_owned()
}

impl Deliver for Receiver {
    fn deliver(&self, delivery: Delivery) -> DeliveryFuture {
        let state = Arc::clone(&self.0);
        Box::pin(async move {
            let (does, at) = {
                let mut state = state.lock().unwrap();
                let then = state.then;
                let does = state.script.pop_front().unwrap_or(then);
                let attempt = Attempt {
                    at: Instant::now(),
                    url: delivery.url().to_owned(),
                    id: delivery.id().to_owned(),
                    authorization: delivery.authorization().map(str::to_owned),
                    token: delivery.token().map(str::to_owned),
                    body: serde_json::from_str(delivery.body()).unwrap(),
                    taken: false,
                };
                state.attempts.push(attempt);
                (does, state.attempts.len() - 1)
            };
            match does {
                Does::Takes => {}
                Does::TakesAfter(delay) => tokio::time::sleep(delay).await,
                Does::Answers(status) => return Outcome::of_status(status, None),
                Does::AsksToWait(status, delay) => return Outcome::of_status(status, Some(delay)),
                Does::Hangs => std::future::pending().await,
                Does::Panics => panic!("the client panics"),
                Does::IsForbidden => return Outcome::Forbidden,
            }
            state.lock().unwrap().attempts[at].taken = true;
            Outcome::Delivered
        })
    }
}

/// Works, says `a` and `b`, completes; by its text it may wait before each, or ask.
pub(crate) async fn work(cx: RequestContext, out: Emitter<Emission>) {
    let text = cx.message().text();
    let pause = || tokio::time::sleep(Duration::from_secs(if text == "slow" { 60 } else { 0 }));
    if text == "quick" {
        out.emit(cx.status(TaskState::Completed)).await;
        return;
    }
    if text == "message" {
        out.emit(cx.answer([Part::text("just this")])).await;
        return;
    }
    out.emit(cx.status(TaskState::Working)).await;
    for piece in ["a", "b"] {
        pause().await;
        out.emit(cx.artifact(Artifact::text(piece, piece))).await;
    }
    pause().await;
    if text == "ask" {
        out.emit(cx.status(TaskState::InputRequired)).await;
        return;
    }
    out.emit(cx.status(TaskState::Completed)).await;
}

pub(crate) const ALL: [&str; 4] = ["WORKING", "a", "b", "COMPLETED"];

pub(crate) fn card() -> AgentCard {
    AgentCard::new(
        "a",
        "a",
        AgentInterface::json_rpc("https://agent.example.com/"),
    )
}

/// A server, and what it works with.
pub(crate) struct Rig {
    pub(crate) server: Server,
    pub(crate) receiver: Receiver,
    pub(crate) store: Arc<dyn PushStore>,
    pub(crate) log: Arc<dyn TaskLog>,
}

impl Rig {
    pub(crate) fn new(receiver: Receiver) -> Self {
        Self::with(receiver, PushLimits::default())
    }

    pub(crate) fn with(receiver: Receiver, limits: PushLimits) -> Self {
        let (log, store) = (Arc::new(MemoryLog::new()), Arc::new(MemoryPushStore::new()));
        Self::over(receiver, limits, log, store)
    }

    /// A server over stores that were there before.
    pub(crate) fn over(
        receiver: Receiver,
        limits: PushLimits,
        log: Arc<dyn TaskLog>,
        store: Arc<dyn PushStore>,
    ) -> Self {
        let push = Push::new(receiver.clone()).store(Arc::clone(&store));
        let mut all = Limits::default();
        all.push = limits;
        let server = Server::builder(executor_fn(work), card())
            .log(Arc::clone(&log))
            .push(push)
            .limits(all)
            .ids(SequentialIds::new())
            .build();
        Self {
            server,
            receiver,
            store,
            log,
        }
    }

    pub(crate) async fn call(&self, method: &str, params: Value) -> Result<Value, Error> {
        self.call_as(&Caller::new(), method, params).await
    }

    pub(crate) async fn call_as(
        &self,
        caller: &Caller,
        method: &str,
        params: Value,
    ) -> Result<Value, Error> {
        let params = params.to_string();
        match self.server.handle(caller, method, Some(&params)).await? {
            Response::Answer(answer) => Ok(serde_json::to_value(&answer).unwrap()),
            Response::Stream(mut frames) => {
                let mut all = Vec::new();
                while let Some(frame) = frames.next().await {
                    all.push(serde_json::from_str(frame?.json()).unwrap());
                }
                Ok(Value::Array(all))
            }
        }
    }

    /// Sends a message with a webhook.
    pub(crate) async fn send(&self, text: &str) -> Value {
        let params = sending(text, &json!({"url": "https://hooks.example.net/a"}));
        self.call("SendMessage", params).await.unwrap()
    }

    pub(crate) async fn list(&self, task: &str) -> Vec<Value> {
        let params = json!({ "taskId": task });
        let listed = self.call("ListTaskPushNotificationConfigs", params).await;
        listed.unwrap()["configs"].as_array().unwrap().clone()
    }
}

pub(crate) fn sending(text: &str, webhook: &Value) -> Value {
    json!({
        "message": {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": text}]},
        "configuration": {"taskPushNotificationConfig": webhook},
    })
}

pub(crate) fn user(name: &str) -> Caller {
    let principal = Principal::new("user", "https://issuer.example.com", name);
    Caller::new().with_principal(Some(principal))
}
