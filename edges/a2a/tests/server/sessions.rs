//! Messages to a running task, through the control plane of its session (A2A-OP-25, design 5).

use std::sync::{Arc, Mutex};

use portcullis::{
    AgentEvent, Emitter, Failure, Inbox, Prompt, Scope, SessionControl, TurnLayer, agent_fn,
    conformance::FakeSessionControl,
};
use portcullis_a2a::{
    log::{MemoryLog, RecordKind, Seq, TaskKey, TaskLog},
    model::ErrorKind,
    server::{Caller, Coalescing, Server},
};
use serde_json::{Value, json};
use tower::Layer;

use crate::support::{call, call_as, card, follow_up, refused, send, server_of, state_of, user};

/// Reads prompts and repeats them, until one says that it is enough. Says its session first.
async fn steered(scope: Scope, _: Prompt, out: Emitter) -> Result<(), Failure> {
    let mut inbox = Inbox::take(&scope);
    out.emit(AgentEvent::text(scope.session())).await;
    while let Some(inbox) = &mut inbox {
        let Some(prompt) = inbox.next().await else {
            break;
        };
        out.emit(AgentEvent::thinking("hm")).await;
        out.emit(AgentEvent::text(prompt.as_text())).await;
        if prompt.as_text() == "enough" {
            break;
        }
    }
    Ok(())
}

/// Works for ever, and reads nothing.
async fn deaf(_: Scope, prompt: Prompt, out: Emitter) -> Result<(), Failure> {
    if prompt.as_text() == "silent" {
        std::future::pending::<()>().await;
    }
    out.emit(AgentEvent::text("a")).await;
    std::future::pending().await
}

fn immediately(text: &str) -> Value {
    let mut params = send(text);
    params["configuration"] = json!({"returnImmediately": true});
    params
}

fn at_once(mut params: Value) -> Value {
    params["configuration"] = json!({"returnImmediately": true});
    params
}

/// The texts of the history.
fn history(task: &Value) -> Vec<String> {
    let history = task["history"].as_array().expect("a history");
    let texts = history
        .iter()
        .map(|message| message["parts"][0]["text"].as_str());
    texts.map(|text| text.expect("a text").to_owned()).collect()
}

async fn task_of(server: &Server, id: &str) -> Value {
    call(server, "GetTask", json!({"id": id})).await
}

/// Until the turn has said something.
async fn begun(server: &Server, id: &str) {
    while task_of(server, id).await["artifacts"].is_null() {
        tokio::task::yield_now().await;
    }
}

/// O-H07: once, in order, and before what it leads to.
#[tokio::test]
async fn a_steer_is_in_the_history_once_and_in_order() {
    let control = FakeSessionControl::new();
    let agent = TurnLayer::new(control.clone()).layer(agent_fn(steered));
    let log = Arc::new(MemoryLog::new());
    let builder = Server::agent_builder(agent, card())
        .log(log.clone())
        .coalescing(Coalescing::NONE)
        .session_control(Arc::new(control.clone()));
    let server = server_of(builder);
    call(&server, "SendMessage", immediately("first")).await;
    begun(&server, "t-1").await;
    for (id, text) in [("m-2", "second"), ("m-3", "third")] {
        let task = call(&server, "SendMessage", at_once(follow_up("t-1", id, text))).await;
        assert_eq!(
            history(&task["task"]).last().map(String::as_str),
            Some(text)
        );
    }
    let task = call(&server, "SendMessage", follow_up("t-1", "m-4", "enough")).await;
    assert_eq!(state_of(&task), "TASK_STATE_COMPLETED");
    assert_eq!(
        history(&task["task"]),
        ["first", "second", "third", "enough"]
    );
    // In the log each stands before the text that it has led to.
    let key = TaskKey::new(Caller::new().owner(), "t-1");
    let records = log
        .read(&key, Seq::ZERO, 1000)
        .await
        .expect("it is in memory")
        .expect("it is there");
    let place = |kind: RecordKind, text: &str| {
        let text = format!("\"{text}\"");
        let is = |record: &&portcullis_a2a::log::Record| {
            record.kind() == kind && record.json().contains(&text)
        };
        records
            .iter()
            .filter(is)
            .map(|record| record.seq())
            .collect::<Vec<_>>()
    };
    for text in ["second", "third", "enough"] {
        let said = place(RecordKind::Message, text);
        let led_to = place(RecordKind::MergingArtifact, text);
        assert_eq!((said.len(), led_to.len()), (1, 1), "{text}");
        assert!(said < led_to, "{text}");
    }
    assert!(!control.state("c-1").await.running);
}

