use std::{error::Error, fmt, io};

use crate::client::BoxError;

/// An error of a transport that has sent nothing: no server saw the request, so that even a message
/// may be sent again.
///
/// A client knows by itself of connections that were refused. A transport that knows more says so:
///
/// ```
/// use portcullis_a2a::client::Unsent;
/// use portcullis_net::{ClientError, HttpClient};
/// use tower::ServiceExt;
///
/// # use {bytes::Bytes, http_body_util::Full};
/// # fn doc(http: HttpClient<hyper_util::client::legacy::connect::HttpConnector, Full<Bytes>>) {
/// let http = tower::util::MapErr::new(http, |error: ClientError| match error.is_connect() {
///     true => Box::new(Unsent::new(error)) as Box<dyn std::error::Error + Send + Sync>,
///     false => error.into(),
/// });
/// # portcullis_a2a::client::Client::new(http, "http://h".parse().unwrap());
/// # }
/// ```
#[derive(Debug)]
pub struct Unsent(BoxError);

impl Unsent {
    /// Because of this.
    pub fn new(error: impl Into<BoxError>) -> Self {
        Self(error.into())
    }
}

impl fmt::Display for Unsent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nothing was sent")
    }
}

impl Error for Unsent {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}

/// Whether an error of a transport, or one below it, says that nothing was sent.
pub(super) fn is_unsent(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
        if error.is::<Unsent>() || kind == Some(io::ErrorKind::ConnectionRefused) {
            return true;
        }
        next = error.source();
    }
    false
}
