use std::{
    future::{Future, pending},
    net::SocketAddr,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use http::{HeaderValue, Request, Response, header::STRICT_TRANSPORT_SECURITY};
use http_body::Body;
use hyper::body::Incoming;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::conn::auto,
    service::TowerToHyperService,
};
use pin_project::pin_project;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::sleep,
};
use tower_service::Service;

use super::{body::StreamBody, executor::OwnedExecutor, serve::Stopped, stall::Stalling};
use crate::BoxError;

/// The address of the client, in the extensions of its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Peer(SocketAddr);

impl Peer {
    /// Where the client called from.
    #[must_use]
    pub const fn address(self) -> SocketAddr {
        self.0
    }
}

#[derive(Clone, Debug)]
pub(super) struct Limits {
    #[cfg(feature = "tls")]
    pub(super) handshake: Duration,
    pub(super) header: Duration,
    pub(super) header_size: u32,
    pub(super) write: Duration,
    streams: u32,
    ping: Duration,
}

impl Limits {
    pub(super) const fn new() -> Self {
        Self {
            #[cfg(feature = "tls")]
            handshake: Duration::from_secs(10),
            header: Duration::from_secs(15),
            header_size: 64 << 10,
            write: Duration::from_secs(30),
            streams: 1_000,
            ping: Duration::from_secs(20),
        }
    }
}

/// One connection.
pub(super) struct Connection {
    pub(super) peer: SocketAddr,
    pub(super) limits: Limits,
    pub(super) stopped: Stopped,
    /// What is said of the transport in each response.
    pub(super) hsts: Option<HeaderValue>,
}

impl Connection {
    /// Shakes hands, then serves to the end.
    #[cfg(feature = "tls")]
    pub(super) async fn run_tls<I, S, B>(self, io: I, tls: tokio_rustls::TlsAcceptor, service: S)
    where
        I: AsyncRead + AsyncWrite + Send + Unpin + 'static,
        S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send + 'static,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<BoxError>,
    {
        let peer = self.peer;
        let shaken = tokio::select! {
            shaken = tls.accept(io) => shaken,
            () = sleep(self.limits.handshake) => {
                tracing::debug!(%peer, "closing a connection whose handshake took too long");
                return;
            }
            // Nothing was asked yet, so nothing is lost.
            () = self.stopped.clone() => return,
        };
        match shaken {
            Ok(io) => self.run(io, service).await,
            Err(error) => tracing::debug!(%peer, %error, "the handshake failed"),
        }
    }

    /// Serves to the end.
    pub(super) async fn run<I, S, B>(self, io: I, service: S)
    where
        I: AsyncRead + AsyncWrite + Send + Unpin + 'static,
        S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send + 'static,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<BoxError>,
    {
        let Self {
            peer,
            limits,
            stopped,
            hsts,
        } = self;
        let mut builder = auto::Builder::new(OwnedExecutor::default());
        // A timer must be set wherever a time-out is: hyper panics or ignores it otherwise.
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.header)
            .max_buf_size(limits.header_size as usize);
        builder
            .http2()
            .timer(TokioTimer::new())
            .keep_alive_interval(limits.ping)
            .max_concurrent_streams(limits.streams)
            .max_header_list_size(limits.header_size);
        let called = Arc::new(AtomicBool::new(false));
        let service = Tagged {
            inner: service,
            peer: Peer(peer),
            stopped: stopped.clone(),
            hsts,
            called: Arc::clone(&called),
        };
        let io = TokioIo::new(Stalling::new(io, limits.write));
        let mut connection = pin!(builder.serve_connection(io, TowerToHyperService::new(service)));
        // hyper's own time-out starts once it knows the version, which takes a byte at least: a
        // connection that says nothing at all would stay for ever.
        let silent = async {
            sleep(limits.header).await;
            if called.load(Ordering::Relaxed) {
                pending::<()>().await;
            }
        };
        let served = tokio::select! {
            served = connection.as_mut() => served,
            () = silent => {
                tracing::debug!(%peer, "closing a connection that asked nothing");
                return;
            }
            () = stopped => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = served {
            // A client that hangs up in the middle is an ordinary thing.
            tracing::debug!(%peer, %error, "connection ended with an error");
        }
    }
}

/// Puts the peer into each request, and the stop under each response.
#[derive(Clone, Debug)]
struct Tagged<S> {
    inner: S,
    peer: Peer,
    stopped: Stopped,
    hsts: Option<HeaderValue>,
    called: Arc<AtomicBool>,
}

impl<S, B> Service<Request<Incoming>> for Tagged<S>
where
    S: Service<Request<Incoming>, Response = Response<B>>,
{
    type Response = Response<StreamBody<B>>;
    type Error = S::Error;
    type Future = TaggedFuture<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Incoming>) -> Self::Future {
        self.called.store(true, Ordering::Relaxed);
        request.extensions_mut().insert(self.peer);
        TaggedFuture {
            inner: self.inner.call(request),
            stopped: self.stopped.clone(),
            hsts: self.hsts.clone(),
        }
    }
}

#[pin_project]
struct TaggedFuture<F> {
    #[pin]
    inner: F,
    stopped: Stopped,
    hsts: Option<HeaderValue>,
}

impl<F, B, E> Future for TaggedFuture<F>
where
    F: Future<Output = Result<Response<B>, E>>,
{
    type Output = Result<Response<StreamBody<B>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let Poll::Ready(result) = this.inner.poll(cx) else {
            return Poll::Pending;
        };
        Poll::Ready(result.map(|response| {
            let (mut parts, body) = response.into_parts();
            if let Some(hsts) = this.hsts.take() {
                // Whoever answers may know better.
                let entry = parts.headers.entry(STRICT_TRANSPORT_SECURITY);
                entry.or_insert(hsts);
            }
            let body = StreamBody::new(body, &parts.headers, this.stopped);
            Response::from_parts(parts, body)
        }))
    }
}
