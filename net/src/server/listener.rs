use std::{future::Future, io, net::SocketAddr};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
};

/// Where connections come from. A test puts a listener here that fails on demand.
pub trait Listener: Send + 'static {
    /// One connection.
    type Io: AsyncRead + AsyncWrite + Send + Unpin + 'static;

    /// Waits for the next connection. Must be safe to drop and call again.
    fn accept(&mut self) -> impl Future<Output = io::Result<(Self::Io, SocketAddr)>> + Send;
}

impl Listener for TcpListener {
    type Io = TcpStream;

    async fn accept(&mut self) -> io::Result<(TcpStream, SocketAddr)> {
        let (stream, peer) = Self::accept(self).await?;
        // Without it each small frame of a stream waits some 40 ms for the acknowledgement of the
        // one before (Nagle against delayed ACK). A failure means that the peer has gone already.
        stream.set_nodelay(true)?;
        Ok((stream, peer))
    }
}
