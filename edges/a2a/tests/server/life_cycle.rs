//! Task life cycle (O-L*), disconnects (O-D*).

use std::{sync::Arc, time::Duration};

use futures_util::StreamExt;
use portcullis::{Emitter, Failure};
use portcullis_a2a::{
    log::{MemoryLog, TaskLog},
    model::{Artifact, ErrorKind, TaskState},
    server::{Caller, Emission, Limits, RequestContext, Server, executor_fn},
};
use serde_json::{Value, json};

use crate::support::{
    Alive, call, call_as, card, collect, echo, follow_up, next, open_stream, refused, scripted,
    scripted_server, send, server_of, state_of, states,
};

fn immediately(text: &str) -> Value {
    let mut params = send(text);
    params["configuration"] = json!({"returnImmediately": true});
    params
}

async fn settled(server: &Server, id: &str) -> Value {
    loop {
        let task = call(server, "GetTask", json!({"id": id})).await;
        if !matches!(
            state_of(&task),
            "TASK_STATE_SUBMITTED" | "TASK_STATE_WORKING"
        ) {
            return task;
        }
        tokio::task::yield_now().await;
    }
}

// O-L01, A2A-OP-56.
#[tokio::test]
async fn the_first_frame_is_the_task() {
    for text in [
        "work complete",
        "complete",
        "artifact complete",
        "yield work yield complete",
    ] {
        let frames = call(&scripted_server(), "SendStreamingMessage", send(text)).await;
        let frames = frames.as_array().expect("frames");
        assert_eq!(state_of(&frames[0]), "TASK_STATE_SUBMITTED", "{text}");
        assert!(frames[1..].iter().all(|frame| frame.get("task").is_none()));
        assert_eq!(
            state_of(frames.last().expect("frames")),
            "TASK_STATE_COMPLETED"
        );
    }
}

// O-L04, A2A-OP-87, EX-12: ten at once; the watcher sees one CANCELED.
#[tokio::test]
async fn canceling_twice_is_canceling_once() {
    let server = scripted_server();
    let mut frames = open_stream(&server, "SendStreamingMessage", send("work hang")).await;
    next(&mut frames).await;
    next(&mut frames).await;
    let cancels = (0..10).map(|_| call(&server, "CancelTask", json!({"id": "t-1"})));
    let answers = futures_util::future::join_all(cancels).await;
    for answer in &answers {
        assert_eq!(state_of(answer), "TASK_STATE_CANCELED");
        assert_eq!(answer, &answers[0]);
    }
    // O-L14: the answer is the task after the cancel.
    assert_eq!(
        call(&server, "GetTask", json!({"id": "t-1"})).await,
        answers[0]
    );
    assert_eq!(states(&collect(frames).await), ["CANCELED"]);
}

#[tokio::test]
async fn cancel_drops_the_turn_before_it_answers() {
    let alive = Alive::default();
    let lives = alive.clone();
    let executor = executor_fn(move |cx: RequestContext, out: Emitter<Emission>| {
        let life = lives.begin();
        async move {
            let _life = life;
            out.emit(cx.status(TaskState::Working)).await;
            std::future::pending::<()>().await;
        }
    });
    let server = server_of(Server::builder(executor, card()));
    call(&server, "SendMessage", immediately("x")).await;
    assert_eq!(alive.count(), 1);
    call(&server, "CancelTask", json!({"id": "t-1"})).await;
    assert_eq!(alive.count(), 0);
}

