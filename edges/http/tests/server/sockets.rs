use std::{net::SocketAddr, time::Duration};

use portcullis_http::server::TurnService;
use portcullis_net::bind;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
    time::timeout,
};

use crate::support::*;

async fn serve(service: TurnService) -> (SocketAddr, JoinSet<()>) {
    let listener = bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut serving = JoinSet::new();
    serving.spawn(portcullis_net::Server::new().serve(listener, service, std::future::pending()));
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
