//! A listener of pipes, so that time can be paused, and services to put behind it.

use std::{convert::Infallible, io, net::SocketAddr};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, combinators::UnsyncBoxBody};
use hyper::body::Incoming;
use portcullis_net::Listener;
use tokio::{
    io::{AsyncReadExt, DuplexStream, duplex},
    sync::mpsc,
};

pub(crate) type Body = UnsyncBoxBody<Bytes, Infallible>;

/// Accepts what the test hands in, errors too.
pub(crate) struct Pipes(mpsc::Receiver<io::Result<DuplexStream>>);

#[derive(Clone)]
pub(crate) struct Dial(mpsc::Sender<io::Result<DuplexStream>>);

pub(crate) fn pipes() -> (Dial, Pipes) {
    let (sender, receiver) = mpsc::channel(64);
    (Dial(sender), Pipes(receiver))
}

impl Dial {
    pub(crate) async fn connect(&self) -> DuplexStream {
        let (ours, theirs) = duplex(64 * 1024);
        self.0.send(Ok(theirs)).await.expect("the server listens");
        ours
    }

    pub(crate) async fn fail(&self, kind: io::ErrorKind) {
        self.0
            .send(Err(kind.into()))
            .await
            .expect("the server listens");
    }
}

impl Listener for Pipes {
    type Io = DuplexStream;

    async fn accept(&mut self) -> io::Result<(DuplexStream, SocketAddr)> {
        match self.0.recv().await {
            Some(Ok(stream)) => Ok((stream, SocketAddr::from(([127, 0, 0, 1], 9)))),
            Some(Err(error)) => Err(error),
            None => std::future::pending().await,
        }
    }
}

/// `/events` and `/lines` are silent streams, `/stuck` never answers, anything else says hello.
pub(crate) async fn hello(request: Request<Incoming>) -> Result<Response<Body>, Infallible> {
    let response = match request.uri().path() {
        "/events" => Response::builder()
            .header("content-type", "text/event-stream")
            .body(Silent { said: false }.boxed_unsync()),
        "/lines" => Response::builder()
            .header("content-type", "application/x-ndjson")
            .body(Silent { said: false }.boxed_unsync()),
        "/stuck" => std::future::pending().await,
        "/away" => Response::builder()
            .status(302)
            .header("location", "/elsewhere")
            .body(Full::default().boxed_unsync()),
        _ => Response::builder().body(Full::from("hello").boxed_unsync()),
    };
    Ok(response.expect("a fixed head"))
}

/// One event, then silence for ever.
struct Silent {
    said: bool,
}

impl http_body::Body for Silent {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, Infallible>>> {
        if std::mem::replace(&mut self.said, true) {
            return std::task::Poll::Pending;
        }
        std::task::Poll::Ready(Some(Ok(http_body::Frame::data(Bytes::from_static(
            b"data: 1\n\n",
        )))))
    }
}

/// Reads until `needle` came.
pub(crate) async fn read_until(io: &mut DuplexStream, needle: &str) -> String {
    let mut text = String::new();
    while !text.contains(needle) {
        let mut buffer = [0; 1024];
        let read = io.read(&mut buffer).await.expect("the pipe is open");
        assert_ne!(read, 0, "closed after {text:?}");
        text.push_str(std::str::from_utf8(&buffer[..read]).expect("text"));
    }
    text
}

/// Reads to the end.
pub(crate) async fn read_rest(io: &mut DuplexStream) -> String {
    let mut text = String::new();
    io.read_to_string(&mut text)
        .await
        .expect("the pipe ends cleanly");
    text
}