// A2A-OP-89: who cannot stop now is asked to, and until it has the task is as it was.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_that_cannot_stop_now_stops_later() {
    let (let_go, held) = std::sync::mpsc::channel::<()>();
    let held = Arc::new(std::sync::Mutex::new(held));
    let turn = Arc::new(tokio::sync::Barrier::new(2));
    let meets = Arc::clone(&turn);
    let keeps = Arc::new(tokio::sync::Notify::new());
    let kept = Arc::clone(&keeps);
    let executor = executor_fn(move |cx: RequestContext, out: Emitter<Emission>| {
        let (held, turn, kept) = (Arc::clone(&held), Arc::clone(&meets), Arc::clone(&kept));
        async move {
            out.emit(cx.status(TaskState::Working)).await;
            turn.wait().await;
            // It keeps its thread, as code that does not wait for anybody does.
            tokio::task::block_in_place(|| {
                kept.notify_one();
                held.lock().expect("not poisoned").recv()
            })
            .expect("the test lets go");
            std::future::pending::<()>().await;
        }
    });
    let mut limits = Limits::default();
    limits.cancel_wait = Duration::from_millis(20);
    let server = server_of(Server::builder(executor, card()).limits(limits));
    let mut frames = open_stream(&server, "SendStreamingMessage", send("x")).await;
    next(&mut frames).await;
    next(&mut frames).await;
    turn.wait().await;
    keeps.notified().await;
    let task = call(&server, "CancelTask", json!({"id": "t-1"})).await;
    assert_eq!(state_of(&task), "TASK_STATE_WORKING");
    let_go.send(()).expect("it waits");
    assert_eq!(states(&collect(frames).await), ["CANCELED"]);
    let task = call(&server, "GetTask", json!({"id": "t-1"})).await;
    assert_eq!(state_of(&task), "TASK_STATE_CANCELED");
}

// A2A-OP-88.
#[tokio::test]
async fn a_waiting_task_is_canceled_directly() {
    for text in ["ask", "auth"] {
        let server = scripted_server();
        call(&server, "SendMessage", send(text)).await;
        let frames = open_stream(&server, "SubscribeToTask", json!({"id": "t-1"})).await;
        let task = call(&server, "CancelTask", json!({"id": "t-1"})).await;
        assert_eq!(state_of(&task), "TASK_STATE_CANCELED");
        assert_eq!(states(&collect(frames).await)[1..], ["CANCELED"]);
        // The question has become history (A2A-OP-42).
        assert_eq!(task["history"].as_array().expect("history").len(), 2);
    }
}

// O-L06: agents that never wait, on two threads.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fast_agents_lose_nothing() {
    let server = Server::new(executor_fn(echo), card());
    for _ in 0..300 {
        let frames = call(&server, "SendStreamingMessage", send("x")).await;
        let frames = frames.as_array().expect("frames").clone();
        assert_eq!(states(&frames), ["SUBMITTED", "WORKING", "COMPLETED"]);
        assert_eq!(frames.len(), 4);
        // O-L15: what a stream has told, GetTask does not take back.
        let id = frames[0]["task"]["id"].clone();
        let task = call(&server, "GetTask", json!({"id": id})).await;
        assert_eq!(state_of(&task), "TASK_STATE_COMPLETED");
    }
    for _ in 0..300 {
        let task = call(&server, "SendMessage", send("x")).await;
        assert_eq!(state_of(&task), "TASK_STATE_COMPLETED");
        assert_eq!(
            task["task"]["artifacts"]
                .as_array()
                .expect("artifacts")
                .len(),
            1
        );
    }
}

async fn failing(cx: RequestContext, out: Emitter<Emission>) -> Result<(), Failure> {
    match cx.message().text().as_str() {
        "at once" => Err(Failure::new("no tickets left")),
        "after one" => {
            out.emit(cx.status(TaskState::Working)).await;
            Err(Failure::new("no tickets left"))
        }
        "bare end" => {
            out.emit(cx.status(TaskState::Working)).await;
            Ok(())
        }
        "nothing" => Ok(()),
        "panic" => panic!("password=x host=db"),
        "internal" => Err(Failure::internal("password=x host=db")),
        other => panic!("{other}"),
    }
}

