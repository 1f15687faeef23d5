use std::{
    error::Error,
    fmt,
    future::poll_fn,
    pin::{Pin, pin},
    sync::Arc,
    time::Duration,
};

use bytes::{Buf, Bytes};
use http::{
    HeaderMap, HeaderValue, Request, Response, StatusCode, Uri,
    header::{ACCEPT, CACHE_CONTROL, CONTENT_LENGTH},
};
use http_body::Body;
use http_body_util::{BodyExt, Empty};
use tokio::time::timeout;
use tower_service::Service;

type BoxError = Box<dyn Error + Send + Sync>;

/// How long an answer may take, body included.
const PATIENCE: Duration = Duration::from_secs(5);
/// How many bytes a JWK set may have.
const MAX_BODY: usize = 256 << 10;
/// How long keys are good for where the answer does not say.
const DEFAULT_AGE: Duration = Duration::from_secs(300);
const MIN_AGE: Duration = Duration::from_secs(60);
const MAX_AGE: Duration = Duration::from_secs(24 * 3600);

/// Gets the text of a JWK set.
pub(super) trait Fetch: Send + Sync {
    fn fetch(&self) -> Fetching;
}

pub(super) type Fetching = Pin<Box<dyn Future<Output = Result<Fetched, FetchError>> + Send>>;

pub(super) struct Fetched {
    pub(super) text: Bytes,
    /// How long it is good for.
    pub(super) age: Duration,
}

/// Over a service of HTTP requests.
pub(super) struct Http<C> {
    client: C,
    uri: Uri,
}

impl<C> Http<C> {
    pub(super) const fn new(client: C, uri: Uri) -> Self {
        Self { client, uri }
    }
}

impl<C, B> Fetch for Http<C>
where
    C: Service<Request<Empty<Bytes>>, Response = Response<B>> + Clone + Send + Sync + 'static,
    C::Error: Into<BoxError>,
    C::Future: Send,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    fn fetch(&self) -> Fetching {
        let client = self.client.clone();
        let uri = self.uri.clone();
        Box::pin(async move {
            let answer = timeout(PATIENCE, get(client, uri)).await;
            answer.unwrap_or(Err(FetchError::TooSlow))
        })
    }
}

async fn get<C, B>(mut client: C, uri: Uri) -> Result<Fetched, FetchError>
where
    C: Service<Request<Empty<Bytes>>, Response = Response<B>>,
    C::Error: Into<BoxError>,
    B: Body,
    B::Error: Into<BoxError>,
{
    let mut request = Request::new(Empty::new());
    *request.uri_mut() = uri;
    let json = HeaderValue::from_static("application/json");
    request.headers_mut().insert(ACCEPT, json);
    let ready = poll_fn(|cx| client.poll_ready(cx)).await;
    ready.map_err(|error| FetchError::broken(error.into()))?;
    let response = client
        .call(request)
        .await
        .map_err(|error| FetchError::broken(error.into()))?;
    // A redirect is not followed: the address is a matter of trust.
    if response.status() != StatusCode::OK {
        return Err(FetchError::Status(response.status()));
    }
    let (head, body) = response.into_parts();
    Ok(Fetched {
        text: read(&head.headers, body).await?,
        age: age(&head.headers),
    })
}

async fn read<B>(headers: &HeaderMap, body: B) -> Result<Bytes, FetchError>
where
    B: Body,
    B::Error: Into<BoxError>,
{
    let said = headers
        .get(CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if said.unwrap_or(0).max(body.size_hint().lower()) > MAX_BODY as u64 {
        return Err(FetchError::TooLarge);
    }
    let mut body = pin!(body);
    let mut text = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| FetchError::broken(error.into()))?;
        let Ok(mut data) = frame.into_data() else {
            continue;
        };
        if text.len() + data.remaining() > MAX_BODY {
            return Err(FetchError::TooLarge);
        }
        while data.has_remaining() {
            let chunk = data.chunk();
            text.extend_from_slice(chunk);
            let taken = chunk.len();
            data.advance(taken);
        }
    }
    Ok(text.into())
}

/// `max-age`, within bounds: an issuer that says 0 must not make us ask for each token, and one
/// that says a year would keep a key that it has taken back.
fn age(headers: &HeaderMap) -> Duration {
    let directives = headers
        .get_all(CACHE_CONTROL)
        .iter()
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','));
    for directive in directives {
        if let Some((name, seconds)) = directive.trim().split_once('=')
            && name.eq_ignore_ascii_case("max-age")
            && let Ok(seconds) = seconds.trim_matches('"').parse()
        {
            return Duration::from_secs(seconds).clamp(MIN_AGE, MAX_AGE);
        }
    }
    DEFAULT_AGE
}

/// Why there is no key set. Shared by all who waited for it.
#[derive(Clone, Debug)]
pub(super) enum FetchError {
    Status(StatusCode),
    TooSlow,
    TooLarge,
    Panicked,
    Broken(Arc<dyn Error + Send + Sync>),
}

impl FetchError {
    pub(super) fn broken(error: impl Into<BoxError>) -> Self {
        Self::Broken(Arc::from(error.into()))
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => write!(f, "the issuer's keys were answered with {status}"),
            Self::TooSlow => f.write_str("the issuer's keys did not come in time"),
            Self::TooLarge => write!(f, "the issuer's keys take more than {MAX_BODY} bytes"),
            Self::Panicked => f.write_str("the client for the issuer's keys panicked"),
            Self::Broken(_) => f.write_str("the issuer's keys cannot be had"),
        }
    }
}

impl Error for FetchError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Broken(error) => Some(&**error),
            _ => None,
        }
    }
}
