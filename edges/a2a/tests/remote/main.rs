//! An agent behind a server behind an agent, over each binding.

mod bridge;
mod credentials;
#[path = "../binding/cutting.rs"]
mod cutting;
mod resume;
mod suite;

use std::{future::pending, time::Duration};

use futures_util::{FutureExt, StreamExt};
use portcullis::views::InputRequired;
use portcullis::{
    AgentEvent, AgentExt, BoxAgent, BoxEventStream, Emitter, Failure, Prompt, Scope, agent_fn,
};
use portcullis_a2a::{
    binding::{Layout, OnePort},
    client::{Binding, Client, Transport},
    model::{AgentCard, ListTasksRequest, TaskState},
    remote::RemoteAgent,
    server::{Coalescing, Server},
};

const EVENTS: &[&str] = &[
    r#"{"type":"thinking","delta":"hm"}"#,
    r#"{"type":"text","delta":"a","lang":"en"}"#,
    r#"{"z":1.50,"type":"weather","n":123456789012345678901234567890,"x":1e400}"#,
    r#"{"type":"tool_started","id":"t","name":"n","args":{"b":1,"a":2}}"#,
    r#"{"type":"tool_ended","id":"t","isError":false,"content":[1.0]}"#,
    r#"{"type":"usage","id":"u","input":7}"#,
    r#"{"type":"text","delta":"b"}"#,
    r#"{"type":"artifact","id":"f","raw":"AAEC","name":"f.bin","mimeType":"x/y"}"#,
    r#"{"type":"artifact","id":"g","data":{"b":1.0},"more":1}"#,
    r#"{"type":"input_required","question":"which?","schema":{"type":"string"}}"#,
    r#"{"type":"completed","data":{"b":2.50,"a":1},"more":true}"#,
];

fn gate(binding: Binding, agent: BoxAgent) -> BoxAgent {
    BoxAgent::new(RemoteAgent::new(client(binding, agent)))
}

fn client(binding: Binding, agent: BoxAgent) -> Client<OnePort> {
    let origin = "http://in.process";
    client_over(binding, serve(origin, agent), origin)
}

/// A server of an agent.
fn serve(origin: &str, agent: BoxAgent) -> OnePort {
    let card = AgentCard::of_interfaces("n", "d", Layout::new().interfaces(origin));
    let server = Server::agent_builder(agent, card)
        .coalescing(Coalescing::NONE)
        .build();
    OnePort::new(server)
}

/// A client of a server that has all bindings on one port.
fn client_over<T: Transport>(binding: Binding, transport: T, origin: &str) -> Client<T> {
    let path = if binding == Binding::Rest {
        "/rest"
    } else {
        "/"
    };
    let url = format!("{origin}{path}").parse().unwrap();
    Client::over(binding, transport, url)
}

#[tokio::test(start_paused = true)]
async fn three_gates_keep_every_event() {
    for binding in Binding::ALL {
        let mut agent = BoxAgent::new(agent_fn(async |_: Scope, _: Prompt, out: Emitter| {
            for event in EVENTS {
                out.emit(AgentEvent::from_json(event).unwrap()).await;
            }
            Ok::<_, Failure>(())
        }));
        for _ in 0..3 {
            agent = gate(*binding, agent);
        }
        let said: Vec<_> = BoxEventStream::new(agent.invoke(Scope::new("s"), Prompt::text("p")))
            .map(|event| event.to_json())
            .collect()
            .await;
        let sent: Vec<_> = EVENTS
            .iter()
            .map(|event| AgentEvent::from_json(event).unwrap().to_json())
            .collect();
        assert_eq!(said, sent, "{binding}");
    }
}

/// A turn that nobody reads any more ends at the other end of the chain, and soon.
#[tokio::test(start_paused = true)]
async fn a_dropped_turn_ends_behind_three_gates() {
    for binding in Binding::ALL {
        let alive = tokio::sync::watch::Sender::new(0);
        let mut ended = alive.subscribe();
        let mut agent = BoxAgent::new(agent_fn(move |_: Scope, _: Prompt, out: Emitter| {
            let alive = alive.clone();
            async move {
                let _counted = Counted::new(alive);
                out.emit(AgentEvent::text("a")).await;
                pending::<Result<(), Failure>>().await
            }
        }));
        for _ in 0..3 {
            agent = gate(*binding, agent);
        }
        let mut turn =
            BoxEventStream::new(agent.clone().invoke(Scope::new("s"), Prompt::text("p")));
        let first = turn.next().await.expect("an event");
        assert_eq!(first.type_name(), "text", "{binding}");
        assert_eq!(*ended.borrow_and_update(), 1, "{binding}");
        drop(turn);
        let gone = ended.wait_for(|alive| *alive == 0);
        let in_time = tokio::time::timeout(Duration::from_secs(5), gone).await;
        assert!(in_time.is_ok(), "{binding}: it runs on");
    }
}