// O-L07, O-J08, O-A03, A2A-OP-117: in all combinations, with a text that is fit to read.
#[tokio::test(start_paused = true)]
async fn a_turn_that_breaks_fails_its_task() {
    for (text, says) in [
        ("at once", "no tickets left"),
        ("after one", "no tickets left"),
        ("bare end", "The agent ended without a result."),
        ("nothing", "The agent ended without a result."),
        ("panic", "The agent failed. Reference: ref-1"),
        ("internal", "The agent failed. Reference: ref-1"),
    ] {
        let failed = |task: &Value| {
            assert_eq!(state_of(task), "TASK_STATE_FAILED", "{text}");
            let status = task.get("statusUpdate").unwrap_or(task)["status"].clone();
            let message = &status["message"];
            assert_eq!(message["parts"], json!([{"text": says}]), "{text}");
            assert_eq!(message["role"], "ROLE_AGENT");
            assert_eq!(message["taskId"], "t-1");
        };
        let new = || server_of(Server::builder(executor_fn(failing), card()));
        failed(&call(&new(), "SendMessage", send(text)).await["task"]);
        let frames = call(&new(), "SendStreamingMessage", send(text)).await;
        let frames = frames.as_array().expect("frames");
        assert_eq!(state_of(&frames[0]), "TASK_STATE_SUBMITTED");
        failed(frames.last().expect("frames"));
        let server = new();
        call(&server, "SendMessage", immediately(text)).await;
        failed(&settled(&server, "t-1").await);
    }
}

// O-L08, A2A-OP-29, A2A-OP-60.
#[tokio::test]
async fn waiting_for_the_caller_ends_a_call_and_a_stream() {
    let server = scripted_server();
    let frames = call(&server, "SendStreamingMessage", send("work ask")).await;
    let frames = frames.as_array().expect("frames");
    assert_eq!(states(frames), ["SUBMITTED", "WORKING", "INPUT_REQUIRED"]);
    let frames = call(
        &server,
        "SendStreamingMessage",
        follow_up("t-1", "m-2", "work complete"),
    )
    .await;
    let frames = frames.as_array().expect("frames");
    // The task as it is, with the answer in its history (A2A-OP-56).
    assert_eq!(states(frames), ["INPUT_REQUIRED", "WORKING", "COMPLETED"]);
    assert_eq!(
        frames[0]["task"]["history"]
            .as_array()
            .expect("history")
            .len(),
        3
    );
    let task = call(&server, "GetTask", json!({"id": "t-1"})).await;
    let ids: Vec<_> = task["history"]
        .as_array()
        .expect("history")
        .iter()
        .map(|message| message["messageId"].as_str().expect("an id"))
        .collect();
    assert_eq!(ids, ["m-1", "m-a1", "m-2"]);
}

// A2A-OP-60: a subscriber stays over the question; O-L17: while nobody runs.
#[tokio::test]
async fn a_subscriber_stays_over_the_question() {
    let server = scripted_server();
    call(&server, "SendMessage", send("ask")).await;
    let mut one = open_stream(&server, "SubscribeToTask", json!({"id": "t-1"})).await;
    let mut gone = open_stream(&server, "SubscribeToTask", json!({"id": "t-1"})).await;
    let two = open_stream(&server, "SubscribeToTask", json!({"id": "t-1"})).await;
    let first = next(&mut one).await.expect("the snapshot");
    assert_eq!(state_of(&first), "TASK_STATE_INPUT_REQUIRED");
    next(&mut gone).await;
    drop(gone);
    // Three in a row (the kit does that).
    for id in ["m-2", "m-3"] {
        call(&server, "SendMessage", follow_up("t-1", id, "ask")).await;
    }
    call(
        &server,
        "SendMessage",
        follow_up("t-1", "m-4", "work artifact complete"),
    )
    .await;
    let mut one: Vec<Value> = collect(one).await;
    one.insert(0, first);
    assert_eq!(
        states(&one),
        [
            "INPUT_REQUIRED",
            "INPUT_REQUIRED",
            "INPUT_REQUIRED",
            "WORKING",
            "COMPLETED"
        ]
    );
    // A2A-OP-66: the same to all.
    assert_eq!(collect(two).await, one);
}

