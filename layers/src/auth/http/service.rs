use std::{
    sync::Arc,
    task::{Context, Poll},
};

use http::{Request, Response};
use portcullis::Principal;
use tower_service::Service;

use super::{HttpAuthBody, HttpAuthFuture, presented::credentials, settings::Settings};
use crate::auth::{AuthError, Identity, Verifier};

/// A service whose callers are known. See [`HttpAuthLayer`](super::HttpAuthLayer).
#[derive(Clone, Debug)]
pub struct HttpAuth<S, V> {
    inner: S,
    verifier: V,
    settings: Arc<Settings>,
}

impl<S, V> HttpAuth<S, V> {
    pub(super) const fn new(inner: S, verifier: V, settings: Arc<Settings>) -> Self {
        Self {
            inner,
            verifier,
            settings,
        }
    }

    /// The service behind.
    pub const fn get_ref(&self) -> &S {
        &self.inner
    }

    /// The service behind.
    pub const fn get_mut(&mut self) -> &mut S {
        &mut self.inner
    }

    /// The service behind.
    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S, V, B, R> Service<Request<B>> for HttpAuth<S, V>
where
    S: Service<Request<B>, Response = Response<R>> + Clone,
    V: Verifier,
{
    type Response = Response<HttpAuthBody<R>>;
    type Error = S::Error;
    type Future = HttpAuthFuture<S, V, B>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        // Nobody but this layer says who it is.
        request.extensions_mut().remove::<Principal>();
        request.extensions_mut().remove::<Identity>();
        let presented = credentials(request.headers(), &self.settings.key_header);
        self.settings.take_credentials(request.headers_mut());
        let inner = self.inner.clone();
        if self.settings.is_public(request.uri().path()) {
            return HttpAuthFuture::let_through(inner, request);
        }
        let settings = Arc::clone(&self.settings);
        match presented {
            Ok(Some(credentials)) => {
                let verify = self.verifier.verify(&credentials);
                HttpAuthFuture::verifying(verify, inner, request, settings)
            }
            Ok(None) => HttpAuthFuture::refused(&AuthError::missing(), &request, &settings),
            Err(error) => HttpAuthFuture::refused(&error, &request, &settings),
        }
    }
}
