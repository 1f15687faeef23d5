use std::{error::Error, fmt, time::Duration};

use bytes::Bytes;
use http::{
    HeaderValue, Request, Response,
    header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER, USER_AGENT},
};
use http_body_util::Full;
use tower_service::Service;

use super::{Deliver, Delivery, DeliveryFuture, Outcome};

/// Posts through an HTTP client that is a service.
///
/// The client decides which addresses it dials; give it one that refuses those that are not
/// [public](super::is_public_address), unless webhooks may be private. It must follow no redirect.
#[derive(Clone)]
pub struct HttpDelivery<S> {
    client: S,
    is_forbidden: fn(&(dyn Error + 'static)) -> bool,
}

impl<S> HttpDelivery<S> {
    /// Posts through this client.
    pub const fn new(client: S) -> Self {
        Self {
            client,
            is_forbidden: |_| false,
        }
    }

    /// Tells the client's refusal of an address from other errors: a webhook at such an address is
    /// given up at once. It is asked about the error and each of its sources.
    #[must_use]
    pub const fn forbidden_if(mut self, is: fn(&(dyn Error + 'static)) -> bool) -> Self {
        self.is_forbidden = is;
        self
    }
}

impl<S, B> Deliver for HttpDelivery<S>
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + Sync + 'static,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    S::Future: Send,
    B: Send,
{
    fn deliver(&self, delivery: Delivery) -> DeliveryFuture {
        let mut client = self.client.clone();
        let is_forbidden = self.is_forbidden;
        Box::pin(async move {
            let request = match request(&delivery) {
                Ok(request) => request,
                Err(error) => return Outcome::Unreachable(error.into()),
            };
            let called = async {
                std::future::poll_fn(|cx| client.poll_ready(cx)).await?;
                client.call(request).await
            };
            match called.await {
                // Nobody reads what the receiver has to say.
                Ok(response) => {
                    Outcome::of_status(response.status().as_u16(), retry_after(&response))
                }
                Err(error) => {
                    let error = error.into();
                    let mut cause: Option<&(dyn Error + 'static)> = Some(&*error);
                    while let Some(error) = cause {
                        if is_forbidden(error) {
                            return Outcome::Forbidden;
                        }
                        cause = error.source();
                    }
                    Outcome::Unreachable(error)
                }
            }
        })
    }
}

/// A2A-PUSH-2..6.
fn request(delivery: &Delivery) -> Result<Request<Full<Bytes>>, http::Error> {
    let secret = |value: &str| {
        let mut value = HeaderValue::from_str(value)?;
        value.set_sensitive(true);
        Ok::<_, http::Error>(value)
    };
    let mut request = Request::post(delivery.url())
        .header(CONTENT_TYPE, "application/a2a+json")
        .header(
            USER_AGENT,
            concat!("portcullis-a2a/", env!("CARGO_PKG_VERSION")),
        )
        .header("a2a-version", "1.0")
        .header("x-a2a-delivery-id", delivery.id());
    if let Some(authorization) = delivery.authorization() {
        request = request.header(AUTHORIZATION, secret(authorization)?);
    }
    if let Some(token) = delivery.token() {
        request = request.header("x-a2a-notification-token", secret(token)?);
    }
    request.body(Full::new(Bytes::copy_from_slice(
        delivery.body().as_bytes(),
    )))
}

/// In seconds. A date would need a clock that agrees with the receiver's.
fn retry_after<B>(response: &Response<B>) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?;
    seconds.trim().parse().ok().map(Duration::from_secs)
}

impl<S> fmt::Debug for HttpDelivery<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpDelivery").finish_non_exhaustive()
    }
}
