//! Serving: limits, failures of the listener, the end.

use std::{future::pending, io::ErrorKind, time::Duration};

use portcullis_net::{Listener, Peer, Server, bind};
use tokio::{
    io::AsyncWriteExt,
    sync::oneshot,
    task::JoinHandle,
    time::{Instant, timeout},
};
use tower::service_fn;

use crate::support::{Dial, hello, pipes, read_rest, read_until};

fn start(server: Server) -> (Dial, oneshot::Sender<()>, JoinHandle<()>) {
    let (dial, listener) = pipes();
    let (stop, stopped) = oneshot::channel();
    let served = server.serve(listener, service_fn(hello), async {
        drop(stopped.await);
    });
    #[expect(clippy::disallowed_methods, reason = "the test awaits the handle")]
    let handle = tokio::spawn(served);
    (dial, stop, handle)
}

const GET: &[u8] = b"GET / HTTP/1.1\r\nhost: h\r\n\r\n";

#[tokio::test(start_paused = true)]
async fn accept_goes_on_after_errors() {
    // O-M05
    let (dial, _stop, _served) = start(Server::new());
    let began = Instant::now();
    for kind in [
        ErrorKind::ConnectionAborted,
        ErrorKind::Other,
        ErrorKind::Other,
    ] {
        dial.fail(kind).await;
    }
    let mut io = dial.connect().await;
    io.write_all(GET).await.unwrap();
    read_until(&mut io, "hello").await;
    assert_eq!(
        began.elapsed().as_millis() / 10,
        20,
        "two pauses, none for a connection that left"
    );
}

#[tokio::test(start_paused = true)]
async fn a_connection_over_the_limit_waits() {
    let (dial, _stop, _served) = start(Server::new().max_connections(1));
    let mut first = dial.connect().await;
    first.write_all(GET).await.unwrap();
    read_until(&mut first, "hello").await;
    let mut second = dial.connect().await;
    second.write_all(GET).await.unwrap();
    let early = timeout(Duration::from_secs(1), read_until(&mut second, "hello")).await;
    assert!(early.is_err(), "served beside the first");
    drop(first);
    read_until(&mut second, "hello").await;
}

