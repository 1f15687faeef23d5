//! The golden examples that need no HTTP. Times are those of the clock of the tests.

use portcullis::{Emitter, Json};
use portcullis_a2a::{
    model::{Artifact, Metadata, Part, TaskState},
    server::{Emission, RequestContext, Server, executor_fn},
};
use serde_json::{Value, json};

use crate::support::{call, card, echo, follow_up, message, refused, send, server_of};

fn echo_server() -> Server {
    server_of(Server::builder(executor_fn(echo), card()))
}

// EX-2.
#[tokio::test]
async fn blocking_send_answers_with_the_completed_task() {
    let server = server_of(Server::builder(
        executor_fn(async |cx: RequestContext, out: Emitter<Emission>| {
            let part = Part::text("hello").with_media_type("text/plain");
            let artifact = Artifact::new("a-1", [part]).with_name("reply");
            out.emit(artifact).await;
            out.emit(cx.status(TaskState::Completed)).await;
        }),
        card(),
    ));
    let params = json!({
        "message": message("m-u1", "say hello"),
        "configuration": {"acceptedOutputModes": ["text/plain"]},
    });
    assert_eq!(
        call(&server, "SendMessage", params).await,
        json!({"task": {
          "id": "t-1", "contextId": "c-1",
          "status": {"state": "TASK_STATE_COMPLETED", "timestamp": "2026-01-15T10:00:00.100Z"},
          "artifacts": [{"artifactId": "a-1", "name": "reply",
            "parts": [{"text": "hello", "mediaType": "text/plain"}]}],
          "history": [{"messageId": "m-u1", "contextId": "c-1", "taskId": "t-1",
            "role": "ROLE_USER", "parts": [{"text": "say hello"}]}]
        }})
    );
}

async fn say_pong(cx: RequestContext, out: Emitter<Emission>) {
    out.emit(cx.answer([Part::text("pong")])).await;
}

// EX-3, EX-6.
#[tokio::test]
async fn a_message_is_the_whole_answer() {
    let server = server_of(Server::builder(executor_fn(say_pong), card()));
    let mut params = send("what can you do?");
    params["message"]["contextId"] = json!("c-9");
    let answer = json!({"message": {"messageId": "m-a1", "contextId": "c-9",
        "role": "ROLE_AGENT", "parts": [{"text": "pong"}]}});
    assert_eq!(call(&server, "SendMessage", params).await, answer);
    let frames = call(&server, "SendStreamingMessage", send("ping")).await;
    assert_eq!(
        frames,
        json!([{"message": {"messageId": "m-a2", "contextId": "c-1",
            "role": "ROLE_AGENT", "parts": [{"text": "pong"}]}}])
    );
    // No task has come of it (A2A-OP-31: whether or not the caller waits).
    let mut params = send("ping");
    params["configuration"] = json!({"returnImmediately": true});
    let answer = call(&server, "SendMessage", params).await;
    assert_eq!(answer["message"]["parts"], json!([{"text": "pong"}]));
    let tasks = call(&server, "ListTasks", json!({})).await;
    assert_eq!(tasks["totalSize"], json!(0));
}

// EX-4, without the webhook.
#[tokio::test]
async fn an_impatient_caller_gets_the_submitted_task() {
    let server = echo_server();
    let params = json!({
        "message": {"messageId": "m-u3", "role": "ROLE_USER", "parts": [
            {"text": "transcribe"},
            {"raw": "UklGRg==", "filename": "a.wav", "mediaType": "audio/wav"}]},
        "configuration": {"returnImmediately": true, "historyLength": 0},
    });
    assert_eq!(
        call(&server, "SendMessage", params).await,
        json!({"task": {"id": "t-1", "contextId": "c-1",
            "status": {"state": "TASK_STATE_SUBMITTED", "timestamp": "2026-01-15T10:00:00.000Z"}}})
    );
}

// EX-5, ruling 23: the four frames of the seed.
#[tokio::test]
async fn four_frames() {
    let mut params = send("a short paragraph");
    params["configuration"] = json!({"historyLength": 0});
    assert_eq!(
        call(&echo_server(), "SendStreamingMessage", params).await,
        json!([
            {"task": {"id": "t-1", "contextId": "c-1",
                "status": {"state": "TASK_STATE_SUBMITTED", "timestamp": "2026-01-15T10:00:00.000Z"}}},
            {"statusUpdate": {"taskId": "t-1", "contextId": "c-1",
                "status": {"state": "TASK_STATE_WORKING", "timestamp": "2026-01-15T10:00:00.100Z"}}},
            {"artifactUpdate": {"taskId": "t-1", "contextId": "c-1",
                "artifact": {"artifactId": "a-1", "parts": [{"text": "a short paragraph"}]}}},
            {"statusUpdate": {"taskId": "t-1", "contextId": "c-1",
                "status": {"state": "TASK_STATE_COMPLETED", "timestamp": "2026-01-15T10:00:00.200Z"}}},
        ])
    );
    let frames = call(&echo_server(), "SendStreamingMessage", send("x")).await;
    assert_eq!(frames[0]["task"]["history"][0]["messageId"], json!("m-1"));
}