#[tokio::test]
async fn a_server_may_keep_streams_open_at_a_question() {
    let builder = Server::builder(executor_fn(scripted), card()).streams_end_at_input(false);
    let server = server_of(builder);
    let frames = open_stream(&server, "SendStreamingMessage", send("ask")).await;
    call(&server, "SendMessage", follow_up("t-1", "m-2", "complete")).await;
    assert_eq!(
        states(&collect(frames).await),
        ["SUBMITTED", "INPUT_REQUIRED", "COMPLETED"]
    );
}

// O-L09, A2A-OP-46, -47.
#[tokio::test]
async fn chunks_of_an_unknown_artifact_fail_the_task() {
    let task = call(
        &scripted_server(),
        "SendMessage",
        send("work more complete"),
    )
    .await;
    assert_eq!(state_of(&task), "TASK_STATE_FAILED");
    assert!(task["task"].get("artifacts").is_none());
}

async fn rewrite(cx: RequestContext, out: Emitter<Emission>) {
    let chunk = |id: &str, text: &str| cx.artifact(Artifact::text(id, text));
    out.emit(chunk("a", "1")).await;
    out.emit(chunk("a", "2").appending()).await;
    out.emit(chunk("b", "3")).await;
    out.emit(chunk("a", "4").appending()).await;
    out.emit(chunk("a", "5")).await;
    out.emit(cx.status(TaskState::Completed)).await;
}

#[tokio::test]
async fn a_chunk_that_does_not_append_replaces() {
    let server = server_of(Server::builder(executor_fn(rewrite), card()));
    let task = call(&server, "SendMessage", send("x")).await;
    assert_eq!(
        task["task"]["artifacts"],
        json!([{"artifactId": "a", "parts": [{"text": "5"}]},
            {"artifactId": "b", "parts": [{"text": "3"}]}])
    );
}

// O-L11: the first run lingers in its cleanup while the second one works.
#[tokio::test(start_paused = true)]
async fn a_lingering_run_does_not_touch_the_next_one() {
    let executor = executor_fn(async |cx: RequestContext, out: Emitter<Emission>| {
        if cx.task().is_none() {
            out.emit(cx.status(TaskState::InputRequired)).await;
            tokio::time::sleep(Duration::from_millis(200)).await;
            // Too late: the task has gone on.
            out.emit(cx.status(TaskState::Failed)).await;
        } else {
            tokio::time::sleep(Duration::from_millis(400)).await;
            out.emit(cx.status(TaskState::Completed)).await;
        }
    });
    for _ in 0..100 {
        let server = server_of(Server::builder(executor.clone(), card()));
        call(&server, "SendMessage", send("x")).await;
        let task = call(&server, "SendMessage", follow_up("t-1", "m-2", "y")).await;
        assert_eq!(state_of(&task), "TASK_STATE_COMPLETED");
        tokio::time::sleep(Duration::from_secs(1)).await;
        let task = call(&server, "GetTask", json!({"id": "t-1"})).await;
        assert_eq!(state_of(&task), "TASK_STATE_COMPLETED");
    }
}

// O-L11: and the handle is still the second run's when the first one is gone.
#[tokio::test(start_paused = true)]
async fn the_end_of_the_first_run_does_not_let_go_of_the_second() {
    let alive = Alive::default();
    let lives = alive.clone();
    let executor = executor_fn(move |cx: RequestContext, out: Emitter<Emission>| {
        let life = lives.begin();
        async move {
            let _life = life;
            if cx.task().is_none() {
                out.emit(cx.status(TaskState::InputRequired)).await;
                tokio::time::sleep(Duration::from_millis(200)).await;
            } else {
                out.emit(cx.status(TaskState::Working)).await;
                std::future::pending::<()>().await;
            }
        }
    });
    let server = server_of(Server::builder(executor, card()));
    call(&server, "SendMessage", send("x")).await;
    let mut params = follow_up("t-1", "m-2", "y");
    params["configuration"] = json!({"returnImmediately": true});
    call(&server, "SendMessage", params).await;
    assert_eq!(alive.count(), 2);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(alive.count(), 1);
    let task = call(&server, "CancelTask", json!({"id": "t-1"})).await;
    assert_eq!(state_of(&task), "TASK_STATE_CANCELED");
    assert_eq!(alive.count(), 0);
}

