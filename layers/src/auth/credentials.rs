use std::fmt;

use secrecy::{ExposeSecret, SecretString};

/// What a request presents to say who asks.
///
/// The secret is wiped from memory when the last copy is dropped, and `Debug` does not
/// show it. An edge puts the credentials of a turn into the typed map of its scope,
/// [`Scope::extensions_mut`](portcullis::Scope::extensions_mut), and
/// [`AuthLayer`](super::AuthLayer) takes them out again.
#[derive(Clone)]
pub struct Credentials {
    scheme: Scheme,
    user: String,
    secret: SecretString,
}

/// The way in which [`Credentials`] are presented.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scheme {
    /// `Authorization: Bearer …`
    Bearer,
    /// A key in a header of its own.
    ApiKey,
    /// A user name and a password, `Authorization: Basic …`
    Basic,
}

impl Credentials {
    /// A bearer token.
    #[must_use]
    pub fn bearer(token: impl Into<String>) -> Self {
        Self::new(Scheme::Bearer, String::new(), token.into())
    }

    /// An API key.
    #[must_use]
    pub fn api_key(key: impl Into<String>) -> Self {
        Self::new(Scheme::ApiKey, String::new(), key.into())
    }

    /// A user name and a password.
    #[must_use]
    pub fn basic(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self::new(Scheme::Basic, user.into(), password.into())
    }

    fn new(scheme: Scheme, user: String, secret: String) -> Self {
        Self {
            scheme,
            user,
            secret: secret.into(),
        }
    }

    /// How they are presented.
    #[must_use]
    pub const fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The user name; empty where the scheme has none.
    #[must_use]
    pub fn user(&self) -> &str {
        &self.user
    }

    /// The token, key or password, for whoever verifies it. It belongs into no log, no error
    /// and no event.
    #[must_use]
    pub fn secret(&self) -> &str {
        self.secret.expose_secret()
    }
}

/// The scheme only. A user name is left out as well: people type passwords there.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("scheme", &self.scheme)
            .finish_non_exhaustive()
    }
}
