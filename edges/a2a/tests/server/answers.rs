//! Messages that continue a task: each begins one turn, and no turn is without its message.

use std::{sync::Arc, time::Duration};

use portcullis::Emitter;
use portcullis_a2a::{
    log::MemoryLog,
    model::{ErrorKind, TaskState},
    server::{Caller, Emission, Limits, RequestContext, Server, executor_fn},
};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::{
    log_faults::Flaky,
    support::{
        Alive, call, call_as, card, follow_up, refused, scripted, send, server_of, state_of,
    },
};

/// Asks, and says nothing for a second when it is answered.
async fn slow_to_answer(cx: RequestContext, out: Emitter<Emission>) {
    if cx.task().is_none() {
        out.emit(cx.status(TaskState::InputRequired)).await;
    } else {
        sleep(Duration::from_secs(1)).await;
        out.emit(cx.status(TaskState::Completed)).await;
    }
}

fn ids<'a>(task: &'a Value) -> Vec<&'a str> {
    let task = task.get("task").unwrap_or(task);
    let history = task["history"].as_array().expect("history");
    let id = |message: &'a Value| message["messageId"].as_str().expect("an id");
    history.iter().map(id).collect()
}

/// How long a server that is gone keeps its tasks, by the clock of the system.
const LEASE: Duration = Duration::from_millis(5);

fn immediately(mut params: Value) -> Value {
    params["configuration"] = json!({"returnImmediately": true});
    params
}

// A2A-OP-25, O-L11: the task still shows the question, but somebody has answered it.
#[tokio::test(start_paused = true)]
async fn of_two_answers_one_is_taken() {
    let log = Flaky::new();
    for slow in [false, true] {
        log.slow_down(slow);
        let builder = Server::builder(executor_fn(slow_to_answer), card()).log(log.clone());
        let server = builder.build();
        let task = call(&server, "SendMessage", send("x")).await;
        let id = task["task"]["id"].as_str().expect("an id");
        let answer = async |number: &str| {
            let caller = Caller::new();
            call_as(&server, &caller, "SendMessage", &follow_up(id, number, "y")).await
        };
        let (one, two) = tokio::join!(answer("m-2"), answer("m-3"));
        let task = one.expect("the first one");
        assert_eq!(state_of(&task["task"]), "TASK_STATE_COMPLETED");
        assert_eq!(ids(&task), ["m-1", "m-2"]);
        let refusal = two.expect_err("the other one");
        assert_eq!(refusal.kind(), ErrorKind::UnsupportedOperation);
    }
}