async fn tell_a_story(cx: RequestContext, out: Emitter<Emission>) {
    let chunk = |text: &str, metadata: Option<(&'static str, &str)>| {
        let mut artifact = Artifact::text("a-1", text);
        if let Some((name, json)) = metadata {
            let json = Json::from_text(json).expect("JSON");
            artifact.metadata = Metadata::new().with(name, json);
        }
        cx.artifact(artifact)
    };
    out.emit(cx.status(TaskState::Working)).await;
    let mut first = chunk("Once ", Some(("lang", "\"en\"")));
    first.artifact.name = "story".to_owned();
    out.emit(first).await;
    out.emit(chunk("upon ", None).appending()).await;
    out.emit(chunk("a time.", Some(("words", "4"))).appending().last())
        .await;
    out.emit(cx.status(TaskState::Completed)).await;
}

// EX-7: the executor path is never coalesced nor merged.
#[tokio::test]
async fn chunks_fold_into_one_artifact() {
    let server = server_of(Server::builder(executor_fn(tell_a_story), card()));
    let frames = call(&server, "SendStreamingMessage", send("tell")).await;
    let update = |artifact: Value, rest: Value| {
        let mut update = json!({"taskId": "t-1", "contextId": "c-1", "artifact": artifact});
        for (name, value) in rest.as_object().expect("an object") {
            update[name] = value.clone();
        }
        json!({"artifactUpdate": update})
    };
    assert_eq!(
        frames.as_array().expect("frames")[2..5],
        [
            update(
                json!({"artifactId": "a-1", "name": "story", "parts": [{"text": "Once "}], "metadata": {"lang": "en"}}),
                json!({})
            ),
            update(
                json!({"artifactId": "a-1", "parts": [{"text": "upon "}]}),
                json!({"append": true})
            ),
            update(
                json!({"artifactId": "a-1", "parts": [{"text": "a time."}], "metadata": {"words": 4}}),
                json!({"append": true, "lastChunk": true})
            ),
        ]
    );
    let task = call(&server, "GetTask", json!({"id": "t-1", "historyLength": 0})).await;
    assert_eq!(
        task["artifacts"],
        json!([{"artifactId": "a-1", "name": "story",
            "parts": [{"text": "Once "}, {"text": "upon "}, {"text": "a time."}],
            "metadata": {"lang": "en", "words": 4}}])
    );
    assert!(task.get("history").is_none());
}

async fn book(cx: RequestContext, out: Emitter<Emission>) {
    if cx.task().is_none() {
        let ask = cx.status(TaskState::InputRequired);
        out.emit(ask.with_text("From where to where?")).await;
        return;
    }
    let booking = Json::from_text(r#"{"from":"SFO","to":"JFK","seats":1}"#).expect("JSON");
    let part = Part::data(booking).with_media_type("application/json");
    out.emit(Artifact::new("a-1", [part]).with_name("booking"))
        .await;
    out.emit(cx.status(TaskState::Completed)).await;
}

// EX-8, EX-9, O-L08, O-H07, A2A-OP-19, -42.
#[tokio::test]
async fn a_question_and_its_answer_are_one_task() {
    let server = server_of(Server::builder(executor_fn(book), card()));
    let params = json!({"message": message("m-u8", "book a flight")});
    let asked = |id: &str, text: &str| {
        json!({"messageId": id, "contextId": "c-1", "taskId": "t-1",
            "role": "ROLE_USER", "parts": [{"text": text}]})
    };
    let question = json!({"messageId": "m-a1", "contextId": "c-1", "taskId": "t-1",
        "role": "ROLE_AGENT", "parts": [{"text": "From where to where?"}]});
    assert_eq!(
        call(&server, "SendMessage", params).await,
        json!({"task": {"id": "t-1", "contextId": "c-1",
            "status": {"state": "TASK_STATE_INPUT_REQUIRED",
                "timestamp": "2026-01-15T10:00:00.100Z", "message": question},
            "history": [asked("m-u8", "book a flight")]}})
    );
    let answer = call(
        &server,
        "SendMessage",
        follow_up("t-1", "m-u9", "SFO to JFK"),
    )
    .await;
    let history = json!([
        asked("m-u8", "book a flight"),
        question,
        asked("m-u9", "SFO to JFK")
    ]);
    assert_eq!(
        answer,
        json!({"task": {"id": "t-1", "contextId": "c-1",
            "status": {"state": "TASK_STATE_COMPLETED", "timestamp": "2026-01-15T10:00:00.200Z"},
            "artifacts": [{"artifactId": "a-1", "name": "booking", "parts": [
                {"data": {"from": "SFO", "to": "JFK", "seats": 1}, "mediaType": "application/json"}]}],
            "history": history}})
    );
    // O-H01: absent, 0, 1, 1000.
    let read = |length: Value| {
        let mut params = json!({"id": "t-1"});
        if !length.is_null() {
            params["historyLength"] = length;
        }
        call(&server, "GetTask", params)
    };
    assert_eq!(read(Value::Null).await, answer["task"]);
    assert_eq!(read(json!(1000)).await["history"], history);
    assert_eq!(
        read(json!(1)).await["history"],
        json!([asked("m-u9", "SFO to JFK")])
    );
    assert!(read(json!(0)).await.get("history").is_none());
}

// EX-9.
#[tokio::test]
async fn an_unknown_task_is_not_found() {
    let error = refused(&echo_server(), "GetTask", json!({"id": "nope"})).await;
    assert_eq!((error.code(), error.message()), (-32001, "Task not found"));
    assert_eq!(
        serde_json::to_value(error.details()).expect("encodes"),
        json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_FOUND",
            "domain": "a2a-protocol.org", "metadata": {"taskId": "nope"}}])
    );
}

