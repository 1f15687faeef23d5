//! An agent behind a server behind an agent, over each binding.

use futures_util::StreamExt;
use portcullis::{
    AgentEvent, AgentExt, BoxAgent, BoxEventStream, Emitter, Failure, Prompt, Scope, agent_fn,
};
use portcullis_a2a::{
    binding::{Layout, OnePort},
    client::{Binding, Client},
    model::AgentCard,
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
    let card = AgentCard::of_interfaces("n", "d", Layout::new().interfaces("http://in.process"));
    let server = Server::agent_builder(agent, card)
        .coalescing(Coalescing::NONE)
        .build();
    let path = if binding == Binding::Rest {
        "/rest"
    } else {
        "/"
    };
    let url = format!("http://in.process{path}").parse().unwrap();
    BoxAgent::new(RemoteAgent::new(Client::over(
        binding,
        OnePort::new(server),
        url,
    )))
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
