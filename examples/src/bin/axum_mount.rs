//! The JSON-RPC binding in an axum application, below `/agent` and beside a route of its own.
//!
//! `cargo run -p portcullis-examples --bin axum_mount -- 127.0.0.1:8080`

use std::error::Error;

use axum::{Router, routing::get};
use portcullis_a2a::binding::JsonRpc;
use portcullis_examples::{address, echo_server, say, until_stopped};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = tokio::net::TcpListener::bind(address()).await?;
    let url = format!("http://{}/agent", listener.local_addr()?);
    let stopped = until_stopped();
    say(&url);
    let agent = JsonRpc::new(echo_server(&url)).path("/agent");
    let app = Router::new()
        .route("/", get(|| async { "an application" }))
        .fallback_service(agent);
    axum::serve(listener, app)
        .with_graceful_shutdown(stopped)
        .await?;
    Ok(())
}