// O-W07: whatever the clock does.
#[tokio::test]
async fn the_times_of_a_task_never_go_back() {
    let start = "2026-01-15T10:00:00Z".parse().expect("a time");
    let server = Server::builder(executor_fn(scripted), card())
        .clock(portcullis_a2a::server::StepClock::new(start, -1_000))
        .build();
    let frames = call(&server, "SendStreamingMessage", send("work ask")).await;
    for frame in frames.as_array().expect("frames") {
        let status = frame.get("task").unwrap_or(&frame["statusUpdate"])["status"].clone();
        assert_eq!(status["timestamp"], "2026-01-15T10:00:00.000Z");
    }
    let id = frames[0]["task"]["id"].clone();
    let task = call(&server, "CancelTask", json!({"id": id})).await;
    assert_eq!(task["status"]["timestamp"], "2026-01-15T10:00:00.000Z");
}

// O-L13: the call returns, the run goes on, the stream stays.
#[tokio::test(start_paused = true)]
async fn waiting_for_a_credential_is_not_the_end() {
    let server = scripted_server();
    let frames = call(
        &server,
        "SendStreamingMessage",
        send("auth sleep work complete"),
    )
    .await;
    assert_eq!(
        states(frames.as_array().expect("frames")),
        ["SUBMITTED", "AUTH_REQUIRED", "WORKING", "COMPLETED"]
    );
    let task = call(&server, "SendMessage", send("auth sleep work complete")).await;
    assert_eq!(state_of(&task), "TASK_STATE_AUTH_REQUIRED");
    let id = task["task"]["id"].clone();
    tokio::time::sleep(Duration::from_secs(2)).await;
    let task = call(&server, "GetTask", json!({"id": id})).await;
    assert_eq!(state_of(&task), "TASK_STATE_COMPLETED");
}

// One that has ended in AUTH_REQUIRED is continued by a message (A2A-OP-111).
#[tokio::test]
async fn a_credential_may_come_with_a_message() {
    let server = scripted_server();
    call(&server, "SendMessage", send("auth")).await;
    let task = call(&server, "SendMessage", follow_up("t-1", "m-2", "complete")).await;
    assert_eq!(state_of(&task), "TASK_STATE_COMPLETED");
}

// O-L16.
#[tokio::test(start_paused = true)]
async fn the_blocking_answer_is_complete() {
    let server = scripted_server();
    for round in 1..=50 {
        let text = "work artifact sleep more yield more complete";
        let answer = call(&server, "SendMessage", send(text)).await;
        let id = format!("t-{round}");
        assert_eq!(
            answer["task"]["artifacts"][0]["parts"]
                .as_array()
                .expect("parts")
                .len(),
            3
        );
        assert_eq!(
            call(&server, "GetTask", json!({"id": id})).await,
            answer["task"]
        );
    }
}

// O-L18: each event begins the time anew; a question stops the clock.
#[tokio::test(start_paused = true)]
async fn a_silent_agent_fails() {
    let server = || {
        let mut limits = Limits::default();
        limits.inactivity = Some(Duration::from_millis(1_500));
        server_of(Server::builder(executor_fn(scripted), card()).limits(limits))
    };
    let task = call(
        &server(),
        "SendMessage",
        send("work sleep work sleep work hang"),
    )
    .await;
    assert_eq!(state_of(&task), "TASK_STATE_FAILED");
    let text = &task["task"]["status"]["message"]["parts"][0]["text"];
    assert_eq!(text, "The agent was silent for too long.");
    let task = call(
        &server(),
        "SendMessage",
        send("work sleep work sleep complete"),
    )
    .await;
    assert_eq!(state_of(&task), "TASK_STATE_COMPLETED");
    let server = server();
    call(
        &server,
        "SendMessage",
        send("auth sleep sleep sleep complete"),
    )
    .await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let task = call(&server, "GetTask", json!({"id": "t-1"})).await;
    assert_eq!(state_of(&task), "TASK_STATE_COMPLETED");
}

