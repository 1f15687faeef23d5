//! The JSON-RPC binding in a tonic server, beside gRPC services and on the same port.
//!
//! `cargo run -p portcullis-examples --bin tonic_mount -- 127.0.0.1:8080`

use std::error::Error;

use axum::Router;
use portcullis_a2a::binding::JsonRpc;
use portcullis_examples::{address, echo_server, say, until_stopped};
use tonic::{
    service::Routes,
    transport::{Server, server::TcpIncoming},
};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let incoming = TcpIncoming::bind(address().parse()?)?.with_nodelay(Some(true));
    let url = format!("http://{}/", incoming.local_addr()?);
    let stopped = until_stopped();
    say(&url);
    let agent = JsonRpc::new(echo_server(&url));
    // Routes of gRPC services are added to this: `.add_service(…)`.
    let routes = Routes::from(Router::new().fallback_service(agent));
    Server::builder()
        .accept_http1(true)
        .add_routes(routes)
        .serve_with_incoming_shutdown(incoming, stopped)
        .await?;
    Ok(())
}
