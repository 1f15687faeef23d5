use std::path::Path;

use bytes::Bytes;
use http::{HeaderValue, Request, Uri, header::AUTHORIZATION};
use http_body_util::Full;
use portcullis_a2a::client::{CallError, Client, Transport, fetch_card};
use portcullis_net::{ClientError, HttpClient, HttpClientBuilder, TlsConnector, Trust};
use tower::util::MapRequest;

use crate::complaint::Complaint;

/// A client of an agent whose card was read.
pub(crate) struct Connected<T> {
    pub(crate) client: Client<T>,
    /// Whether the agent streams.
    pub(crate) streams: bool,
}

/// Reads the card at `url` and makes a client of the agent.
/// `authorities` is a file of certificates to trust besides the public ones. `authorization` is
/// sent to this address and no other.
pub(crate) async fn connect(
    url: &str,
    authorities: Option<&Path>,
    authorization: Option<HeaderValue>,
) -> Result<Connected<impl Transport>, Complaint> {
    let http = http_client(address(url)?, authorities, authorization)?;
    let card = fetch_card(&http, url)
        .await
        .map_err(|error| complain(url, error))?;
    let streams = card.capabilities.streaming == Some(true);
    let client = Client::of_card(http, &card).map_err(|error| {
        Complaint::unreachable(format!("cannot call the agent at {url}"), error)
    })?;
    Ok(Connected { client, streams })
}

/// An address that can be called.
pub(crate) fn address(url: &str) -> Result<Uri, Complaint> {
    let parsed: Uri = url
        .parse()
        .map_err(|error| Complaint::usage(format!("{url} is no address: {error}")))?;
    if !matches!(parsed.scheme_str(), Some("http" | "https")) || parsed.authority().is_none() {
        return Err(Complaint::usage(format!(
            "{url} is no address that this program can call; say for instance http://127.0.0.1:8080/"
        )));
    }
    Ok(parsed)
}

/// A client that sends `authorization` to this address and no other.
pub(crate) fn http_client(
    address: Uri,
    authorities: Option<&Path>,
    authorization: Option<HeaderValue>,
) -> Result<MapRequest<HttpClient<TlsConnector, Full<Bytes>>, impl Prepare>, Complaint> {
    let mut trust = Trust::public();
    if let Some(file) = authorities {
        trust = trust
            .add_pem_file(file)
            .map_err(|error| Complaint::usage(error.to_string()))?;
    }
    let http = HttpClientBuilder::new().build_tls::<Full<Bytes>>(trust);
    Ok(MapRequest::new(
        http,
        move |mut request: Request<Full<Bytes>>| {
            if let Some(authorization) = &authorization
                && same_origin(request.uri(), &address)
            {
                let value = authorization.clone();
                request.headers_mut().insert(AUTHORIZATION, value);
            }
            request
        },
    ))
}

/// What is done to a request before it is sent.
pub(crate) trait Prepare:
    Fn(Request<Full<Bytes>>) -> Request<Full<Bytes>> + Clone + Send + Sync + 'static
{
}

impl<F> Prepare for F where
    F: Fn(Request<Full<Bytes>>) -> Request<Full<Bytes>> + Clone + Send + Sync + 'static
{
}

/// A card may name any address: a secret goes only where its owner has sent it.
fn same_origin(one: &Uri, other: &Uri) -> bool {
    one.scheme() == other.scheme() && one.authority() == other.authority()
}

/// What a failed call means to a person.
pub(crate) fn complain(url: &str, error: CallError) -> Complaint {
    match error {
        CallError::Transport(cause) => {
            let refused = cause
                .downcast_ref::<ClientError>()
                .is_some_and(ClientError::is_refused);
            if refused {
                // The cause says the same.
                return Complaint::no_server(format!(
                    "nobody listens at {url}; is the server running?"
                ));
            }
            Complaint::unreachable(format!("cannot reach {url}"), cause)
        }
        CallError::Refused(refusal) => {
            let reason = refusal.reason().map(|reason| format!(" ({reason})"));
            Complaint::failed(format!(
                "{url} refused: {}{}",
                refusal.message(),
                reason.unwrap_or_default()
            ))
        }
        CallError::Status { .. } | CallError::Protocol(_) => {
            Complaint::unreachable(format!("{url} is no A2A 1.0 agent"), error)
        }
        CallError::Untrusted(cause) => {
            Complaint::failed(format!("the card of {url} is not to be believed: {cause}"))
        }
        CallError::Cut {
            task_id: Some(task_id),
            ..
        } => Complaint::no_server(format!(
            "{url} ended the stream before the task did; perhaps it was stopped. The task is {task_id}"
        )),
        other => Complaint::unreachable(format!("the call to {url} broke"), other),
    }
}