#[tokio::test(start_paused = true)]
async fn a_half_sent_head_is_closed() {
    // O-M06
    let (dial, _stop, _served) = start(Server::new().header_timeout(Duration::from_secs(3)));
    let began = Instant::now();
    let mut halves = Vec::new();
    for _ in 0..50 {
        let mut io = dial.connect().await;
        io.write_all(b"GET / HTTP/1.1\r\nho").await.unwrap();
        halves.push(io);
    }
    let mut other = dial.connect().await;
    other.write_all(GET).await.unwrap();
    read_until(&mut other, "hello").await;
    assert!(
        began.elapsed() < Duration::from_secs(1),
        "others are not held up"
    );
    for mut io in halves {
        read_rest(&mut io).await;
    }
    assert!(
        began.elapsed() <= Duration::from_secs(4),
        "closed after {:?}",
        began.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_says_nothing_is_closed() {
    // O-M06
    let (dial, _stop, _served) = start(Server::new().header_timeout(Duration::from_secs(3)));
    let began = Instant::now();
    for first_bytes in [&b""[..], b"PRI * HT"] {
        let mut io = dial.connect().await;
        io.write_all(first_bytes).await.unwrap();
        read_rest(&mut io).await;
    }
    assert!(
        began.elapsed() <= Duration::from_secs(7),
        "closed after {:?}",
        began.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn a_silent_stream_ends_cleanly_at_the_stop() {
    // O-D04
    for path in ["/events", "/lines"] {
        let (dial, stop, served) = start(Server::new());
        let mut io = dial.connect().await;
        let request = format!("GET {path} HTTP/1.1\r\nhost: h\r\n\r\n");
        io.write_all(request.as_bytes()).await.unwrap();
        read_until(&mut io, "data: 1\n\n").await;
        let began = Instant::now();
        stop.send(()).unwrap();
        let rest = read_rest(&mut io).await;
        assert!(
            rest.ends_with("0\r\n\r\n"),
            "the last chunk is there: {rest:?}"
        );
        served.await.unwrap();
        assert_eq!(began.elapsed(), Duration::ZERO, "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_grace_bounds_the_end() {
    // O-D04
    let (dial, stop, served) = start(Server::new().grace(Duration::from_secs(2)));
    let mut io = dial.connect().await;
    io.write_all(b"GET /stuck HTTP/1.1\r\nhost: h\r\n\r\n")
        .await
        .unwrap();
    tokio::task::yield_now().await;
    let began = Instant::now();
    stop.send(()).unwrap();
    served.await.unwrap();
    assert_eq!(began.elapsed(), Duration::from_secs(2));
    assert_eq!(read_rest(&mut io).await, "");
}

/// A client that asks for much and reads nothing does not keep its connection (O-M01).
#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_is_closed() {
    let (dial, listener) = pipes();
    let server = Server::new().write_timeout(Duration::from_secs(5));
    let flood = service_fn(async |_: http::Request<hyper::body::Incoming>| {
        let body = http_body_util::Full::<bytes::Bytes>::from(vec![b'x'; 1 << 20]);
        Ok::<_, std::convert::Infallible>(http::Response::new(body))
    });
    let served = server.serve(listener, flood, pending());
    let client = async {
        let began = Instant::now();
        let mut io = dial.connect().await;
        io.write_all(GET).await.unwrap();
        // Takes a little, so that something moves, then nothing.
        let mut some = [0; 1024];
        tokio::time::sleep(Duration::from_secs(4)).await;
        tokio::io::AsyncReadExt::read_exact(&mut io, &mut some)
            .await
            .unwrap();
        tokio::time::sleep(Duration::from_secs(60)).await;
        let mut rest = Vec::new();
        tokio::io::AsyncReadExt::read_to_end(&mut io, &mut rest)
            .await
            .unwrap();
        assert!(rest.len() < 1 << 20, "all of it came");
        assert_eq!(began.elapsed().as_secs(), 64);
    };
    tokio::select! {
        () = served => unreachable!("it has no end"),
        () = client => {}
    }
}

/// The head of a request is bounded (431), and what is within the bound passes.
#[tokio::test(start_paused = true)]
async fn a_large_head_is_refused() {
    let (dial, _stop, _served) = start(Server::new().max_header_size(8 << 10));
    for (size, answer) in [(4 << 10, "200 OK"), (32 << 10, "431 ")] {
        let mut io = dial.connect().await;
        let head = format!(
            "GET / HTTP/1.1\r\nhost: h\r\nx: {}\r\n\r\n",
            "y".repeat(size)
        );
        io.write_all(head.as_bytes()).await.unwrap();
        let text = read_until(&mut io, "\r\n\r\n").await;
        assert!(text.starts_with(&format!("HTTP/1.1 {answer}")), "{text}");
    }
}

#[tokio::test]
async fn an_address_in_use_says_so() {
    let first = bind("127.0.0.1:0").await.unwrap();
    let address = first.local_addr().unwrap().to_string();
    let error = bind(&address).await.unwrap_err();
    assert!(error.is_in_use());
    assert_eq!(error.address(), address);
    assert!(error.to_string().contains(&address), "{error}");
    let error = bind("no port").await.unwrap_err();
    assert!(error.to_string().contains("host:port"), "{error}");
}

#[tokio::test]
async fn an_accepted_socket_does_not_wait_for_acknowledgements() {
    let mut listener = bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (accepted, connected) = tokio::join!(
        Listener::accept(&mut listener),
        tokio::net::TcpStream::connect(address)
    );
    connected.unwrap();
    assert!(accepted.unwrap().0.nodelay().unwrap());
}

#[tokio::test]
async fn both_versions_of_http_share_the_port() {
    use http_body_util::{BodyExt, Empty};
    use hyper_util::{client::legacy::Client, rt::TokioExecutor};

    let listener = bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = service_fn(async |request: http::Request<hyper::body::Incoming>| {
        let peer = request.extensions().get::<Peer>().copied().unwrap();
        assert!(peer.address().ip().is_loopback());
        let version = format!("{:?}", request.version());
        Ok::<_, std::convert::Infallible>(http::Response::new(version))
    });
    let calls = async {
        for (http2, version) in [(false, "HTTP/1.1"), (true, "HTTP/2.0")] {
            let client = Client::builder(TokioExecutor::new())
                .http2_only(http2)
                .build_http::<Empty<bytes::Bytes>>();
            let uri = format!("http://{address}/").parse().unwrap();
            let body = client.get(uri).await.unwrap().into_body();
            assert_eq!(body.collect().await.unwrap().to_bytes(), version);
        }
    };
    tokio::select! {
        () = Server::new().serve(listener, service, pending()) => unreachable!("no stop"),
        () = calls => {}
    }
}
