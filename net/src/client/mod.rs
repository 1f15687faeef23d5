//! A client for HTTP that does only what it is told: it follows no redirect and sends no header of
//! its own.
//!
//! The connector is the seam for a guard: whoever must not reach private addresses puts a
//! `Service<Uri>` in front of the resolver and passes it to [`HttpClientBuilder::connector`].
//! A guard in the resolver alone would be asked about names only, and never about `127.0.0.1`.

mod builder;
mod error;
mod service;
#[cfg(feature = "tls")]
mod trust;

#[cfg(feature = "tls")]
pub use self::trust::{Trust, TrustError};
pub use self::{
    builder::HttpClientBuilder,
    error::ClientError,
    service::{ClientFuture, HttpClient},
};

/// Connects over TLS where the address says `https`.
#[cfg(feature = "tls")]
pub type TlsConnector =
    hyper_rustls::HttpsConnector<hyper_util::client::legacy::connect::HttpConnector>;
