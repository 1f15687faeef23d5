//! Turns whose connection is cut.

use std::time::Duration;

use futures_util::StreamExt;
use portcullis::{
    AgentEvent, AgentExt, BoxAgent, BoxEventStream, Emitter, Failure, FailureCode, Prompt, Scope,
    agent_fn,
};
use portcullis_a2a::{
    binding::{Layout, OnePort},
    client::{Binding, Client, Resume},
    model::AgentCard,
    remote::RemoteAgent,
    server::{Coalescing, Server},
};
use tokio::time::sleep;

use crate::{EVENTS, cutting::Cutting};

/// Something new every ten seconds.
fn slow() -> BoxAgent {
    BoxAgent::new(agent_fn(async |_: Scope, _: Prompt, out: Emitter| {
        for event in EVENTS {
            out.emit(AgentEvent::from_json(event).unwrap()).await;
            sleep(Duration::from_secs(10)).await;
        }
        Ok::<_, Failure>(())
    }))
}

async fn events(binding: Binding, cuts: &[usize], resume: Resume) -> Vec<AgentEvent> {
    let card = AgentCard::of_interfaces("n", "d", Layout::new().interfaces("http://in.process"));
    let server = Server::agent_builder(slow(), card)
        .coalescing(Coalescing::NONE)
        .build();
    let path = match binding {
        Binding::Rest => "/rest",
        _ => "/",
    };
    let url = format!("http://in.process{path}").parse().unwrap();
    let service = Cutting::new(OnePort::new(server), cuts);
    let agent = RemoteAgent::new(Client::over(binding, service, url)).resume(resume);
    BoxEventStream::new(agent.invoke(Scope::new("s"), Prompt::text("p")))
        .collect()
        .await
}

#[tokio::test(start_paused = true)]
async fn a_cut_turn_goes_on_where_it_was() {
    // Ids are honoured over the bindings of JSON, so what a status carries is not lost either.
    for binding in [Binding::JsonRpc, Binding::Rest] {
        let whole = events(binding, &[], Resume::never()).await;
        for cut in (900..6_000).step_by(301) {
            let cuts = [cut, 700 + cut % 400, 1_100];
            let resumed = events(binding, &cuts, Resume::new()).await;
            assert_eq!(resumed, whole, "{binding}, cut after {cut} bytes");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_cut_turn_fails_where_nobody_resumes() {
    for &binding in Binding::ALL {
        let events = events(binding, &[1_500], Resume::never()).await;
        let Some(AgentEvent::Failed(failure)) = events.last() else {
            panic!("{binding}: {events:?}")
        };
        assert_eq!(failure.code(), Some(&FailureCode::UNAVAILABLE));
    }
}
