//! What a message and an artifact hold comes out as it went in, whichever binding each way.

use portcullis::Json;
use portcullis_a2a::{
    binding::{Layout, OnePort},
    client::{Binding, Client},
    model::{
        AgentCard, Artifact, GetTaskRequest, Message, Metadata, Part, SendMessageRequest,
        SendMessageResponse, Task, TaskState,
    },
    server::{RequestContext, Server, executor_fn},
};
use serde_json::json;

use crate::both::{As, client_of, value};

fn json(text: &str) -> Json {
    Json::from_text(text).expect("JSON")
}

/// Gives the parts back in an artifact.
fn echo() -> OnePort {
    let echo = executor_fn(async |ctx: RequestContext, out| {
        let parts = ctx.message().parts.clone();
        out.emit(ctx.artifact(Artifact::new("a", parts))).await;
        out.emit(ctx.status(TaskState::Completed)).await;
    });
    service(Server::new(echo, card()))
}

fn card() -> AgentCard {
    let interfaces = Layout::new().interfaces("http://in.process");
    let mut card = AgentCard::of_interfaces("n", "d", interfaces);
    card.default_input_modes = vec!["*/*".to_owned()];
    card
}

fn service(server: Server) -> OnePort {
    OnePort::new(server)
}

fn everywhere(service: &OnePort) -> Vec<Client<As>> {
    let client = |&binding| client_of(service.clone(), binding, None);
    Binding::ALL.iter().map(client).collect()
}

async fn sent(client: &Client<As>, message: Message) -> Task {
    let request = SendMessageRequest::new(message);
    match client.send_message(&request).await.expect("an answer") {
        SendMessageResponse::Task(task) => task,
        other => panic!("{other:?}"),
    }
}

// O-W05, O-W06, O-W11, A2A-DATA-7, A2A-DATA-11: numbers, bytes and text, from each binding to each.
#[tokio::test]
async fn parts_come_back_as_they_were() {
    let bytes: Vec<u8> = (0..=255).collect();
    let parts = vec![
        Part::text("<b>&\"'</b> é 漢 🙂 \\u003c \u{2028} \t\u{7f}"),
        Part::raw(bytes)
            .with_filename("all bytes.bin")
            .with_media_type("application/octet-stream"),
        Part::url("https://example.com/x?a=1&b=%20"),
        Part::data(json(
            r#"{"rev":1,"big":9007199254740991,"neg":-3,"f":0.5,"n":null,"deep":[[{"":[]}]]}"#,
        )),
        Part::data(Json::null()),
        Part::data(json("\"text\"")),
    ];
    let service = echo();
    let clients = everywhere(&service);
    for writer in &clients {
        let mut message = Message::user("m", parts.clone());
        message.metadata = Metadata::new().with("k", json(r#"{"n":7}"#));
        let task = sent(writer, message.clone()).await;
        for reader in &clients {
            let request = GetTaskRequest::new(&*task.id);
            let read = reader.get_task(&request).await.expect("it is there");
            for got in [&read.artifacts[0].parts, &read.history[0].parts] {
                assert_eq!(value(got), value(&parts));
                // No fraction was made of a whole number.
                let data = value(&got[3])["data"].clone();
                assert_eq!(data["rev"].to_string(), "1");
                assert_eq!(data["big"].to_string(), "9007199254740991");
            }
            assert_eq!(value(&read.history[0].metadata), json!({"k": {"n": 7}}));
        }
    }
}

// A2A-OP-12, A2A-OP-48, A2A-EXT-8, O-W10: what is said beside the content reaches the agent, the agent's own
// reaches the caller, chunks add to it, and nobody invents any.
#[tokio::test]
async fn metadata_is_kept_at_every_level() {
    let executor = executor_fn(async |ctx: RequestContext, out| {
        let message = ctx.message();
        let seen = json!({
            "request": value(ctx.metadata()),
            "message": value(&message.metadata),
            "part": value(&message.parts[0].metadata),
            "extensions": message.extensions,
        });
        let mut chunk = Artifact::new("a", [Part::data(json(&seen.to_string()))]);
        chunk.metadata = Metadata::new().with("one", json("1"));
        chunk.extensions = vec!["urn:x".to_owned()];
        out.emit(ctx.artifact(chunk)).await;
        let mut chunk = Artifact::text("a", "more");
        chunk.metadata = Metadata::new().with("two", json("[2]"));
        chunk.parts[0].metadata = Metadata::new().with("of part", json("true"));
        out.emit(ctx.artifact(chunk).appending()).await;
        let mut done = ctx.status(TaskState::Completed).with_text("done");
        done.metadata = Metadata::new().with("of status", json("\"s\""));
        if let Some(message) = &mut done.status.message {
            message.metadata = Metadata::new().with("of message", json("0"));
        }
        out.emit(done).await;
    });
    let service = service(Server::new(executor, card()));
    for client in everywhere(&service) {
        let mut message = Message::user("m", [Part::text("x")]);
        message.metadata = Metadata::new().with("urn:x/level", json("\"message\""));
        message.parts[0].metadata = Metadata::new().with("level", json("\"part\""));
        message.extensions = vec!["urn:x".to_owned()];
        let mut request = SendMessageRequest::new(message);
        request.metadata = Metadata::new().with("level", json("\"request\""));
        let answer = client.send_message(&request).await.expect("an answer");
        let task = value(answer)["task"].clone();
        let artifact = &task["artifacts"][0];
        assert_eq!(
            artifact["parts"][0]["data"],
            json!({
                "request": {"level": "request"},
                "message": {"urn:x/level": "message"},
                "part": {"level": "part"},
                "extensions": ["urn:x"],
            })
        );
        assert_eq!(artifact["metadata"], json!({"one": 1, "two": [2]}));
        assert_eq!(artifact["extensions"], json!(["urn:x"]));
        assert_eq!(artifact["parts"][1]["metadata"], json!({"of part": true}));
        assert_eq!(task["metadata"], json!({"of status": "s"}));
        let says = &task["status"]["message"];
        assert_eq!(says["metadata"], json!({"of message": 0}));
        let said = &task["history"][0];
        assert_eq!(said["metadata"], json!({"urn:x/level": "message"}));
        assert_eq!(said["parts"][0]["metadata"], json!({"level": "part"}));
    }
    for client in everywhere(&echo()) {
        let task = sent(&client, Message::user("m", [Part::text("x")])).await;
        assert!(!value(task).to_string().contains("metadata"));
    }
}