// EX-10, O-H03..H06, A2A-OP-72..82.
#[tokio::test]
async fn tasks_are_listed_in_pages() {
    let server = echo_server();
    for _ in 0..3 {
        call(&server, "SendMessage", send("x")).await;
    }
    let first = call(&server, "ListTasks", json!({"pageSize": 2})).await;
    let ids = |page: &Value| -> Vec<String> {
        let tasks = page["tasks"].as_array().expect("tasks");
        tasks
            .iter()
            .map(|task| task["id"].as_str().expect("an id").to_owned())
            .collect()
    };
    assert_eq!(ids(&first), ["t-3", "t-2"]);
    assert_eq!(
        (&first["pageSize"], &first["totalSize"]),
        (&json!(2), &json!(3))
    );
    assert!(first["tasks"][0].get("artifacts").is_none());
    assert!(first["tasks"][0].get("history").is_none());
    let token = first["nextPageToken"].clone();
    assert!(!token.as_str().expect("a token").is_empty());
    let second = call(
        &server,
        "ListTasks",
        json!({"page_size": 2, "page_token": token}),
    )
    .await;
    assert_eq!(ids(&second), ["t-1"]);
    assert_eq!(second["nextPageToken"], json!(""));
    assert_eq!(second["totalSize"], json!(3));

    let params = json!({"includeArtifacts": true, "historyLength": 1});
    let all = call(&server, "ListTasks", params).await;
    assert_eq!(ids(&all).len(), 3);
    assert_eq!(all["pageSize"], json!(50));
    assert_eq!(all["tasks"][0]["artifacts"][0]["artifactId"], json!("a-1"));
    assert_eq!(
        all["tasks"][0]["history"]
            .as_array()
            .expect("history")
            .len(),
        1
    );

    let params = json!({"context_id": "c-2", "status": "TASK_STATE_WORKING"});
    assert_eq!(
        call(&server, "ListTasks", params).await,
        json!({"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0})
    );
    let params = json!({"contextId": "c-2", "status": "TASK_STATE_COMPLETED"});
    assert_eq!(ids(&call(&server, "ListTasks", params).await), ["t-2"]);
    // Inclusive (T-13).
    let since = first["tasks"][0]["status"]["timestamp"].clone();
    let params = json!({"statusTimestampAfter": since});
    assert_eq!(ids(&call(&server, "ListTasks", params).await), ["t-3"]);
    let future = json!({"statusTimestampAfter": "2099-01-01T00:00:00Z"});
    assert!(ids(&call(&server, "ListTasks", future).await).is_empty());

    // A2A-OP-82, O-H04: garbage, and a token of another list.
    for params in [
        json!({"pageToken": "garbage"}),
        json!({"pageToken": token, "contextId": "c-1"}),
        json!({"pageToken": token, "status": "TASK_STATE_COMPLETED"}),
    ] {
        let error = refused(&server, "ListTasks", params).await;
        assert_eq!(error.code(), -32602);
        assert_eq!(error.violations()[0].field(), "pageToken");
    }
}
