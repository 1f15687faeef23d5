//! An agent whose turns are spans in a collector, with the parent that the caller names.
//!
//! `OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 cargo run -p portcullis-examples --features otlp --bin otlp -- 127.0.0.1:8080`
//!
//! A collector to look at: `docker run -p 16686:16686 -p 4318:4318 jaegertracing/jaeger`.

use std::error::Error;

use portcullis::{AgentEvent, BoxAgent, Prompt, Usage, agent_fn};
use portcullis_a2a::{binding::JsonRpc, server::Server};
use portcullis_examples::{
    address, card,
    otlp::{Exporter, bridge},
    say, until_stopped,
};
use portcullis_layers::{ServiceBuilderExt, trace::TraceLayer};
use tower::ServiceBuilder;
use tracing_subscriber::{
    Layer, filter::LevelFilter, layer::SubscriberExt, util::SubscriberInitExt,
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let exporter = Exporter::new("portcullis-example", None)?;
    tracing_subscriber::registry()
        .with(exporter.layer().with_filter(LevelFilter::INFO))
        .init();
    let engine = agent_fn(async |_scope, prompt: Prompt, out| {
        let words = prompt.as_text().split_whitespace().count() as u64;
        out.emit(AgentEvent::text(prompt.as_text())).await;
        // An estimate: no model was asked.
        out.emit(Usage::new("call-1").with_input(words).with_output(words))
            .await;
        Ok(())
    });
    let agent = ServiceBuilder::new()
        .catch()
        .layer(TraceLayer::new().agent("echo").on_span(bridge))
        .conform()
        .service(engine);
    let listener = portcullis_net::bind(&address()).await?;
    let url = format!("http://{}/", listener.local_addr()?);
    let stopped = until_stopped();
    say(&url);
    let server = JsonRpc::new(Server::agent(BoxAgent::new(agent), card(&url)));
    portcullis_net::Server::new()
        .serve(listener, server, stopped)
        .await;
    exporter
        .end()
        .await
        .map_err(|error| error as Box<dyn Error>)
}
