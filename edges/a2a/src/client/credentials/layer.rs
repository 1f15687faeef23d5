use std::{fmt, sync::Arc};

use http::{
    Uri,
    uri::{Authority, Scheme},
};
use tower_layer::Layer;

use super::{placed::Placed, service::Credentials};

/// Puts credentials into the requests to one origin. Made by [`Wallet::layer`](super::Wallet::layer).
#[derive(Clone)]
pub struct CredentialsLayer {
    pub(super) origin: Origin,
    pub(super) placed: Arc<[Placed]>,
}

impl CredentialsLayer {
    pub(super) fn new(url: &Uri, placed: Vec<Placed>) -> Self {
        Self {
            origin: Origin::of(url),
            placed: placed.into(),
        }
    }
}

impl<S> Layer<S> for CredentialsLayer {
    type Service = Credentials<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Credentials::new(inner, self.clone())
    }
}

impl fmt::Debug for CredentialsLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CredentialsLayer")
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

/// Scheme, host and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    scheme: Option<Scheme>,
    host: Option<String>,
    port: Option<u16>,
}

impl Origin {
    pub(super) fn of(url: &Uri) -> Self {
        let default = match url.scheme_str() {
            Some("https") => Some(443),
            Some("http") => Some(80),
            _ => None,
        };
        Self {
            scheme: url.scheme().cloned(),
            host: url
                .authority()
                .map(Authority::host)
                .map(str::to_ascii_lowercase),
            port: url.port_u16().or(default),
        }
    }
}
