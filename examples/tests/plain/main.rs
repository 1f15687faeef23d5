//! MUST 5 over the plain edge, as somebody else reads it: an agent behind a server on a socket, its
//! client, the whole preset in front of that, another server, and Node.js at the end.

#[path = "../../../tests/wire_props/arbitrary.rs"]
mod arbitrary;
#[expect(dead_code, reason = "made for the example")]
#[path = "../../src/bin/preset/stack.rs"]
mod stack;
#[expect(dead_code, reason = "only the comparison is used here")]
#[path = "../../../fuzz/src/wire.rs"]
mod wire;
#[expect(dead_code, reason = "made for the example")]
#[path = "../../src/bin/preset/witness.rs"]
mod witness;

mod pieces;

use std::{convert::Infallible, future::pending, process::Stdio};

use futures_util::stream;
use http::Uri;
use portcullis::{AgentEvent, BoxAgent, Prompt, Scope};
use portcullis_http::{
    client::{Format, HttpAgent},
    server::TurnService,
};
use portcullis_layers::auth::Credentials;
use portcullis_net::{HttpClient, bind};
use proptest::{
    collection,
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, TestRunner},
};
use tokio::{io::AsyncWriteExt, process::Command, task::JoinSet};
use tower::service_fn;

use pieces::in_pieces;

/// As many as the rate limit of the preset lets through at once.
const TURNS: usize = 40;

/// Turns that the preset has no reason to touch: few tools, and something to see before the end.
fn turns() -> Vec<Vec<String>> {
    let event = prop_oneof![
        arbitrary::core_event(),
        arbitrary::other_event().prop_map(|(_, text)| text)
    ];
    let event = event.prop_filter("one that may come in the middle", |text| {
        AgentEvent::from_json(text).is_ok_and(|event| !event.is_terminal())
    });
    let end = arbitrary::core_event().prop_filter("success", |text| {
        matches!(AgentEvent::from_json(text), Ok(AgentEvent::Completed(_)))
    });
    let turn = (collection::vec(event, 1..12), end).prop_map(|(mut events, end)| {
        let mut tools = 0;
        events.retain(|text| {
            let tool = matches!(AgentEvent::from_json(text), Ok(AgentEvent::ToolStarted(_)));
            tools += usize::from(tool);
            !tool || tools <= 1
        });
        events.push(end);
        events
    });
    // The same events each time: whoever sees it fail can look at it.
    let mut runner = TestRunner::new_with_rng(
        Config::default(),
        proptest::test_runner::TestRng::deterministic_rng(
            proptest::test_runner::RngAlgorithm::ChaCha,
        ),
    );
    let turns = collection::vec(turn, TURNS).new_tree(&mut runner).unwrap();
    turns.current()
}

/// The agent that emits the turn whose number the prompt is.
fn emits(turns: &[Vec<String>]) -> BoxAgent {
    let turns: Vec<Vec<_>> = turns
        .iter()
        .map(|texts| {
            texts
                .iter()
                .map(|text| AgentEvent::from_json(text).unwrap())
                .collect()
        })
        .collect();
    BoxAgent::new(service_fn(move |(_, prompt): (Scope, Prompt)| {
        let number: usize = prompt.as_text().parse().unwrap();
        std::future::ready(Ok::<_, Infallible>(stream::iter(turns[number].clone())))
    }))
}

/// Serves on a socket of this machine.
async fn serve(serving: &mut JoinSet<()>, service: TurnService) -> Uri {
    let listener = bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    serving.spawn(portcullis_net::Server::new().serve(listener, service, pending()));
    format!("http://{address}/").parse().unwrap()
}

/// The service in front: what it stands on is reached in this format.
async fn gated(serving: &mut JoinSet<()>, engine: BoxAgent, format: Format) -> TurnService {
    let url = serve(serving, TurnService::new(engine)).await;
    let engine = BoxAgent::new(HttpAgent::new(HttpClient::new(), url).format(format));
    let other = BoxAgent::new(service_fn(|_: (Scope, Prompt)| {
        std::future::ready(Ok::<_, Infallible>(stream::pending()))
    }));
    let gated = stack::gate("plain", engine, other, &witness::Witness::default()).unwrap();
    TurnService::new(gated.agent).scope_with(|head, scope| {
        if let Some(key) = head.headers.get("x-api-key") {
            let key = Credentials::api_key(key.to_str().unwrap_or_default());
            scope.extensions_mut().insert(key);
        }
    })
}

#[tokio::test]
async fn node_reads_every_token_behind_the_preset() {
    if !has_node().await {
        return;
    }
    let turns = turns();
    let mut serving = JoinSet::new();
    let mut questions = String::new();
    for format in [Format::Sse, Format::JsonLines] {
        let service = gated(&mut serving, emits(&turns), format).await;
        let url = serve(&mut serving, service).await;
        for number in 0..TURNS {
            let accept = ["text/event-stream", "application/x-ndjson"][number % 2];
            let body = serde_json::json!({
                "scope": {"session": "s"}, "prompt": {"text": number.to_string()},
            });
            let question = serde_json::json!({
                "url": url.to_string(), "accept": accept, "body": body.to_string(),
            });
            questions.push_str(&format!("{question}\n"));
        }
    }
    let read = ask_node(&questions).await;
    assert_eq!(read.len(), 2 * TURNS);
    let mut others = 0;
    for (sent, read) in turns.iter().chain(&turns).zip(&read) {
        let (sent, read) = (in_pieces(sent), in_pieces(read));
        assert_eq!(sent.len(), read.len(), "{sent:#?} {read:#?}");
        for (sent, read) in sent.iter().zip(&read) {
            others += usize::from(sent.check(read));
        }
    }
    assert!(
        others > 4 * TURNS,
        "{others} events that have to keep their tokens"
    );
}

/// Whether there is Node.js; in CI there has to be.
async fn has_node() -> bool {
    let version = Command::new("node").arg("--version").output().await;
    let there = version.is_ok_and(|version| version.status.success());
    if !there {
        assert!(
            std::env::var("CI").as_deref() != Ok("true"),
            "this test reads with Node.js, and there is none"
        );
        portcullis_examples::say("LACKING: Node.js, to read what the plain edge writes");
    }
    there
}

async fn ask_node(questions: &str) -> Vec<Vec<String>> {
    let mut node = Command::new("node")
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/plain/read_turns.mjs"
        ))
        .arg("x-api-key:ann's key")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut input = node.stdin.take().unwrap();
    input.write_all(questions.as_bytes()).await.unwrap();
    drop(input);
    let output = node.wait_with_output();
    let output = tokio::time::timeout(std::time::Duration::from_secs(240), output);
    let output = output.await.expect("it ends").unwrap();
    assert!(output.status.success());
    let lines = str::from_utf8(&output.stdout).unwrap().lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}
