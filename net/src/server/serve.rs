use std::{
    fmt,
    future::Future,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use http_body::Body;
use hyper::body::Incoming;
use tokio::{
    sync::{Semaphore, watch},
    task::JoinSet,
    time::{Instant, sleep, timeout_at},
};
use tower_service::Service;

use super::{
    connection::{Connection, Limits},
    listener::Listener,
};
use crate::BoxError;

/// Serves one service: HTTP/1.1 and HTTP/2 on one port. Over TLS the client chooses in the
/// handshake; without it HTTP/2 needs prior knowledge.
///
/// Every connection runs in a task that the server owns. A connection that fails ends alone; an
/// accept that fails is tried again (O-M05).
///
/// ```no_run
/// # async fn doc() -> Result<(), Box<dyn std::error::Error>> {
/// # let service = tower::service_fn(|_: http::Request<hyper::body::Incoming>| async {
/// #     Ok::<_, std::convert::Infallible>(http::Response::new(http_body_util::Empty::<bytes::Bytes>::new()))
/// # });
/// let listener = portcullis_net::bind("127.0.0.1:8080").await?;
/// let ctrl_c = std::future::pending::<()>();
/// portcullis_net::Server::new().serve(listener, service, ctrl_c).await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Server {
    max_connections: usize,
    grace: Duration,
    limits: Limits,
    #[cfg(feature = "tls")]
    tls: Option<super::Tls>,
    #[cfg(feature = "tls")]
    hsts: Option<http::HeaderValue>,
}

