//! Agents behind the server: opening, refusing, coalescing (rulings 13, 15, 20).

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use portcullis::{
    Accepted, AgentEvent, BoxEventStream, Completed, ControlCapabilities, ControlFuture,
    ControlRefusal, Emitter, Failure, FailureCode, Json, Prompt, Scope, SessionControl,
    SessionState, agent_fn, views::InputRequired,
};
use portcullis_a2a::{
    model::ErrorKind,
    server::{Caller, Coalescing, EVENTS_EXTENSION, Limits, RequestContext, Server},
};
use serde_json::{Value, json};

use crate::support::{
    call, call_as, card, follow_up, next, open_stream, refused, send, server_of, state_of, states,
};

/// Does what the prompt says.
async fn obedient(scope: Scope, prompt: Prompt, out: Emitter) -> Result<Completed, Failure> {
    for word in prompt.as_text().split_whitespace() {
        match word.split_once('=') {
            Some(("fail", code)) => {
                return Err(Failure::with_code(
                    FailureCode::new(code.to_owned()),
                    "for the caller",
                )
                .retryable(true)
                .retry_after(Duration::from_secs(7)));
            }
            Some(("text", text)) => out.emit(AgentEvent::text(text)).await,
            Some(("words", count)) => {
                for _ in 0..count.parse::<usize>().expect("a number") {
                    out.emit(AgentEvent::text("word ")).await;
                }
            }
            Some(("wait", millis)) => {
                let millis = millis.parse().expect("a number");
                tokio::time::sleep(Duration::from_millis(millis)).await;
            }
            Some(("data", data)) => {
                return Ok(Completed::with_data(Json::from_text(data).expect("JSON")));
            }
            _ => match word {
                "think" => out.emit(AgentEvent::thinking("hm")).await,
                "ask" => out.emit(InputRequired::new("Which one?")).await,
                "context" => {
                    let cx = scope
                        .extensions()
                        .get::<RequestContext>()
                        .expect("it is an edge");
                    out.emit(AgentEvent::text(cx.task_id())).await;
                }
                other => panic!("{other}"),
            },
        }
    }
    Ok(Completed::new())
}

fn server() -> Server {
    server_of(Server::agent_builder(agent_fn(obedient), card()))
}

fn texts(task: &Value) -> Vec<&str> {
    let parts = task["artifacts"][0]["parts"].as_array().expect("parts");
    parts
        .iter()
        .map(|part| part["text"].as_str().expect("a text"))
        .collect()
}

// A2A-OP-40
#[tokio::test]
async fn a_turn_becomes_a_task() {
    let frames = call(
        &server(),
        "SendStreamingMessage",
        send("text=a text=b data={\"n\":1}"),
    )
    .await;
    let frames = frames.as_array().expect("frames");
    assert_eq!(states(frames), ["SUBMITTED", "WORKING", "COMPLETED"]);
    let artifacts: Vec<&Value> = frames
        .iter()
        .filter_map(|frame| frame.get("artifactUpdate"))
        .collect();
    assert_eq!(artifacts.len(), 3);
    assert_eq!(artifacts[1]["append"], true);
    assert_eq!(artifacts[1]["lastChunk"], true);
    assert_eq!(
        artifacts[2]["artifact"],
        json!({"artifactId": "a-2", "parts": [{"data": {"n": 1}, "mediaType": "application/json"}]})
    );
    let task = call(&server(), "SendMessage", send("context")).await;
    assert_eq!(texts(&task["task"]), ["t-1"]);
}

// Critique B6: a long answer is few parts, and few frames.
#[tokio::test]
async fn a_long_answer_folds_into_few_parts() {
    let server = server();
    let frames = call(&server, "SendStreamingMessage", send("words=2000")).await;
    let frames = frames.as_array().expect("frames").len();
    assert!((12..30).contains(&frames), "{frames} frames");
    let task = call(&server, "GetTask", json!({"id": "t-1"})).await;
    assert_eq!(texts(&task), ["word ".repeat(2_000)]);
}

#[tokio::test]
async fn without_coalescing_each_delta_is_a_frame() {
    let builder = Server::agent_builder(agent_fn(obedient), card());
    let server = server_of(builder.coalescing(Coalescing::NONE));
    let frames = call(&server, "SendStreamingMessage", send("words=50")).await;
    assert_eq!(frames.as_array().expect("frames").len(), 53);
    let task = call(&server, "GetTask", json!({"id": "t-1"})).await;
    assert_eq!(texts(&task).len(), 1);
}