// A2A-OP-32.
#[tokio::test(start_paused = true)]
async fn a_blocking_call_does_not_wait_for_ever() {
    let server = scripted_server();
    let task = call(&server, "SendMessage", send("work hang")).await;
    assert_eq!(state_of(&task), "TASK_STATE_WORKING");
    let task = call(&server, "CancelTask", json!({"id": "t-1"})).await;
    assert_eq!(state_of(&task), "TASK_STATE_CANCELED");
}

// O-D01, A2A-OP-34: nobody stops anything by leaving.
#[tokio::test(start_paused = true)]
async fn a_caller_that_leaves_stops_nothing() {
    let server = scripted_server();
    let text = "work artifact sleep more sleep complete";
    let mut frames = open_stream(&server, "SendStreamingMessage", send(text)).await;
    next(&mut frames).await;
    drop(frames);
    let late = open_stream(&server, "SubscribeToTask", json!({"id": "t-1"})).await;
    let late = collect(late).await;
    assert_eq!(states(&late), ["WORKING", "COMPLETED"]);
    let task = call(&server, "GetTask", json!({"id": "t-1"})).await;
    assert_eq!(
        task["artifacts"][0]["parts"]
            .as_array()
            .expect("parts")
            .len(),
        2
    );
    // A blocking call that is dropped.
    let params = send(text);
    let caller = Caller::new();
    let blocking = call_as(&server, &caller, "SendMessage", &params);
    tokio::time::timeout(Duration::from_millis(500), blocking)
        .await
        .expect_err("it works for two seconds");
    tokio::time::sleep(Duration::from_secs(3)).await;
    let task = call(&server, "GetTask", json!({"id": "t-2"})).await;
    assert_eq!(state_of(&task), "TASK_STATE_COMPLETED");
}

// O-D03.
#[tokio::test]
async fn watchers_that_leave_leave_nothing() {
    let log = Arc::new(MemoryLog::new());
    let server = server_of(Server::builder(executor_fn(scripted), card()).log(log.clone()));
    call(&server, "SendMessage", immediately("work hang")).await;
    for _ in 0..1_000 {
        let mut frames = open_stream(&server, "SubscribeToTask", json!({"id": "t-1"})).await;
        next(&mut frames).await;
        let waits = tokio::time::timeout(Duration::ZERO, frames.next()).await;
        drop(waits);
    }
    assert_eq!(log.bells(), 0);
    call(&server, "CancelTask", json!({"id": "t-1"})).await;
    for _ in 0..1_000 {
        refused(&server, "SubscribeToTask", json!({"id": "t-1"})).await;
    }
    assert_eq!(log.bells(), 0);
}

