use std::sync::Arc;

use http::HeaderName;
use tower_layer::Layer;

use super::{Challenge, HttpAuth, Refusal, settings::Settings};
use crate::auth::{RequireScopes, Verifier};

/// Lets only those requests through whose sender is known, and has the scopes.
///
/// It takes a bearer token, a user with a password, or a key in a header, and answers a request
/// that has none, or a wrong one, with 401 and a challenge (RFC 7235, RFC 6750), one whose
/// sender lacks a scope with 403, and with 503 while nobody can tell. The body of a refused
/// request is not read.
///
/// Who it is goes into the extensions of the request as a
/// [`Principal`](portcullis::Principal), where an edge takes it from, and as an
/// [`Identity`](crate::auth::Identity). What was there before counts for nothing, and the headers with
/// the credentials end here. Nothing else of a request, no header and no body, says who it is.
///
/// It is always ready, and makes the service behind ready and calls it only when the request is
/// let through. A browser asks for permission to send credentials without any: what answers such
/// preflight requests (CORS) belongs outside.
///
/// ```
/// use portcullis_layers::auth::{ApiKeys, HttpAuthLayer, NewApiKey};
/// use tower::ServiceBuilder;
/// # use std::convert::Infallible;
/// # use http::{Request, Response};
/// # use http_body_util::Full;
/// # use bytes::Bytes;
///
/// # fn app<S>(json_rpc: S) -> Result<(), Box<dyn std::error::Error>>
/// # where S: tower::Service<Request<Full<Bytes>>, Response = Response<Full<Bytes>>, Error = Infallible> + Clone {
/// # let text = NewApiKey::generate("alice", ["agent"])?.line().to_owned();
/// let keys = ApiKeys::from_text(&text)?;
/// let auth = HttpAuthLayer::new(keys)
///     .public("/.well-known/agent-card.json")
///     .require_scopes(["agent"]);
/// let service = ServiceBuilder::new().layer(auth).service(json_rpc);
/// # let _ = service; Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct HttpAuthLayer<V> {
    verifier: V,
    settings: Arc<Settings>,
}

impl<V: Verifier> HttpAuthLayer<V> {
    /// Verifies the credentials of every request.
    #[must_use]
    pub fn new(verifier: V) -> Self {
        Self {
            verifier,
            settings: Arc::new(Settings::new()),
        }
    }

    fn with(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(Arc::make_mut(&mut self.settings));
        self
    }

    /// Lets everybody through to this very path, as nobody in particular: to a card, for
    /// instance. There are no patterns, since a path that one reader takes for another one is how
    /// such rules are got around.
    #[must_use]
    pub fn public(self, path: &str) -> Self {
        let path = format!("/{}", path.trim_start_matches('/'));
        self.with(|settings| settings.public.push(path))
    }

    /// It takes all of these scopes.
    #[must_use]
    pub fn require_scopes<T: Into<String>>(self, scopes: impl IntoIterator<Item = T>) -> Self {
        self.with(|settings| settings.scopes = Some(RequireScopes::new(scopes)))
    }

    /// The challenges of a refusal, one line each. The default is `Bearer`.
    #[must_use]
    pub fn challenges(self, challenges: impl IntoIterator<Item = Challenge>) -> Self {
        self.with(|settings| settings.challenges = challenges.into_iter().collect())
    }

    /// The header that a key may come in. The default is `x-api-key`.
    #[must_use]
    pub fn key_header(self, name: HeaderName) -> Self {
        self.with(|settings| settings.key_header = name)
    }

    /// Leaves the headers with the credentials in the request.
    #[must_use]
    pub fn keep_credentials(self) -> Self {
        self.with(|settings| settings.keep_credentials = true)
    }

    /// Words the body of a refusal, which is JSON. The default is
    /// `{"error":…,"error_description":…}`.
    #[must_use]
    pub fn refusal_body<F>(self, word: F) -> Self
    where
        F: Fn(&Refusal<'_>) -> String + Send + Sync + 'static,
    {
        self.with(|settings| settings.body = Some(Arc::new(word)))
    }
}

impl<S, V: Clone> Layer<S> for HttpAuthLayer<V> {
    type Service = HttpAuth<S, V>;

    fn layer(&self, inner: S) -> HttpAuth<S, V> {
        HttpAuth::new(inner, self.verifier.clone(), Arc::clone(&self.settings))
    }
}
