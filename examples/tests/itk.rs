//! A circuit of two agents of the interop kit, in each way that its instructions know: agent 1 is
//! called over JSON-RPC, calls agent 2 over the transport under test, and that one calls agent 1.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use http_body_util::Full;
use portcullis_a2a::{
    client::{Client, fetch_card},
    model::{Message, SendMessageRequest, SendMessageResponse, TaskState},
};
use portcullis_net::HttpClient;

#[path = "../src/bin/itk_agent/instruction.rs"]
#[expect(dead_code, reason = "the agent needs more of it")]
mod instruction;

use instruction::{
    Behavior, CallAgent, Instruction, Nothing, ReturnResponse, SeriesOfSteps, Step, Webhook,
};

const TRANSPORTS: [&str; 3] = ["jsonrpc", "http_json", "grpc"];

/// An agent that ends with the test.
struct Agent {
    process: Child,
    url: String,
}

impl Agent {
    fn start() -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_itk_agent"))
            .stdout(Stdio::piped())
            .spawn()
            .expect("the agent starts");
        let mut url = String::new();
        BufReader::new(process.stdout.take().expect("a pipe"))
            .read_line(&mut url)
            .expect("the agent says where it is");
        let url = url.trim().to_owned();
        Self { process, url }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

fn say(token: &str, hold: bool) -> Instruction {
    step(Step::ReturnResponse(ReturnResponse {
        response: token.to_owned(),
        hold_task: hold,
    }))
}

fn step(step: Step) -> Instruction {
    Instruction { step: Some(step) }
}

fn series(instructions: Vec<Instruction>) -> Instruction {
    step(Step::Steps(SeriesOfSteps {
        instructions,
        response_generator: 1,
    }))
}

fn call(
    agent: &Agent,
    transport: &str,
    streaming: bool,
    how: &Behavior,
    what: Instruction,
) -> Instruction {
    step(Step::CallAgent(Box::new(CallAgent {
        transport: transport.to_owned(),
        agent_card_uri: agent.url.clone(),
        instruction: Some(Box::new(what)),
        streaming,
        behavior: Some(how.clone()),
    })))
}

/// What the kit builds: each agent says its token and calls the next one. The agents live as long as
/// what is answered with the text.
async fn circuit(
    transport: &str,
    streaming: bool,
    how: Behavior,
    hold: bool,
) -> (String, [Agent; 2]) {
    let (one, two) = (Agent::start(), Agent::start());
    let end = say("the-end", hold);
    let second = series(vec![
        say("two", hold),
        call(&one, transport, streaming, &how, end),
    ]);
    let first = series(vec![
        say("one", false),
        call(&two, transport, streaming, &how, second),
    ]);

    let http = HttpClient::<_, Full<Bytes>>::new();
    let card = fetch_card(&http, &one.url).await.expect("a card");
    let client = Client::of_card(http, &card).expect("a client");
    let request = SendMessageRequest::new(Message::user("m-1", [first.to_part()]));
    let answer = tokio::time::timeout(Duration::from_secs(60), client.send_message(&request));
    match answer.await.expect("in time").expect("an answer") {
        SendMessageResponse::Task(task) => {
            assert_eq!(task.status.state, TaskState::Completed, "{task:?}");
            let text = task.status.message.expect("a message").text();
            (text, [one, two])
        }
        other => panic!("{other:?}"),
    }
}

fn is_a_trace(text: &str) {
    let places = ["one", "two", "the-end"].map(|token| text.find(token));
    assert!(
        places.iter().all(Option::is_some) && places.is_sorted(),
        "{text:?}"
    );
}

#[tokio::test]
async fn sends() {
    for transport in TRANSPORTS {
        for streaming in [false, true] {
            let how = Behavior::SendMessage(Nothing {});
            is_a_trace(&circuit(transport, streaming, how, false).await.0);
        }
    }
}

#[tokio::test]
async fn subscribes_again_after_leaving() {
    for transport in TRANSPORTS {
        let how = Behavior::Resubscribe(Nothing {});
        is_a_trace(&circuit(transport, true, how, true).await.0);
    }
}

/// Every hop of the circuit is pushed, with the token of the kit.
#[tokio::test]
async fn pushes() {
    type Told = Arc<Mutex<Vec<String>>>;
    async fn keep(
        axum::extract::State(told): axum::extract::State<Told>,
        headers: http::HeaderMap,
        body: String,
    ) {
        assert_eq!(headers["x-a2a-notification-token"], "itk-token");
        told.lock().expect("no panic").push(body);
    }
    let told = Told::default();
    let hook = axum::Router::new()
        .route("/notifications", axum::routing::post(keep))
        .with_state(told.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let url = listener.local_addr().expect("an address").to_string();
    let serving = async { axum::serve(listener, hook).await.expect("serves") };
    let calling = async {
        for transport in TRANSPORTS {
            told.lock().expect("no panic").clear();
            let webhook = Webhook { url: url.clone() };
            let how = Behavior::PushNotification(webhook);
            let (text, _agents) = circuit(transport, false, how, false).await;
            is_a_trace(&text);
            // Of the second agent, with what the first one told it, and of the first one.
            let pushed = |text: &str| told.lock().expect("no panic").join("\n").contains(text);
            for expected in [r#"two\nthe-end"#, r#""text":"the-end""#] {
                let arrives = async {
                    while !pushed(expected) {
                        tokio::time::sleep(Duration::from_millis(10)).await;
                    }
                };
                let in_time = tokio::time::timeout(Duration::from_secs(10), arrives).await;
                assert!(
                    in_time.is_ok(),
                    "{transport}: {expected} was not pushed: {told:?}"
                );
            }
        }
    };
    tokio::select! {
        () = serving => {}
        () = calling => {}
    }
}