/// What does not take a message says so, and nothing of it stays.
#[tokio::test]
async fn refusals_are_told_and_leave_nothing() {
    let control = FakeSessionControl::new();
    let agent = TurnLayer::new(control.clone()).layer(agent_fn(deaf));
    let builder = Server::agent_builder(agent, card());
    let server = server_of(builder.session_control(Arc::new(control.clone())));
    call(&server, "SendMessage", immediately("first")).await;
    begun(&server, "t-1").await;
    // It cannot be steered: a follow-up.
    for message in 0..16 {
        let id = format!("m-{message}");
        call(
            &server,
            "SendMessage",
            at_once(follow_up("t-1", &id, "more")),
        )
        .await;
    }
    let error = refused(&server, "SendMessage", follow_up("t-1", "m-x", "too much")).await;
    assert_eq!(error.kind(), ErrorKind::ResourceExhausted);
    assert_eq!(error.message(), "Too many messages wait for the task");
    assert_eq!(history(&task_of(&server, "t-1").await).len(), 17);
    assert_eq!(control.state("c-1").await.fates.len(), 16);
    // Nobody reaches a turn that does not run through the plane.
    let elsewhere = Arc::new(FakeSessionControl::new());
    let builder = Server::agent_builder(agent_fn(deaf), card());
    let server = server_of(builder.session_control(elsewhere));
    call(&server, "SendMessage", immediately("first")).await;
    begun(&server, "t-1").await;
    let error = refused(&server, "SendMessage", follow_up("t-1", "m-2", "hello?")).await;
    assert_eq!(error.kind(), ErrorKind::UnsupportedOperation);
    assert_eq!(history(&task_of(&server, "t-1").await), ["first"]);
}

/// Ruling 18: the session is that of the turn, whoever asks. Nobody else reaches it.
#[tokio::test]
async fn the_session_of_a_message_is_that_of_the_turn() {
    let control = FakeSessionControl::new();
    let agent = TurnLayer::new(control.clone()).layer(agent_fn(steered));
    let builder = Server::agent_builder(agent, card());
    let server = server_of(builder.session_control(Arc::new(control.clone())));
    let (alice, bob) = (user("alice"), user("bob"));
    call_as(&server, &alice, "SendMessage", &immediately("first"))
        .await
        .expect("opened");
    let session = loop {
        let task = call_as(&server, &alice, "GetTask", &json!({"id": "t-1"})).await;
        let task = task.expect("it is hers");
        if let Some(text) = task["artifacts"][0]["parts"][0]["text"].as_str() {
            break text.to_owned();
        }
        tokio::task::yield_now().await;
    };
    assert!(session.starts_with("ctx:"), "{session}");
    let message = follow_up("t-1", "m-2", "enough");
    let error = call_as(&server, &bob, "SendMessage", &message)
        .await
        .expect_err("not his");
    assert_eq!(error.kind(), ErrorKind::TaskNotFound);
    assert!(control.state(&session).await.fates.is_empty());
    let task = call_as(&server, &alice, "SendMessage", &message)
        .await
        .expect("taken");
    assert_eq!(state_of(&task), "TASK_STATE_COMPLETED");
    assert_eq!(control.state(&session).await.fates.len(), 1);
}

