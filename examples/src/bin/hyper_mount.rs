//! The JSON-RPC binding on a bare hyper server.
//!
//! `cargo run -p portcullis-examples --bin hyper_mount -- 127.0.0.1:8080`

use std::error::Error;

use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
    service::TowerToHyperService,
};
use portcullis_a2a::binding::JsonRpc;
use portcullis_examples::{address, echo_server, say, until_stopped};
use tokio::task::JoinSet;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = tokio::net::TcpListener::bind(address()).await?;
    let url = format!("http://{}/", listener.local_addr()?);
    let stopped = until_stopped();
    say(&url);
    let agent = JsonRpc::new(echo_server(&url));
    let mut stopped = std::pin::pin!(stopped);
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = tokio::select! {
            () = &mut stopped => return Ok(()),
            accepted = listener.accept() => accepted?,
        };
        // Each frame of a stream would wait for an acknowledgement otherwise.
        stream.set_nodelay(true)?;
        let service = TowerToHyperService::new(agent.clone());
        connections.spawn(async move {
            let mut server = auto::Builder::new(TokioExecutor::new());
            server.http1().timer(TokioTimer::new());
            // A client that hangs up is no concern of the others.
            drop(server.serve_connection(TokioIo::new(stream), service).await);
        });
    }
}
