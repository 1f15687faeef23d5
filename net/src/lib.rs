//! Serving and calling over HTTP.
//!
//! A leaf: layers and edges take any [`tower_service::Service`] of HTTP requests and never name
//! this crate. Only the program, the examples and the tests put a socket under them.
//!
//! | feature | what it brings |
//! | --- | --- |
//! | `server` | [`bind`], [`Server`]: HTTP/1.1 and HTTP/2 (prior knowledge) with limits and a bounded shutdown |
//! | `client` | [`HttpClient`]: a pooled client that follows no redirect |
//! | `tls` | both over TLS: rustls, with ring |
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "client")]
#[cfg_attr(docsrs, doc(cfg(feature = "client")))]
mod client;
#[cfg(feature = "server")]
#[cfg_attr(docsrs, doc(cfg(feature = "server")))]
mod server;

#[cfg(feature = "client")]
pub use self::client::{
    ClientError, ClientFuture, ForbiddenAddress, Guard, HttpClient, HttpClientBuilder, Resolving,
};
#[cfg(all(feature = "client", feature = "tls"))]
#[cfg_attr(docsrs, doc(cfg(all(feature = "client", feature = "tls"))))]
pub use self::client::{GuardedConnector, TlsConnector, Trust, TrustError};
#[cfg(feature = "server")]
pub use self::server::{BindError, Listener, Peer, Server, Stopped, StreamBody, bind};
#[cfg(all(feature = "server", feature = "tls"))]
#[cfg_attr(docsrs, doc(cfg(all(feature = "server", feature = "tls"))))]
pub use self::server::{Tls, TlsError};

/// What a stranger's body or service may fail with.
#[cfg(any(feature = "client", feature = "server"))]
type BoxError = Box<dyn std::error::Error + Send + Sync>;