impl Server {
    /// At most 10,000 connections; 10 s for a handshake, 15 s for the head of a request of at most 64 KiB,
    /// 30 s for a client to take what it is sent; 5 s to finish at the end. Without TLS.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            max_connections: 10_000,
            grace: Duration::from_secs(5),
            limits: Limits::new(),
            #[cfg(feature = "tls")]
            tls: None,
            #[cfg(feature = "tls")]
            hsts: None,
        }
    }

    /// Connections that may be open at once. More wait in the backlog of the system.
    #[must_use]
    pub const fn max_connections(mut self, limit: usize) -> Self {
        self.max_connections = limit;
        self
    }

    /// How long a client may take for the head of a request (O-M06).
    #[must_use]
    pub const fn header_timeout(mut self, limit: Duration) -> Self {
        self.limits.header = limit;
        self
    }

    /// How large the head of a request may be, in bytes; at least 8 KiB.
    #[must_use]
    pub const fn max_header_size(mut self, bytes: u32) -> Self {
        self.limits.header_size = if bytes < 8 << 10 { 8 << 10 } else { bytes };
        self
    }

    /// How long a client may leave untaken what it is sent. The connection is closed then.
    #[must_use]
    pub const fn write_timeout(mut self, limit: Duration) -> Self {
        self.limits.write = limit;
        self
    }

    /// Serves over TLS.
    #[cfg(feature = "tls")]
    #[cfg_attr(docsrs, doc(cfg(feature = "tls")))]
    #[must_use]
    pub fn tls(mut self, tls: super::Tls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// Tells browsers, in each response over TLS, to come to this host by TLS alone for so long
    /// (`Strict-Transport-Security`). It is of the whole host, whatever else listens there, so
    /// nothing is said by default.
    #[cfg(feature = "tls")]
    #[cfg_attr(docsrs, doc(cfg(feature = "tls")))]
    #[must_use]
    pub fn hsts(mut self, max_age: Duration) -> Self {
        let value = format!("max-age={}", max_age.as_secs());
        self.hsts = http::HeaderValue::try_from(value).ok();
        self
    }

    /// How long a client may take for the handshake of TLS.
    #[cfg(feature = "tls")]
    #[cfg_attr(docsrs, doc(cfg(feature = "tls")))]
    #[must_use]
    pub const fn handshake_timeout(mut self, limit: Duration) -> Self {
        self.limits.handshake = limit;
        self
    }

    /// How long requests in flight may take to finish after the stop. Event streams end at once.
    #[must_use]
    pub const fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Serves until `shutdown` is ready, then finishes within the grace.
    ///
    /// # Cancel safety
    /// Dropping the future closes every connection at once.
    pub async fn serve<L, S, B>(self, listener: L, service: S, shutdown: impl Future<Output = ()>)
    where
        L: Listener,
        S: Service<http::Request<Incoming>, Response = http::Response<B>> + Clone + Send + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send + 'static,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<BoxError>,
    {
        let (stop, stopped) = watch::channel(false);
        let mut connections = JoinSet::new();
        let accept = self.accept(
            listener,
            service,
            shutdown,
            Stopped::new(stopped),
            &mut connections,
        );
        #[cfg(feature = "tls")]
        if let Some(tls) = &self.tls {
            tokio::select! {
                () = accept => {}
                () = tls.watch() => unreachable!("it has no end"),
            }
        } else {
            accept.await;
        }
        #[cfg(not(feature = "tls"))]
        accept.await;
        stop.send_replace(true);
        self.drain(connections).await;
    }

    /// Accepts until the shutdown, and closes the listener then.
    async fn accept<L, S, B>(
        &self,
        mut listener: L,
        service: S,
        shutdown: impl Future<Output = ()>,
        stopped: Stopped,
        connections: &mut JoinSet<()>,
    ) where
        L: Listener,
        S: Service<http::Request<Incoming>, Response = http::Response<B>> + Clone + Send + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send + 'static,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<BoxError>,
    {
        let seats = Arc::new(Semaphore::new(
            self.max_connections.min(Semaphore::MAX_PERMITS),
        ));
        let mut shutdown = std::pin::pin!(shutdown);
        loop {
            let next = async {
                let seat = Arc::clone(&seats)
                    .acquire_owned()
                    .await
                    .expect("never closed");
                (seat, listener.accept().await)
            };
            tokio::select! {
                biased;
                () = &mut shutdown => return,
                // Reaps what has finished; the arm is off while there is nothing.
                Some(_) = connections.join_next() => {}
                (seat, accepted) = next => match accepted {
                    Ok((io, peer)) => {
                        let connection = Connection {
                            peer,
                            limits: self.limits.clone(),
                            stopped: stopped.clone(),
                            #[cfg(feature = "tls")]
                            hsts: self.hsts.clone().filter(|_| self.tls.is_some()),
                            #[cfg(not(feature = "tls"))]
                            hsts: None,
                        };
                        let service = service.clone();
                        #[cfg(feature = "tls")]
                        let tls = self.tls.as_ref().map(super::Tls::acceptor);
                        connections.spawn(async move {
                            #[cfg(feature = "tls")]
                            match tls {
                                Some(tls) => connection.run_tls(io, tls, service).await,
                                None => connection.run(io, service).await,
                            }
                            #[cfg(not(feature = "tls"))]
                            connection.run(io, service).await;
                            drop(seat);
                        });
                    }
                    Err(error) if is_of_one_connection(&error) => {
                        tracing::debug!(%error, "a connection was gone before it was accepted");
                    }
                    Err(error) => {
                        tracing::warn!(%error, "accept failed; trying again");
                        // Out of descriptors, most often: only time helps, and it must not spin.
                        tokio::select! {
                            () = &mut shutdown => return,
                            () = sleep(ACCEPT_PAUSE) => {}
                        }
                    }
                },
            }
        }
    }

    async fn drain(&self, mut connections: JoinSet<()>) {
        let deadline = Instant::now() + self.grace;
        let finished = async { while connections.join_next().await.is_some() {} };
        if timeout_at(deadline, finished).await.is_err() {
            tracing::warn!(
                open = connections.len(),
                "closing connections that did not finish"
            );
            connections.shutdown().await;
        }
    }
}

impl Default for Server {
    fn default() -> Self {
        Self::new()
    }
}

/// Ready once the server was told to stop. Every clone may be awaited.
pub struct Stopped {
    stop: watch::Receiver<bool>,
    wait: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl Stopped {
    fn new(stop: watch::Receiver<bool>) -> Self {
        Self { stop, wait: None }
    }
}

impl Clone for Stopped {
    fn clone(&self) -> Self {
        Self::new(self.stop.clone())
    }
}

impl Future for Stopped {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let wait = this.wait.get_or_insert_with(|| {
            let mut stop = this.stop.clone();
            Box::pin(async move {
                // An error means that the server itself is gone, which is a stop too.
                drop(stop.wait_for(|stop| *stop).await);
            })
        });
        wait.as_mut().poll(cx)
    }
}

impl fmt::Debug for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stopped")
            .field("stop", &*self.stop.borrow())
            .finish_non_exhaustive()
    }
}

fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::NotConnected
    )
}

const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
