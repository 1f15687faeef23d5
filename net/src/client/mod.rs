//! A client for HTTP that does only what it is told: it follows no redirect and sends no header of
//! its own.
//!
//! The connector is the seam for a guard: whoever must not reach private addresses takes [`Guard`].
//! A guard in the resolver alone would be asked about names only, and never about `127.0.0.1`.

mod builder;
mod error;
mod guard;
mod service;
#[cfg(feature = "tls")]
mod trust;

#[cfg(feature = "tls")]
pub use self::trust::{Trust, TrustError};
pub use self::{
    builder::HttpClientBuilder,
    error::ClientError,
    guard::{ForbiddenAddress, Guard, Resolving},
    service::{ClientFuture, HttpClient},
};

/// Connects over TLS where the address says `https`.
#[cfg(feature = "tls")]
pub type TlsConnector =
    hyper_rustls::HttpsConnector<hyper_util::client::legacy::connect::HttpConnector>;

/// A [`Guard`], with TLS where the address says `https`.
#[cfg(feature = "tls")]
pub type GuardedConnector = hyper_rustls::HttpsConnector<Guard>;
