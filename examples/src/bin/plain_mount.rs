//! The plain edge in an axum application, below `/v1/turns` and beside a route of its own; and a call of it
//! over a socket, as another agent makes one.
//!
//! `cargo run -p portcullis-examples --bin plain_mount -- 127.0.0.1:8080`
//!
//! It serves until it is stopped; meanwhile:
//!
//! ```sh
//! curl -N http://127.0.0.1:8080/v1/turns -H 'Content-Type: application/json' -d '
//!   {"scope":{"session":"s-1"},"prompt":{"text":"hello there"}}'
//! ```

use std::{error::Error, time::Duration};

use axum::{Router, routing::get};
use futures_util::StreamExt;
use portcullis::{AgentEvent, AgentExt, Emitter, Prompt, Scope, agent_fn};
use portcullis_examples::{address, say, until_stopped};
use portcullis_http::{
    client::HttpAgent,
    server::{Detach, TurnService},
};
use portcullis_net::HttpClient;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let echo = agent_fn(async |_: Scope, prompt: Prompt, out: Emitter| {
        for word in prompt.as_text().split_inclusive(' ') {
            out.emit(AgentEvent::text(word)).await;
        }
        Ok(())
    });
    let minute = Duration::from_secs(60);
    let turns = TurnService::new(echo)
        .turn_limit(10 * minute)
        .detach(Detach::new(minute));
    let listener = tokio::net::TcpListener::bind(address()).await?;
    let url = format!("http://{}/v1/turns", listener.local_addr()?);
    let stopped = until_stopped();
    let app = Router::new()
        .route("/", get(|| async { "an application" }))
        .route_service("/v1/turns", turns);
    let serving = axum::serve(listener, app).with_graceful_shutdown(stopped);
    let (served, called) = tokio::join!(serving.into_future(), call(&url));
    called?;
    Ok(served?)
}

/// Asks the agent as any other, and prints what it says as it comes.
async fn call(url: &str) -> Result<(), Box<dyn Error>> {
    let agent = HttpAgent::new(HttpClient::new(), url.parse()?).resuming(Duration::from_secs(60));
    let turn = agent.invoke(Scope::new("s-1"), Prompt::text("hello there"));
    let mut events = std::pin::pin!(turn);
    while let Some(event) = events.next().await {
        say(&event.to_json());
    }
    say(url);
    Ok(())
}
