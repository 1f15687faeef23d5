//! A server of bytes: it reads one request a connection and then does what a test wants.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http_body_util::Full;
use hyper_util::client::legacy::connect::HttpConnector;
use portcullis_a2a::client::{Binding, Client};
use portcullis_net::HttpClient;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    task::JoinSet,
    time::timeout,
};

/// One thing that the server does.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Writes it.
    Send(Bytes),
    /// Writes it byte by byte, each in a packet of its own.
    Drip(Bytes),
    /// Writes it for as long as somebody reads.
    Repeat(Bytes),
    /// Writes a byte of it now and then, for as long as somebody reads.
    Trickle(&'static [u8]),
    /// Says nothing, and waits for the client to hang up.
    Hang,
    /// Closes the connection as if the process had died.
    Reset,
}

pub(crate) fn send(bytes: impl Into<Bytes>) -> Act {
    Act::Send(bytes.into())
}

/// The head of a response without a length, whose end is that of the connection.
pub(crate) fn head(status: &str, type_: &str) -> Act {
    send(format!(
        "HTTP/1.1 {status}\r\ncontent-type: {type_}\r\nconnection: close\r\n\r\n"
    ))
}

/// The head of an event stream in chunks.
pub(crate) fn chunked(type_: &str) -> Act {
    send(format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {type_}\r\ntransfer-encoding: chunked\r\n\r\n"
    ))
}

/// One chunk.
pub(crate) fn chunk(text: &str) -> Act {
    send(format!("{:x}\r\n{text}\r\n", text.len()))
}

/// The last one.
pub(crate) fn last_chunk() -> Act {
    send("0\r\n\r\n")
}

type Http = HttpClient<HttpConnector, Full<Bytes>>;

/// The server, until it is dropped.
pub(crate) struct Raw {
    pub(crate) address: SocketAddr,
    /// How many bytes each connection took, when it is over.
    taken: mpsc::UnboundedReceiver<usize>,
    _serving: JoinSet<()>,
}

impl Raw {
    pub(crate) async fn start(acts: Vec<Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (over, taken) = mpsc::unbounded_channel();
        let acts = Arc::new(acts);
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                let (acts, over) = (Arc::clone(&acts), over.clone());
                connections.spawn(async move {
                    over.send(serve(socket, &acts).await).ok();
                });
            }
        });
        Self {
            address,
            taken,
            _serving: serving,
        }
    }

    pub(crate) fn client(&self, binding: Binding) -> Client<Http> {
        let url = format!("http://{}/", self.address).parse().unwrap();
        Client::over(binding, HttpClient::new(), url)
    }

    /// How many bytes the next connection that is over has taken.
    pub(crate) async fn taken(&mut self) -> usize {
        let taken = timeout(Duration::from_secs(10), self.taken.recv()).await;
        taken.expect("a connection is over").unwrap()
    }

    /// How many connections are over and were not asked for.
    pub(crate) fn connections(&mut self) -> usize {
        std::iter::from_fn(|| self.taken.try_recv().ok()).count()
    }
}

async fn serve(mut socket: TcpStream, acts: &[Act]) -> usize {
    socket.set_nodelay(true).unwrap();
    let mut written = 0;
    if read_request(&mut socket).await.is_none() {
        return written;
    }
    for act in acts {
        let sent = match act {
            Act::Send(bytes) => socket.write_all(bytes).await.map(|()| bytes.len()),
            Act::Drip(bytes) => drip(&mut socket, bytes).await,
            Act::Repeat(bytes) => loop {
                match socket.write_all(bytes).await {
                    Ok(()) => written += bytes.len(),
                    Err(error) => break Err(error),
                }
            },
            Act::Trickle(bytes) => trickle(&mut socket, bytes).await,
            Act::Hang => loop {
                match socket.read(&mut [0; 64]).await {
                    Ok(0) => break Ok(0),
                    Ok(_) => {}
                    Err(error) => break Err(error),
                }
            },
            Act::Reset => socket.set_zero_linger().map(|()| 0),
        };
        match sent {
            Ok(sent) => written += sent,
            Err(_) => break,
        }
    }
    written
}

async fn drip(socket: &mut TcpStream, bytes: &[u8]) -> std::io::Result<usize> {
    for byte in bytes {
        socket.write_all(&[*byte]).await?;
        tokio::task::yield_now().await;
    }
    Ok(bytes.len())
}

async fn trickle(socket: &mut TcpStream, bytes: &[u8]) -> std::io::Result<usize> {
    let mut clock = tokio::time::interval(Duration::from_millis(5));
    for byte in bytes.iter().cycle() {
        clock.tick().await;
        socket.write_all(&[*byte]).await?;
    }
    Ok(0)
}

/// Reads a head, and as much of a body as it says.
async fn read_request(socket: &mut TcpStream) -> Option<()> {
    let mut request = Vec::new();
    loop {
        if socket.read_buf(&mut request).await.ok()? == 0 {
            return None;
        }
        let text = String::from_utf8_lossy(&request).to_ascii_lowercase();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        let length = length.map_or(0, |length| length.parse().unwrap());
        if body.len() >= length {
            return Some(());
        }
    }
}
