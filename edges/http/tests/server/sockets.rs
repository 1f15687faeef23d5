use std::{net::SocketAddr, time::Duration};

use portcullis::{AgentEvent, Emitter, Failure, Prompt, Scope, agent_fn};
use portcullis_http::server::TurnService;
use portcullis_net::bind;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::watch,
    task::JoinSet,
    time::timeout,
};

use crate::support::*;

async fn serve(service: TurnService) -> (SocketAddr, JoinSet<()>) {
    serve_with(portcullis_net::Server::new(), service).await
}

async fn serve_with(
    server: portcullis_net::Server,
    service: TurnService,
) -> (SocketAddr, JoinSet<()>) {
    let listener = bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut serving = JoinSet::new();
    serving.spawn(server.serve(listener, service, std::future::pending()));
    (address, serving)
}

async fn ask(address: SocketAddr) -> TcpStream {
    let body = asking("p");
    let mut socket = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST / HTTP/1.1\r\nhost: h\r\naccept: {LINES}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    socket.write_all((head + &body).as_bytes()).await.unwrap();
    socket
}

async fn read_until(socket: &mut TcpStream, what: &str) {
    let mut text = String::new();
    while !text.contains(what) {
        let mut buffer = [0; 4096];
        let read = socket.read(&mut buffer).await.unwrap();
        assert_ne!(read, 0, "closed after {text}");
        text.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
    }
}

/// A caller that hangs up, in whichever way and however far the turn is, cancels it.
#[tokio::test]
async fn a_caller_that_hangs_up_cancels_the_turn() {
    for (deltas, resets) in [(true, false), (true, true), (false, false), (false, true)] {
        let (agent, mut alive) = if deltas { hangs() } else { hangs_after([]) };
        let (address, _serving) = serve(TurnService::new(agent)).await;
        let mut socket = ask(address).await;
        timeout(Duration::from_secs(5), alive.wait_for(|alive| *alive == 1))
            .await
            .expect("it runs")
            .unwrap();
        if deltas {
            read_until(&mut socket, r#""delta":"a""#).await;
        }
        if resets {
            socket.set_zero_linger().unwrap();
        }
        drop(socket);
        let gone = timeout(Duration::from_secs(5), alive.wait_for(|alive| *alive == 0));
        assert!(gone.await.is_ok(), "{deltas} {resets}: it runs on");
    }
}

/// The turn waits for its reader, but not for ever.
#[tokio::test]
async fn a_reader_that_never_reads_is_given_up() {
    let alive = watch::Sender::new(0);
    let mut counts = alive.subscribe();
    let floods = agent_fn(move |_: Scope, _: Prompt, out: Emitter| {
        let counted = Counted::new(alive.clone());
        async move {
            let _counted = counted;
            let piece = "x".repeat(64 << 10);
            loop {
                out.emit(AgentEvent::text(piece.clone())).await;
            }
            #[expect(unreachable_code, reason = "says what the block answers")]
            Ok::<(), Failure>(())
        }
    });
    let server = portcullis_net::Server::new().write_timeout(Duration::from_millis(100));
    let (address, _serving) = serve_with(server, TurnService::new(floods)).await;
    let _socket = ask(address).await;
    let begun = timeout(Duration::from_secs(5), counts.wait_for(|alive| *alive == 1));
    assert!(begun.await.is_ok(), "it begins");
    let gone = timeout(Duration::from_secs(5), counts.wait_for(|alive| *alive == 0));
    assert!(gone.await.is_ok(), "it runs on");
}