// A2A-OP-67, ruling 17: nothing twice, nothing missing, wherever a watcher joins.
#[tokio::test(start_paused = true)]
async fn a_late_watcher_misses_nothing() {
    let server = scripted_server();
    let text = "work artifact sleep more sleep more sleep more complete";
    call(&server, "SendMessage", immediately(text)).await;
    let mut watchers = Vec::new();
    for _ in 0..6 {
        if let Ok(portcullis_a2a::server::Response::Stream(frames)) = server
            .handle(&Caller::new(), "SubscribeToTask", Some(r#"{"id":"t-1"}"#))
            .await
        {
            watchers.push(frames);
        }
        tokio::time::sleep(Duration::from_millis(700)).await;
    }
    assert!(watchers.len() >= 4);
    for frames in watchers {
        let frames = collect(frames).await;
        let before = frames[0]["task"]["artifacts"][0]["parts"]
            .as_array()
            .map_or(0, Vec::len);
        let after = frames
            .iter()
            .filter(|frame| frame.get("artifactUpdate").is_some())
            .count();
        assert_eq!(before + after, 4);
        assert_eq!(
            state_of(frames.last().expect("frames")),
            "TASK_STATE_COMPLETED"
        );
    }
}

// Ruling 16.
#[tokio::test(start_paused = true)]
async fn a_stream_is_resumed_where_it_broke() {
    let server = scripted_server();
    let text = "work artifact sleep more sleep complete";
    let mut frames = open_stream(&server, "SendStreamingMessage", send(text)).await;
    let mut seen = None;
    for _ in 0..2 {
        seen = frames
            .next()
            .await
            .expect("a frame")
            .expect("a frame")
            .seq();
    }
    let whole = collect(frames);
    let caller = Caller::new().resuming_after(seen.expect("a place"));
    let params = json!({"id": "t-1"});
    let resumed = call_as(&server, &caller, "SubscribeToTask", &params);
    let (whole, resumed) = tokio::join!(whole, resumed);
    let resumed = resumed.expect("it goes on");
    let resumed = resumed.as_array().expect("frames");
    // The task as it was then, and the very frames that the other one saw.
    assert_eq!(state_of(&resumed[0]), "TASK_STATE_WORKING");
    assert!(resumed[0]["task"].get("artifacts").is_none());
    assert_eq!(resumed[1..], whole[..]);
    // On a finished task only where the caller has agreed to it.
    let error = call_as(&server, &caller, "SubscribeToTask", &params)
        .await
        .expect_err("over");
    assert_eq!(error.kind(), ErrorKind::UnsupportedOperation);
}

// A2A-OP-25, A2A-OP-68: where the executor reads messages while it works.
#[tokio::test]
async fn messages_reach_a_turn_that_takes_them() {
    let executor = executor_fn(async |cx: RequestContext, out: Emitter<Emission>| {
        out.emit(cx.status(TaskState::Working)).await;
        let more = cx.next_message().await.expect("this server takes messages");
        out.emit(Artifact::text("a", more.text())).await;
        out.emit(cx.status(TaskState::Completed)).await;
    });
    let builder = Server::builder(executor, card()).takes_messages_while_working();
    let server = server_of(builder);
    call(&server, "SendMessage", immediately("x")).await;
    let task = call(&server, "SendMessage", follow_up("t-1", "m-2", "more")).await;
    assert_eq!(state_of(&task), "TASK_STATE_COMPLETED");
    assert_eq!(
        task["task"]["artifacts"][0]["parts"],
        json!([{"text": "more"}])
    );
    assert_eq!(
        task["task"]["history"].as_array().expect("history").len(),
        2
    );
}

// O-D04.
#[tokio::test(start_paused = true)]
async fn a_shutdown_ends_streams_and_bounds_turns() {
    let server = scripted_server();
    let quick = open_stream(&server, "SendStreamingMessage", send("work sleep complete")).await;
    let slow = open_stream(&server, "SendStreamingMessage", send("work hang")).await;
    let began = tokio::time::Instant::now();
    server.shut_down(Duration::from_secs(3)).await;
    assert!(began.elapsed() <= Duration::from_secs(4));
    assert_eq!(
        state_of(&call(&server, "GetTask", json!({"id": "t-1"})).await),
        "TASK_STATE_COMPLETED"
    );
    let task = call(&server, "GetTask", json!({"id": "t-2"})).await;
    assert_eq!(state_of(&task), "TASK_STATE_FAILED");
    collect(quick).await;
    collect(slow).await;
    let error = refused(&server, "SendMessage", send("complete")).await;
    assert_eq!(error.kind(), ErrorKind::Unavailable);
}

// What an executor says against the protocol (A2A-OP-44), and what is completed for it.
#[tokio::test]
async fn breaches_fail_the_task() {
    for text in ["work say", "work submit", "work more"] {
        let task = call(&scripted_server(), "SendMessage", send(text)).await;
        assert_eq!(state_of(&task), "TASK_STATE_FAILED", "{text}");
        let says = task["task"]["status"]["message"]["parts"][0]["text"].clone();
        assert_eq!(says, "The agent failed. Reference: ref-1");
    }
    // After the end nothing counts (O-L10).
    for text in ["complete fail", "complete work artifact", "cancel complete"] {
        let frames = call(&scripted_server(), "SendStreamingMessage", send(text)).await;
        assert_eq!(frames.as_array().expect("frames").len(), 2, "{text}");
    }
    let foreign = executor_fn(async |cx: RequestContext, out: Emitter<Emission>| {
        if cx.message().text() == "task" {
            out.emit(cx.status(TaskState::Working)).await;
            let status = cx.status(TaskState::Completed).status;
            let other = portcullis_a2a::model::Task::new("t-other", "", status);
            out.emit(other).await;
        } else {
            out.emit(cx.status(TaskState::Working)).await;
            let mut event = cx.status(TaskState::Working);
            event.task_id = "t-other".to_owned();
            out.emit(event).await;
        }
    });
    for text in ["task", "status"] {
        let server = server_of(Server::builder(foreign.clone(), card()));
        let frames = call(&server, "SendStreamingMessage", send(text)).await;
        let frames = frames.as_array().expect("frames");
        assert_eq!(states(frames).last(), Some(&"FAILED"), "{text}");
    }
}

// In a later turn the task is there from the start, so it fails whatever comes first.
#[tokio::test]
async fn a_later_turn_that_begins_with_a_breach_fails_the_task() {
    let executor = executor_fn(async |cx: RequestContext, out: Emitter<Emission>| {
        match cx.message().text().as_str() {
            "ask" => out.emit(cx.status(TaskState::InputRequired)).await,
            "say" => out.emit(cx.answer([])).await,
            _ => out.emit(Artifact::new("a", [])).await,
        }
    });
    for text in ["say", "artifact"] {
        let server = server_of(Server::builder(executor.clone(), card()));
        call(&server, "SendMessage", send("ask")).await;
        let task = call(&server, "SendMessage", follow_up("t-1", "m-2", text)).await;
        assert_eq!(state_of(&task), "TASK_STATE_FAILED", "{text}");
    }
}

// O-H07: a task event of the executor does not replace the history.
#[tokio::test]
async fn a_task_event_keeps_the_history() {
    let executor = executor_fn(async |cx: RequestContext, out: Emitter<Emission>| {
        let mut task = cx.task().cloned().unwrap_or_else(|| {
            let status = cx.status(TaskState::Working).status;
            portcullis_a2a::model::Task::new(cx.task_id(), cx.context_id(), status)
        });
        let first = task.history.is_empty();
        task.history.clear();
        task.artifacts = vec![Artifact::text("a", "x")];
        task.status.state = if first {
            TaskState::InputRequired
        } else {
            TaskState::Completed
        };
        out.emit(task).await;
    });
    let server = server_of(Server::builder(executor, card()));
    let task = call(&server, "SendMessage", send("x")).await;
    assert_eq!(state_of(&task), "TASK_STATE_INPUT_REQUIRED");
    let task = call(&server, "SendMessage", follow_up("t-1", "m-2", "y")).await;
    assert_eq!(state_of(&task), "TASK_STATE_COMPLETED");
    let history = task["task"]["history"].as_array().expect("history");
    let ids: Vec<_> = history
        .iter()
        .map(|message| message["messageId"].as_str())
        .collect();
    assert_eq!(ids, [Some("m-1"), Some("m-2")]);
    assert_eq!(
        task["task"]["artifacts"]
            .as_array()
            .expect("artifacts")
            .len(),
        1
    );
}