/// Nobody knows yet which task it is: that is waited for, and then it is cancelled.
#[tokio::test(start_paused = true)]
async fn a_turn_dropped_before_the_reply_is_cancelled() {
    for binding in Binding::ALL {
        let begun = tokio::sync::watch::Sender::new(0);
        let alive = tokio::sync::watch::Sender::new(0);
        let (ran, counted) = (begun.clone(), alive.clone());
        let agent = BoxAgent::new(agent_fn(move |_: Scope, _: Prompt, _: Emitter| {
            let mine = Counted::new(counted.clone());
            ran.send_modify(|ran| *ran += 1);
            async move {
                let _counted = mine;
                pending::<Result<(), Failure>>().await
            }
        }));
        let agent = RemoteAgent::new(client(*binding, agent));
        let mut turn =
            BoxEventStream::new(agent.clone().invoke(Scope::new("s"), Prompt::text("p")));
        assert!(turn.next().now_or_never().is_none(), "{binding}");
        drop(turn);
        agent.settle().await;
        assert_eq!((*begun.borrow(), *alive.borrow()), (1, 0), "{binding}");
        // One that was never polled asks nobody.
        drop(agent.clone().invoke(Scope::new("s"), Prompt::text("p")));
        agent.settle().await;
        assert_eq!(*begun.borrow(), 1, "{binding}");
    }
}

struct Counted(tokio::sync::watch::Sender<usize>);

impl Counted {
    fn new(alive: tokio::sync::watch::Sender<usize>) -> Self {
        alive.send_modify(|alive| *alive += 1);
        Self(alive)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.send_modify(|alive| *alive -= 1);
    }
}

/// The answer to a question goes to the task that asked.
#[tokio::test(start_paused = true)]
async fn a_question_is_answered_in_the_next_turn() {
    for binding in Binding::ALL {
        let asks = agent_fn(async |_: Scope, prompt: Prompt, out: Emitter| {
            if prompt.as_text() == "paint" {
                out.emit(InputRequired::new("which colour?")).await;
            } else {
                out.emit(AgentEvent::text(format!("painted {}", prompt.as_text())))
                    .await;
            }
            Ok::<_, Failure>(())
        });
        let client = client(*binding, BoxAgent::new(asks));
        let agent = RemoteAgent::new(client.clone());
        let ask = async |text: &str| -> Vec<String> {
            let turn = agent.clone().invoke(Scope::new("s"), Prompt::text(text));
            BoxEventStream::new(turn)
                .map(|event| event.to_json())
                .collect()
                .await
        };
        let asked = ask("paint").await;
        assert!(asked[0].contains("which colour?"), "{binding}: {asked:?}");
        let answered = ask("red").await;
        assert!(
            answered[0].contains("painted red"),
            "{binding}: {answered:?}"
        );
        let tasks = client.list_tasks(&ListTasksRequest::default()).await;
        let tasks = tasks.expect("answered").tasks;
        assert_eq!(tasks.len(), 1, "{binding}");
        assert_eq!(tasks[0].status.state, TaskState::Completed, "{binding}");
    }
}

/// What binds the turn goes with it, and nothing that gives it a name.
#[tokio::test(start_paused = true)]
async fn what_binds_the_turn_goes_with_it() {
    let members = r#"{"session":"mine","source":"here","outputSchema":{"b":1.50,"a":2},"constraints":{"deadlineMs":90000,"region":"eu"},"more":1e400}"#;
    for binding in Binding::ALL {
        let tells = agent_fn(async |scope: Scope, _: Prompt, out: Emitter| {
            let now = tokio::time::Instant::now().into_std();
            out.emit(AgentEvent::text(scope.to_json_at(now))).await;
            Ok::<_, Failure>(())
        });
        let agent = gate(*binding, gate(*binding, BoxAgent::new(tells)));
        let now = tokio::time::Instant::now().into_std();
        let scope = Scope::from_json_at(members, now).unwrap();
        let answer = portcullis::collect(agent.invoke(scope, Prompt::text("p"))).await;
        let told = Scope::from_json_at(&answer.unwrap().text, now).unwrap();
        let left = told.deadline().unwrap() - now;
        assert_eq!(left, Duration::from_secs(90), "{binding}");
        let schema = told.output_schema().unwrap().as_str();
        assert_eq!(schema, r#"{"b":1.50,"a":2}"#, "{binding}");
        assert_eq!(told.constraints_extra().text("region"), Some(r#""eu""#));
        assert_eq!(told.extra().text("more"), Some("1e400"), "{binding}");
        assert_eq!(told.source(), Some("a2a"), "{binding}");
        assert_ne!(told.session(), "mine", "{binding}");
    }
}
