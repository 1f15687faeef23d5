use std::{
    fmt,
    future::poll_fn,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::Full;
use secrecy::{ExposeSecret, SecretString};
use tower_service::Service;

use super::{
    layer::{CredentialsLayer, Origin},
    placed::Placed,
    token::NoToken,
};
use crate::client::BoxError;

/// A transport that shows credentials to one origin, and to no other.
///
/// A request that is refused with 401, or as unauthenticated over gRPC, goes out once more with a
/// fresh token, if there was a token in it.
#[derive(Clone)]
pub struct Credentials<S> {
    inner: S,
    layer: CredentialsLayer,
}

impl<S> Credentials<S> {
    pub(super) const fn new(inner: S, layer: CredentialsLayer) -> Self {
        Self { inner, layer }
    }

    /// What carries the requests.
    #[must_use]
    pub const fn get_ref(&self) -> &S {
        &self.inner
    }
}

impl<S, B> Service<Request<Full<Bytes>>> for Credentials<S>
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send,
    B: Send,
{
    type Response = Response<B>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Response<B>, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, mut request: Request<Full<Bytes>>) -> Self::Future {
        let clone = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, clone);
        let layer = self.layer.clone();
        Box::pin(async move {
            if Origin::of(request.uri()) != layer.origin {
                return inner.call(request).await.map_err(Into::into);
            }
            for placed in &*layer.placed {
                placed.place(&mut request);
            }
            let sources = layer.placed.iter().filter_map(|placed| match placed {
                Placed::Tokens(source) => Some(source),
                _ => None,
            });
            // All of them go into the same header, so there is one at most.
            let Some(source) = sources.last() else {
                return inner.call(request).await.map_err(Into::into);
            };
            let token = source.token(None).await?;
            let response = inner.call(bearing(request.clone(), &token)?).await;
            let response = response.map_err(Into::into)?;
            if !is_unauthenticated(&response) {
                return Ok(response);
            }
            let Ok(token) = source.token(Some(&token)).await else {
                return Ok(response);
            };
            drop(response);
            poll_fn(|cx| inner.poll_ready(cx))
                .await
                .map_err(Into::into)?;
            inner
                .call(bearing(request, &token)?)
                .await
                .map_err(Into::into)
        })
    }
}

fn bearing<B>(mut request: Request<B>, token: &SecretString) -> Result<Request<B>, BoxError> {
    let placed = Placed::authorization("Bearer", token.expose_secret());
    let placed = placed.ok_or_else(|| NoToken::new("it fits no header"))?;
    placed.place(&mut request);
    Ok(request)
}

fn is_unauthenticated<B>(response: &Response<B>) -> bool {
    let over_grpc = response
        .headers()
        .get("grpc-status")
        .map(HeaderValue::as_bytes);
    response.status() == StatusCode::UNAUTHORIZED || over_grpc == Some(b"16")
}

impl<S> fmt::Debug for Credentials<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("layer", &self.layer)
            .finish_non_exhaustive()
    }
}
