//! An agent as the interop kit of the protocol (a2aproject/a2a-itk) wants it: it is called, and it calls the
//! next agent of the circuit, in whatever way its instruction says.
//!
//! ```sh
//! itk_agent --httpPort 8080 --grpcPort 8081
//! ```
//!
//! The card is at `http://127.0.0.1:8080`, JSON-RPC at `/jsonrpc`, HTTP+JSON below `/rest`, gRPC at the other port. Webhooks
//! may be on this very machine. It ends at SIGTERM or Ctrl-C.

mod call;
mod execute;
mod instruction;

use std::process::ExitCode;

use bytes::Bytes;
use http_body_util::Full;
use portcullis_a2a::{
    binding::{Layout, OnePort},
    client::Binding,
    model::{AgentCard, AgentInterface},
    server::{
        Server, executor_fn,
        push::{HttpDelivery, Push, Screening},
    },
};
use portcullis_examples::{say, until_stopped};
use portcullis_net::{HttpClient, bind};
use tokio::sync::watch;

#[tokio::main]
async fn main() -> ExitCode {
    let served = async {
        let (http, grpc) = ports(std::env::args().skip(1))?;
        serve(http, grpc).await
    };
    match served.await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("itk_agent: {error}"));
            ExitCode::FAILURE
        }
    }
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

fn ports(arguments: impl Iterator<Item = String>) -> Result<(u16, u16), BoxError> {
    let (mut http, mut grpc) = (0, 0);
    let mut arguments = arguments;
    while let Some(name) = arguments.next() {
        let port = match name.as_str() {
            "--httpPort" => &mut http,
            "--grpcPort" => &mut grpc,
            other => return Err(format!("what is {other}?").into()),
        };
        let value = arguments.next().unwrap_or_default();
        *port = value
            .parse()
            .map_err(|_| format!("{name} is {value:?}, which is no port"))?;
    }
    Ok((http, grpc))
}

async fn serve(http: u16, grpc: u16) -> Result<(), BoxError> {
    let http = bind(&format!("127.0.0.1:{http}")).await?;
    let grpc = bind(&format!("127.0.0.1:{grpc}")).await?;
    let url = format!("http://{}", http.local_addr()?);
    let layout = Layout::new().json_rpc_at("/jsonrpc");

    let mut card = AgentCard::new(
        "Portcullis in the interop kit",
        "Follows instructions, and has other agents follow theirs.",
        AgentInterface::json_rpc(&url),
    );
    card.supported_interfaces = layout.interfaces(&url);
    for interface in &mut card.supported_interfaces {
        if interface.protocol_binding == Binding::Grpc.as_str() {
            interface.url = grpc.local_addr()?.to_string();
        }
    }
    card.capabilities.streaming = Some(true);
    card.default_input_modes = vec!["text/plain".into(), instruction::MEDIA_TYPE.into()];

    let deliver = HttpDelivery::new(HttpClient::<_, Full<Bytes>>::new());
    let server = Server::builder(executor_fn(execute::execute), card)
        .push(Push::new(deliver).screening(Screening::Private))
        .build();
    let service = OnePort::with_layout(server, &layout);

    let stopped = until_stopped();
    say(&url);
    let (stop, _) = watch::channel(());
    let until = |mut stop: watch::Receiver<()>| async move { drop(stop.changed().await) };
    let on_http =
        portcullis_net::Server::new().serve(http, service.clone(), until(stop.subscribe()));
    let on_grpc = portcullis_net::Server::new().serve(grpc, service, until(stop.subscribe()));
    let stopping = async {
        stopped.await;
        drop(stop);
    };
    tokio::join!(on_http, on_grpc, stopping);
    Ok(())
}
