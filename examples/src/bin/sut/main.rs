//! The system under test: an agent that does what the kits and clients of others ask for, by
//! prefix of the message.
//!
//! | variable | meaning |
//! |---|---|
//! | `SUT_HTTP_PORT` | where JSON-RPC, HTTP+JSON (below `/rest`), gRPC and the card are, 0 for a free port |
//! | `SUT_GRPC_PORT` | taken, and not used: gRPC is on the same port, and the card says so |
//! | `SUT_STREAMING`, `SUT_PUSH`, `SUT_EXT_CARD` | 0: the agent has no streams, webhooks, extended card |
//! | `SUT_REQUIRED_EXT` | 1: the card requires an extension |
//! | `SUT_ANY_INPUT` | 1: the card takes parts of any media type |
//!
//! Webhooks may be anywhere, on this machine too, and everybody may read the extended card: the kits
//! want that. No agent that means it is set up so.
//!
//! It prints its address, and ends at SIGTERM or Ctrl-C.

mod agent;
mod behaviour;
mod card;
mod settings;

use std::process::ExitCode;

use bytes::Bytes;
use http_body_util::Full;
use portcullis_a2a::{
    binding::{Layout, OnePort},
    server::{
        Server, executor_fn,
        push::{HttpDelivery, Push, Screening},
    },
};
use portcullis_examples::{say, until_stopped};
use portcullis_net::{HttpClient, bind};

use settings::Settings;

#[tokio::main]
async fn main() -> ExitCode {
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .with_writer(std::io::stderr)
        .init();
    match serve().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("sut: {error}"));
            ExitCode::FAILURE
        }
    }
}

async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    let settings = Settings::from_env()?;
    let listener = bind(&format!("127.0.0.1:{}", settings.http_port)).await?;
    let url = format!("http://{}", listener.local_addr()?);
    let layout = Layout::new();
    let card = card::card(&layout.interfaces(&url), &settings)?;
    let mut server = Server::builder(executor_fn(agent::behave), card.clone());
    if settings.push {
        let deliver = HttpDelivery::new(HttpClient::<_, Full<Bytes>>::new());
        server = server.push(Push::new(deliver).screening(Screening::Private));
    }
    if settings.extended_card {
        let mut extended = card;
        extended.description.push_str(" This is the extended card.");
        extended.capabilities.extended_agent_card = Some(true);
        extended.capabilities.push_notifications = Some(settings.push);
        server = server.extended_card(move |_| Some(extended.clone()));
    }
    let server = server.build();
    let stopped = until_stopped();
    say(&url);
    portcullis_net::Server::new()
        .serve(listener, OnePort::with_layout(server, &layout), stopped)
        .await;
    Ok(())
}