// A2A-OP-62: text does not wait for more of it for longer than the interval.
#[tokio::test(start_paused = true)]
async fn text_goes_out_in_time() {
    let server = server();
    let text = "text=a text=b wait=100 text=c wait=1 text=d wait=1000";
    let mut frames = open_stream(&server, "SendStreamingMessage", send(text)).await;
    let began = tokio::time::Instant::now();
    let mut seen = Vec::new();
    while let Some(frame) = next(&mut frames).await {
        if let Some(update) = frame.get("artifactUpdate") {
            let text = update["artifact"]["parts"][0]["text"]
                .as_str()
                .expect("a text")
                .to_owned();
            seen.push((text, began.elapsed().as_millis()));
        }
    }
    let texts: Vec<&str> = seen.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(texts, ["a", "b", "cd"]);
    assert_eq!(seen[0].1, 0);
    assert!((30..40).contains(&seen[1].1), "{seen:?}");
    assert!((130..140).contains(&seen[2].1), "{seen:?}");
}

// A2A-OP-54, Ruling 13, first column: a refusal without waiting, and no task.
#[tokio::test]
async fn a_refusal_at_once_is_an_error_of_the_call() {
    for (code, kind) in [
        ("unauthenticated", ErrorKind::Unauthenticated),
        ("permission_denied", ErrorKind::PermissionDenied),
        ("rate_limited", ErrorKind::ResourceExhausted),
        ("overloaded", ErrorKind::Unavailable),
        ("session_busy", ErrorKind::Unavailable),
        ("unavailable", ErrorKind::Unavailable),
    ] {
        let server = server();
        for method in ["SendMessage", "SendStreamingMessage"] {
            let error = refused(&server, method, send(&format!("fail={code}"))).await;
            assert_eq!((error.kind(), error.message()), (kind, "for the caller"));
            assert_eq!(error.after(), Some(Duration::from_secs(7)));
        }
        assert_eq!(call(&server, "ListTasks", json!({})).await["totalSize"], 0);
        // Unless the caller does not wait: then there is a task (ruling 13).
        let mut params = send(&format!("fail={code}"));
        params["configuration"] = json!({"returnImmediately": true});
        let task = call(&server, "SendMessage", params).await;
        let id = task["task"]["id"].clone();
        tokio::task::yield_now().await;
        let task = call(&server, "GetTask", json!({"id": id})).await;
        assert_eq!(state_of(&task), "TASK_STATE_REJECTED", "{code}");
    }
}

// Ruling 13, the other columns, end to end.
#[tokio::test(start_paused = true)]
async fn a_refusal_that_comes_later_is_a_state() {
    for (text, state) in [
        ("wait=10 fail=rate_limited", "TASK_STATE_REJECTED"),
        ("text=a fail=rate_limited", "TASK_STATE_FAILED"),
        ("fail=budget_exceeded", "TASK_STATE_REJECTED"),
        ("fail=invalid_prompt", "TASK_STATE_REJECTED"),
        ("text=a fail=budget_exceeded", "TASK_STATE_FAILED"),
        ("fail=aborted", "TASK_STATE_CANCELED"),
        ("text=a fail=aborted", "TASK_STATE_CANCELED"),
        ("fail=timeout", "TASK_STATE_FAILED"),
    ] {
        let task = call(&server(), "SendMessage", send(text)).await;
        assert_eq!(state_of(&task), state, "{text}");
        let says = &task["task"]["status"]["message"]["parts"][0]["text"];
        assert_eq!(says, "for the caller", "{text}");
    }
}

// Ruling 9.
#[tokio::test]
async fn what_is_internal_stays_inside() {
    for text in ["fail=internal", "panic-password"] {
        let task = call(&server(), "SendMessage", send(text)).await;
        assert_eq!(state_of(&task), "TASK_STATE_FAILED");
        let says = &task["task"]["status"]["message"]["parts"][0]["text"];
        assert_eq!(says, "The agent failed. Reference: ref-1");
        assert!(!task.to_string().contains("panicked"));
    }
}

