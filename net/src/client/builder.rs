use std::time::Duration;

use http_body::Body;
use hyper_util::{
    client::legacy::{
        Client,
        connect::{Connect, HttpConnector},
    },
    rt::{TokioExecutor, TokioTimer},
};

use super::service::HttpClient;

/// How an [`HttpClient`] connects.
///
/// `connect_timeout` is about TCP; what comes after, the handshake of TLS included, is for the
/// caller to bound.
#[derive(Clone, Debug)]
pub struct HttpClientBuilder {
    connect_timeout: Duration,
    idle_timeout: Duration,
    http2_only: bool,
}

impl HttpClientBuilder {
    /// 10 s to connect. Idle connections are kept for 10 s: less than servers keep them, or a
    /// request would now and then go out on one that is being closed.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(10),
            http2_only: false,
        }
    }

    /// How long a connection may take to open.
    #[must_use]
    pub const fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect_timeout = limit;
        self
    }

    /// How long a connection is kept for the next request.
    #[must_use]
    pub const fn idle_timeout(mut self, limit: Duration) -> Self {
        self.idle_timeout = limit;
        self
    }

    /// Speaks HTTP/2 from the first byte, as gRPC without TLS needs it. Connections that carry a
    /// request are pinged every 30 s, and given up when there is no answer for 20 s.
    #[must_use]
    pub const fn http2_only(mut self) -> Self {
        self.http2_only = true;
        self
    }

    /// A client over plain TCP.
    #[must_use]
    pub fn build<B>(self) -> HttpClient<HttpConnector, B>
    where
        B: Body + Send,
        B::Data: Send,
    {
        let connector = self.tcp();
        self.connector(connector)
    }

    /// A client over TCP, with TLS where the address says `https`. HTTP/2 is used where the server
    /// offers it in the handshake.
    #[cfg(feature = "tls")]
    #[cfg_attr(docsrs, doc(cfg(feature = "tls")))]
    #[must_use]
    pub fn build_tls<B>(self, trust: super::Trust) -> HttpClient<super::TlsConnector, B>
    where
        B: Body + Send,
        B::Data: Send,
    {
        self.build_tls_with(trust.into_config())
    }

    /// The same with a configuration of one's own: a certificate of the client, other providers.
    ///
    /// # Panics
    /// When the configuration sets protocols for ALPN: those are the client's to choose.
    #[cfg(feature = "tls")]
    #[cfg_attr(docsrs, doc(cfg(feature = "tls")))]
    #[must_use]
    pub fn build_tls_with<B>(
        self,
        config: rustls::ClientConfig,
    ) -> HttpClient<super::TlsConnector, B>
    where
        B: Body + Send,
        B::Data: Send,
    {
        let mut connector = self.tcp();
        // Else it refuses addresses with `https`.
        connector.enforce_http(false);
        let connector = hyper_rustls::HttpsConnectorBuilder::new()
            .with_tls_config(config)
            .https_or_http()
            .enable_all_versions()
            .wrap_connector(connector);
        self.connector(connector)
    }

    /// A client that dials only what the guard allows, with TLS where the address says `https`.
    #[cfg(feature = "tls")]
    #[cfg_attr(docsrs, doc(cfg(feature = "tls")))]
    #[must_use]
    pub fn build_guarded<B>(
        self,
        guard: super::Guard,
        trust: super::Trust,
    ) -> HttpClient<super::GuardedConnector, B>
    where
        B: Body + Send,
        B::Data: Send,
    {
        let guard = guard.connect_timeout(self.connect_timeout);
        let connector = hyper_rustls::HttpsConnectorBuilder::new()
            .with_tls_config(trust.into_config())
            .https_or_http()
            .enable_all_versions()
            .wrap_connector(guard);
        self.connector(connector)
    }

    fn tcp(&self) -> HttpConnector {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(self.connect_timeout));
        connector
    }

    /// A client over a connector of one's own: a guard, a proxy, TLS, a pipe in a test.
    #[must_use]
    pub fn connector<C, B>(self, connector: C) -> HttpClient<C, B>
    where
        C: Connect + Clone,
        B: Body + Send,
        B::Data: Send,
    {
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(self.idle_timeout)
            .timer(TokioTimer::new())
            .http2_only(self.http2_only)
            .http2_keep_alive_interval(self.http2_only.then_some(Duration::from_secs(30)))
            .build(connector);
        HttpClient::over(client)
    }
}

impl Default for HttpClientBuilder {
    fn default() -> Self {
        Self::new()
    }
}
