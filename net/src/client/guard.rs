use std::{
    error::Error,
    fmt, io,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use http::Uri;
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpStream, lookup_host},
    time::timeout,
};
use tower_service::Service;

use crate::BoxError;

/// Connects to addresses that a rule allows, and to no other.
///
/// The address that is judged is the one that is dialled: a name is resolved once, and what it
/// stands for at that moment counts, on every attempt. An address in the URL itself is judged as
/// well. No proxy of the system is used, since that would resolve names by itself.
///
/// ```
/// use bytes::Bytes;
/// use http_body_util::Full;
/// use portcullis_net::{Guard, HttpClientBuilder, Trust};
///
/// let guard = Guard::new(|address| !address.is_loopback());
/// let client = HttpClientBuilder::new().build_guarded::<Full<Bytes>>(guard, Trust::public());
/// # let _ = client;
/// ```
#[derive(Clone)]
pub struct Guard {
    allow: Arc<dyn Fn(IpAddr) -> bool + Send + Sync>,
    resolve: Arc<Resolve>,
    connect_timeout: Duration,
}

type Resolve = dyn Fn(String, u16) -> Resolving + Send + Sync;

/// The addresses of a name, on their way.
pub type Resolving = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;

impl Guard {
    /// Dials what `allow` says yes to. An IPv4 address inside an IPv6 one is handed over as it is.
    #[must_use]
    pub fn new(allow: impl Fn(IpAddr) -> bool + Send + Sync + 'static) -> Self {
        Self {
            allow: Arc::new(allow),
            resolve: Arc::new(|host, port| {
                Box::pin(async move { Ok(lookup_host((host, port)).await?.collect()) })
            }),
            connect_timeout: Duration::from_secs(10),
        }
    }

    /// Resolves names in another way than the system does.
    #[must_use]
    pub fn resolver(
        mut self,
        resolve: impl Fn(String, u16) -> Resolving + Send + Sync + 'static,
    ) -> Self {
        self.resolve = Arc::new(resolve);
        self
    }

    /// How long a connection may take to open; ten seconds by default.
    #[must_use]
    pub const fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect_timeout = limit;
        self
    }

    async fn connect(self, uri: Uri) -> Result<TokioIo<TcpStream>, BoxError> {
        let host = uri.host().ok_or("the address names no host")?;
        let https = uri.scheme_str() == Some("https");
        let port = uri.port_u16().unwrap_or(if https { 443 } else { 80 });
        let literal = host.trim_start_matches('[').trim_end_matches(']');
        let found = match literal.parse::<IpAddr>() {
            Ok(address) => vec![SocketAddr::new(address, port)],
            Err(_) => (self.resolve)(host.to_owned(), port).await?,
        };
        let total = found.len();
        let allowed: Vec<SocketAddr> = found
            .into_iter()
            .filter(|address| (self.allow)(address.ip()))
            .collect();
        if allowed.is_empty() && total > 0 {
            return Err(ForbiddenAddress(()).into());
        }
        let dialled = timeout(self.connect_timeout, TcpStream::connect(&*allowed)).await;
        let stream = dialled.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        stream.set_nodelay(true)?;
        Ok(TokioIo::new(stream))
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").finish_non_exhaustive()
    }
}

impl Service<Uri> for Guard {
    type Response = TokioIo<TcpStream>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<TokioIo<TcpStream>, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        Box::pin(self.clone().connect(uri))
    }
}

/// Every address of the host is one that may not be dialled.
///
/// It says nothing of what the addresses are.
#[derive(Debug)]
pub struct ForbiddenAddress(());

impl fmt::Display for ForbiddenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the host is at an address that may not be called")
    }
}

impl Error for ForbiddenAddress {}
