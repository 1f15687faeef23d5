use std::{error::Error, fmt, future::Future, pin::Pin};

use secrecy::SecretString;

use crate::client::BoxError;

/// A token on its way.
pub type Fetching<'a> = Pin<Box<dyn Future<Output = Result<SecretString, BoxError>> + Send + 'a>>;

/// Where bearer tokens come from. [`ClientCredentials`](super::ClientCredentials) is one; whoever
/// has a person to ask writes another.
pub trait TokenSource: Send + Sync + 'static {
    /// A token that is good now. `rejected` is one that the server has just refused, so that
    /// another is due; a source that has none fails.
    ///
    /// It may be dropped at any time, and asked by many at once.
    fn token<'a>(&'a self, rejected: Option<&'a SecretString>) -> Fetching<'a>;
}

/// There is no token. It says why, and nothing of secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoToken(String);

impl NoToken {
    pub(super) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

impl fmt::Display for NoToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no token: {}", self.0)
    }
}

impl Error for NoToken {}