// A2A-OP-34: whoever leaves stops nothing, also while the message is stored.
#[tokio::test(start_paused = true)]
async fn an_answer_whose_caller_leaves_is_answered() {
    let log = Flaky::new();
    let builder = Server::builder(executor_fn(slow_to_answer), card()).log(log.clone());
    let server = server_of(builder);
    call(&server, "SendMessage", send("x")).await;
    log.slow_down(true);
    let answer = call(&server, "SendMessage", follow_up("t-1", "m-2", "y"));
    assert!(timeout(Duration::from_millis(500), answer).await.is_err());
    sleep(Duration::from_secs(10)).await;
    let task = call(&server, "GetTask", json!({"id": "t-1"})).await;
    assert_eq!(state_of(&task), "TASK_STATE_COMPLETED");
    assert_eq!(ids(&task), ["m-1", "m-2"]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_without_a_place_is_not_stored() {
    let mut limits = Limits::default();
    limits.running_turns = 1;
    let server = server_of(Server::builder(executor_fn(scripted), card()).limits(limits));
    call(&server, "SendMessage", send("ask")).await;
    call(&server, "SendMessage", immediately(send("work hang"))).await;
    let answer = follow_up("t-1", "m-2", "complete");
    let refusal = refused(&server, "SendMessage", answer.clone()).await;
    assert_eq!(refusal.kind(), ErrorKind::Unavailable);
    let task = call(&server, "GetTask", json!({"id": "t-1"})).await;
    assert_eq!(ids(&task), ["m-1"]);
    call(&server, "CancelTask", json!({"id": "t-2"})).await;
    let task = call(&server, "SendMessage", answer).await;
    assert_eq!(state_of(&task["task"]), "TASK_STATE_COMPLETED");
}

// O-L18: the question is an earlier turn's, and no leave to be silent.
#[tokio::test(start_paused = true)]
async fn a_turn_that_answers_may_not_be_silent_for_ever() {
    let alive = Alive::default();
    let lives = alive.clone();
    let executor = executor_fn(move |cx: RequestContext, out: Emitter<Emission>| {
        let life = lives.begin();
        async move {
            let _life = life;
            scripted(cx, out).await;
        }
    });
    let server = server_of(Server::builder(executor, card()));
    call(&server, "SendMessage", send("ask")).await;
    let answer = immediately(follow_up("t-1", "m-2", "hang"));
    call(&server, "SendMessage", answer).await;
    assert_eq!(alive.count(), 1);
    sleep(Duration::from_secs(60 * 60 + 1)).await;
    let task = call(&server, "GetTask", json!({"id": "t-1"})).await;
    assert_eq!(state_of(&task), "TASK_STATE_FAILED");
    assert_eq!(alive.count(), 0);
}

// A2A-OP-117: nobody could go on with it, since it belongs to a process that is gone.
#[tokio::test(start_paused = true)]
async fn an_answer_that_lost_its_process_fails_its_task() {
    let log = Arc::new(MemoryLog::new());
    let over = |log: &Arc<MemoryLog>| {
        let mut limits = Limits::default();
        limits.lease = LEASE;
        let builder = Server::builder(executor_fn(scripted), card()).log(log.clone());
        server_of(builder.limits(limits))
    };
    let server = over(&log);
    call(&server, "SendMessage", send("ask")).await;
    let answer = immediately(follow_up("t-1", "m-2", "hang"));
    call(&server, "SendMessage", answer).await;
    drop(server);
    std::thread::sleep(LEASE * 2);
    let server = over(&log);
    assert_eq!(server.recover().await.expect("taken up"), 1);
    let task = call(&server, "GetTask", json!({"id": "t-1"})).await;
    assert_eq!(state_of(&task), "TASK_STATE_FAILED");
}

// Ruling 13: the agent wants none now; the task waits for the next one, in any process.
#[tokio::test(start_paused = true)]
async fn an_answer_that_is_refused_leaves_the_task_as_it_was() {
    use portcullis::views::InputRequired;
    use portcullis::{AgentEvent, Completed, Failure, FailureCode, Prompt, agent_fn};

    let log = Arc::new(MemoryLog::new());
    let agent = agent_fn(async |_, prompt: Prompt, out: Emitter| {
        match prompt.as_text() {
            "ask" => out.emit(InputRequired::new("Which one?")).await,
            "not now" => return Err(Failure::with_code(FailureCode::OVERLOADED, "later")),
            text => out.emit(AgentEvent::text(text)).await,
        }
        Ok(Completed::new())
    });
    let over = |log: &Arc<MemoryLog>| {
        let mut limits = Limits::default();
        limits.lease = LEASE;
        let builder = Server::agent_builder(agent.clone(), card()).log(log.clone());
        server_of(builder.limits(limits))
    };
    let server = over(&log);
    call(&server, "SendMessage", send("ask")).await;
    let refusal = refused(&server, "SendMessage", follow_up("t-1", "m-2", "not now")).await;
    assert_eq!(refusal.kind(), ErrorKind::Unavailable);
    drop(server);
    std::thread::sleep(LEASE * 2);
    let server = over(&log);
    assert_eq!(server.recover().await.expect("nothing"), 0);
    let task = call(&server, "SendMessage", follow_up("t-1", "m-3", "now")).await;
    assert_eq!(state_of(&task["task"]), "TASK_STATE_COMPLETED");
}
