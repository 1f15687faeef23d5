use std::{error::Error, fmt};

use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body::Body;
use http_body_util::Empty;
use tower_service::Service;

use super::fetch::{Fetch, Http};

/// Where the keys of an issuer are: a JWK set (RFC 7517).
pub struct Jwks(pub(super) Source);

pub(super) enum Source {
    Fixed(String),
    Fetched { uri: Uri, fetch: Box<dyn Fetch> },
}

impl Jwks {
    /// Keys that stay as they are, as JSON.
    #[must_use]
    pub fn fixed(json: impl Into<String>) -> Self {
        Self(Source::Fixed(json.into()))
    }

    /// Keys at an address, got through a service of HTTP requests: with a `client` that speaks
    /// TLS, follows no redirects and has the proxies and limits that you want.
    ///
    /// They are fetched when somebody first needs them, and again when the `max-age` of the
    /// answer is over, which counts as one minute at least and one day at most, and as five
    /// minutes where none is said. There is one fetch at a time, for all who wait. A token with
    /// a key id that is not among them makes us fetch at most once in 30 seconds. When a fetch fails,
    /// the old keys are used for another day, and it is tried again after 5 seconds; without any keys
    /// nobody can tell who asks, which is `unavailable`. An answer may take 5 seconds, have 256
    /// KiB and 64 keys.
    #[must_use]
    pub fn fetched<C, B>(uri: Uri, client: C) -> Self
    where
        C: Service<Request<Empty<Bytes>>, Response = Response<B>> + Clone + Send + Sync + 'static,
        C::Error: Into<Box<dyn Error + Send + Sync>>,
        C::Future: Send,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let fetch = Box::new(Http::new(client, uri.clone()));
        Self(Source::Fetched { uri, fetch })
    }
}

impl fmt::Debug for Jwks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Source::Fixed(_) => f.write_str("Jwks(fixed)"),
            Source::Fetched { uri, .. } => write!(f, "Jwks({:?})", uri.authority()),
        }
    }
}