// Ruling 20.
#[tokio::test]
async fn a_question_is_asked_at_the_end() {
    let server = server();
    let frames = call(&server, "SendStreamingMessage", send("ask text=a")).await;
    let frames = frames.as_array().expect("frames");
    assert_eq!(states(frames), ["SUBMITTED", "WORKING", "INPUT_REQUIRED"]);
    let question = &frames.last().expect("frames")["statusUpdate"]["status"]["message"];
    assert_eq!(question["parts"], json!([{"text": "Which one?"}]));
    let task = call(&server, "SendMessage", follow_up("t-1", "m-2", "text=b")).await;
    assert_eq!(state_of(&task), "TASK_STATE_COMPLETED");
    let artifacts = task["task"]["artifacts"].as_array().expect("artifacts");
    let ids: Vec<_> = artifacts
        .iter()
        .map(|artifact| &artifact["artifactId"])
        .collect();
    assert_eq!(ids, ["a-1", "a-2"]);
}

// A refusal at once of a follow-up leaves the question open.
#[tokio::test]
async fn a_refused_follow_up_leaves_the_task_waiting() {
    let server = server();
    call(&server, "SendMessage", send("ask")).await;
    let error = refused(
        &server,
        "SendMessage",
        follow_up("t-1", "m-2", "fail=rate_limited"),
    )
    .await;
    assert_eq!(error.kind(), ErrorKind::ResourceExhausted);
    let task = call(&server, "GetTask", json!({"id": "t-1"})).await;
    assert_eq!(state_of(&task), "TASK_STATE_INPUT_REQUIRED");
    let task = call(&server, "SendMessage", follow_up("t-1", "m-3", "text=b")).await;
    assert_eq!(state_of(&task), "TASK_STATE_COMPLETED");
}

// A2A-EXT-3, A2A-EXT-11, Critique A5: fixed when the task is opened, the same for every watcher.
#[tokio::test]
async fn events_are_for_tasks_that_asked() {
    // Several reads for one stream.
    let mut limits = Limits::default();
    limits.read_ahead = 1;
    let builder = Server::agent_builder(agent_fn(obedient), card()).limits(limits);
    let server = server_of(builder);
    let declared = &server.card().capabilities.extensions;
    assert_eq!(declared[0].uri, EVENTS_EXTENSION);
    let caller = Caller::new().asking_for([EVENTS_EXTENSION]);
    let event_key = format!("{EVENTS_EXTENSION}/event");
    let shown = |frames: &Value| -> Vec<Value> {
        let frames = frames.as_array().expect("frames");
        frames
            .iter()
            .filter_map(|frame| frame["statusUpdate"]["metadata"].get(&event_key).cloned())
            .collect()
    };
    let frames = call_as(&server, &caller, "SendStreamingMessage", &send("think ask")).await;
    let frames = frames.expect("answered");
    assert_eq!(
        shown(&frames),
        [
            json!({"type": "thinking", "delta": "hm"}),
            json!({"type": "input_required", "question": "Which one?"}),
            json!({"type": "completed"}),
        ]
    );
    assert_eq!(frames[0]["task"]["metadata"][EVENTS_EXTENSION], true);
    // A follow-up of one who does not ask shows the same.
    let follow = follow_up("t-1", "m-2", "think fail=timeout");
    let frames = call(&server, "SendStreamingMessage", follow).await;
    assert_eq!(shown(&frames).len(), 1);
    let last = &frames.as_array().expect("frames").last().expect("frames")["statusUpdate"];
    assert_eq!(
        last["metadata"][format!("{EVENTS_EXTENSION}/failure")],
        json!({"code": "timeout", "retryable": true, "retryAfterMs": 7_000})
    );
    // And the reverse.
    call(&server, "SendMessage", send("ask")).await;
    let follow = follow_up("t-2", "m-2", "think fail=timeout");
    let frames = call_as(&server, &caller, "SendStreamingMessage", &follow)
        .await
        .expect("answered");
    assert!(shown(&frames).is_empty());
    assert!(!frames.to_string().contains(EVENTS_EXTENSION));
    // Ruling 16: a finished task is shown again to those who agreed.
    let resuming = caller.resuming_after(portcullis_a2a::log::Seq::new(1));
    let again = call_as(&server, &resuming, "SubscribeToTask", &json!({"id": "t-1"})).await;
    let again = again.expect("replayed");
    assert_eq!(state_of(&again[0]), "TASK_STATE_SUBMITTED");
    assert_eq!(
        state_of(again.as_array().expect("frames").last().expect("frames")),
        "TASK_STATE_FAILED"
    );
}