/// The control plane knows sessions. A message to one task does not go to the turn of another one of
/// the same conversation.
#[tokio::test]
async fn a_message_reaches_no_other_task_of_the_conversation() {
    let control = FakeSessionControl::new();
    let agent = TurnLayer::new(control.clone()).layer(agent_fn(deaf));
    let builder = Server::agent_builder(agent, card());
    let server = server_of(builder.session_control(Arc::new(control.clone())));
    let in_context = |text: &str| {
        let mut params = immediately(text);
        params["message"]["contextId"] = json!("c-mine");
        params
    };
    // The second one waits: as at a session gate, it has said nothing.
    call(&server, "SendMessage", in_context("first")).await;
    begun(&server, "t-1").await;
    call(&server, "SendMessage", in_context("silent")).await;
    let error = refused(
        &server,
        "SendMessage",
        follow_up("t-2", "m-2", "for the second"),
    )
    .await;
    assert_eq!(error.kind(), ErrorKind::UnsupportedOperation);
    assert!(control.state("c-mine").await.fates.is_empty());
    let message = at_once(follow_up("t-1", "m-3", "for the first"));
    call(&server, "SendMessage", message.clone()).await;
    assert_eq!(control.state("c-mine").await.fates.len(), 1);
    // Two that both speak cannot be told apart.
    call(&server, "SendMessage", in_context("third")).await;
    begun(&server, "t-3").await;
    for task in ["t-1", "t-3"] {
        let error = refused(&server, "SendMessage", follow_up(task, "m-4", "for whom?")).await;
        assert_eq!(error.kind(), ErrorKind::UnsupportedOperation);
    }
    // When the others are gone it is reached again.
    for task in ["t-2", "t-3"] {
        call(&server, "CancelTask", json!({"id": task})).await;
    }
    assert_eq!(
        state_of(&task_of(&server, "t-1").await),
        "TASK_STATE_WORKING"
    );
}

#[tokio::test]
async fn a_task_that_was_told_something_can_be_canceled() {
    let control = FakeSessionControl::new();
    let said = Arc::new(Mutex::new(0));
    let alive = Arc::clone(&said);
    let agent = agent_fn(move |scope: Scope, prompt: Prompt, out: Emitter| {
        let alive = Arc::clone(&alive);
        async move {
            let _alive = scopeguard(alive);
            deaf(scope, prompt, out).await
        }
    });
    let agent = TurnLayer::new(control.clone()).layer(agent);
    let builder = Server::agent_builder(agent, card());
    let server = server_of(builder.session_control(Arc::new(control.clone())));
    call(&server, "SendMessage", immediately("first")).await;
    begun(&server, "t-1").await;
    call(
        &server,
        "SendMessage",
        at_once(follow_up("t-1", "m-2", "more")),
    )
    .await;
    assert_eq!(*said.lock().expect("not poisoned"), 1);
    let task = call(&server, "CancelTask", json!({"id": "t-1"})).await;
    assert_eq!(state_of(&task), "TASK_STATE_CANCELED");
    assert_eq!(*said.lock().expect("not poisoned"), 0, "the agent is gone");
    assert_eq!(history(&task), ["first", "more"]);
    let state = control.state("c-1").await;
    assert!(!state.running);
    assert_eq!(state.fates[0].1, portcullis::Fate::Dropped);
    let error = refused(&server, "SendMessage", follow_up("t-1", "m-3", "late")).await;
    assert_eq!(error.kind(), ErrorKind::UnsupportedOperation);
}

/// Counts up, and down when it is dropped.
fn scopeguard(count: Arc<Mutex<usize>>) -> impl Drop {
    struct Down(Arc<Mutex<usize>>);
    impl Drop for Down {
        fn drop(&mut self) {
            *self.0.lock().expect("not poisoned") -= 1;
        }
    }
    *count.lock().expect("not poisoned") += 1;
    Down(count)
}
