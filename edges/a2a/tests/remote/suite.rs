//! The conformance kit's agent suite over a remote agent (MUST 1, 2 and 3).

use std::time::Duration;

use portcullis::{
    AgentEvent, BoxAgent, Emitter, Failure, FailureCode, Json, Prompt, Scope, agent_fn,
    conformance::suite,
};
use portcullis_a2a::{client::Binding, remote::RemoteAgent};
use portcullis_net::{HttpClient, HttpClientBuilder};

use crate::{bridge::Elsewhere, client, client_over, serve};

/// An agent that takes every path: what it does is the prompt.
fn takes_every_path() -> BoxAgent {
    let pause = Duration::from_millis(1);
    BoxAgent::new(agent_fn(
        move |_: Scope, prompt: Prompt, out: Emitter| async move {
            match prompt.as_text() {
                "refuses" => {
                    let failure = Failure::with_code(FailureCode::RATE_LIMITED, "slow down");
                    return Err(failure.retryable(true).retry_after(Duration::from_secs(1)));
                }
                "fails" => return Err(Failure::new("no such city")),
                "panics" => panic!("a bug"),
                "thinks" => tokio::time::sleep(pause).await,
                _ => {}
            }
            out.emit(AgentEvent::thinking("hm")).await;
            out.emit(AgentEvent::tool_started("t", "look", Json::null()))
                .await;
            if prompt.as_text() == "works" {
                tokio::time::sleep(pause).await;
            }
            out.emit(AgentEvent::tool_ended("t", false, Json::null()))
                .await;
            for word in prompt.as_text().split(' ') {
                out.emit(AgentEvent::text(word)).await;
            }
            if prompt.as_text() == "fails late" {
                return Err(Failure::new("no such city"));
            }
            Ok(())
        },
    ))
}

const PATHS: [&str; 8] = [
    "",
    "refuses",
    "fails",
    "panics",
    "thinks",
    "works",
    "fails late",
    "many words here",
];

#[tokio::test(start_paused = true)]
async fn a_remote_agent_is_an_agent() {
    for binding in Binding::ALL {
        let client = client(*binding, takes_every_path());
        let make = || RemoteAgent::new(client.clone());
        suite::agent(make, PATHS).await.assert();
    }
}

#[tokio::test(start_paused = true)]
async fn a_remote_agent_is_an_agent_over_sockets() {
    let elsewhere = Elsewhere::new();
    let origin = elsewhere.listen(|origin| serve(origin, takes_every_path()));
    for binding in Binding::ALL {
        let http = match binding {
            Binding::Grpc => HttpClientBuilder::new().http2_only().build(),
            _ => HttpClient::new(),
        };
        let http = elsewhere.bridge(http);
        let make = || RemoteAgent::new(client_over(*binding, http.clone(), &origin));
        suite::agent(make, PATHS).await.assert();
    }
}