// A2A-SEC-19, A2A-MAP-2.
#[tokio::test]
async fn the_prompt_is_made_of_the_parts() {
    let show = agent_fn(async |_scope, prompt: Prompt, out: Emitter| {
        let images: Vec<_> = prompt
            .images()
            .iter()
            .map(|image| (image.mime_type(), image.data()))
            .collect();
        out.emit(AgentEvent::text(format!(
            "{:?} {images:?}",
            prompt.as_text()
        )))
        .await;
        Ok(())
    });
    let mut card = card();
    card.default_input_modes = vec!["*/*".to_owned()];
    let server = server_of(Server::agent_builder(show, card));
    let params = json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [
        {"text": "look"},
        {"data": {"n": 1.0}},
        {"raw": "aGk=", "mediaType": "text/plain"},
        {"raw": "AQI=", "mediaType": "image/png"},
        {"raw": "AQI=", "mediaType": "application/pdf"},
        {"url": "https://example.com/x"},
    ]}});
    let task = call(&server, "SendMessage", params).await;
    assert_eq!(
        texts(&task["task"]),
        [r#""look\n{\"n\":1.0}\nhi" [("image/png", "AQI=")]"#]
    );
}

/// A control plane that remembers what it was told.
#[derive(Default)]
struct Plane {
    steers: bool,
    told: Mutex<Vec<String>>,
}

impl Plane {
    fn tell(&self, how: &str, session: &str, prompt: &Prompt) {
        let told = format!("{how} {session} {}", prompt.as_text());
        self.told.lock().expect("not poisoned").push(told);
    }
}

impl SessionControl for Plane {
    fn capabilities<'a>(&'a self, _session: &'a str) -> ControlFuture<'a, ControlCapabilities> {
        let mut can = ControlCapabilities::default();
        can.steer = self.steers;
        can.follow_up = true;
        Box::pin(async move { can })
    }

    fn steer<'a>(
        &'a self,
        session: &'a str,
        prompt: Prompt,
    ) -> ControlFuture<'a, Result<Accepted, ControlRefusal>> {
        self.tell("steer", session, &prompt);
        Box::pin(async { Ok(Accepted::new(1)) })
    }

    fn follow_up<'a>(
        &'a self,
        session: &'a str,
        prompt: Prompt,
    ) -> ControlFuture<'a, Result<Accepted, ControlRefusal>> {
        self.tell("follow_up", session, &prompt);
        Box::pin(async { Ok(Accepted::new(1)) })
    }

    fn abort<'a>(&'a self, _session: &'a str) -> ControlFuture<'a, Result<(), ControlRefusal>> {
        Box::pin(async { Ok(()) })
    }

    fn state<'a>(&'a self, _session: &'a str) -> ControlFuture<'a, SessionState> {
        Box::pin(async { SessionState::default() })
    }

    fn events<'a>(&'a self, _session: &'a str) -> ControlFuture<'a, Option<BoxEventStream>> {
        Box::pin(async { None })
    }
}

// Design 5: a message to a running task goes through the control plane.
#[tokio::test(start_paused = true)]
async fn a_message_to_a_running_turn_is_a_steer_or_a_follow_up() {
    for (steers, how) in [(true, "steer"), (false, "follow_up")] {
        let plane = Arc::new(Plane {
            steers,
            ..Plane::default()
        });
        let builder = Server::agent_builder(agent_fn(obedient), card());
        let server = server_of(builder.session_control(plane.clone()));
        let mut params = send("text=a wait=100");
        params["configuration"] = json!({"returnImmediately": true});
        call(&server, "SendMessage", params).await;
        let task = call(&server, "SendMessage", follow_up("t-1", "m-2", "faster")).await;
        assert_eq!(state_of(&task), "TASK_STATE_COMPLETED");
        assert_eq!(
            task["task"]["history"].as_array().expect("history").len(),
            2
        );
        let told = plane.told.lock().expect("not poisoned").clone();
        assert_eq!(told, [format!("{how} c-1 faster")]);
    }
}
