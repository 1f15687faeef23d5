use std::{fmt, sync::Arc};

use secrecy::SecretString;

use super::token::TokenSource;

/// Something that proves who calls. It is shown nowhere.
#[derive(Clone)]
pub struct Credential(pub(super) Kind);

#[derive(Clone)]
pub(super) enum Kind {
    ApiKey(SecretString),
    Basic {
        user: String,
        password: SecretString,
    },
    Bearer(SecretString),
    Tokens(Arc<dyn TokenSource>),
    Certificate,
}

impl Credential {
    /// A key, for a scheme that says where to put it.
    pub fn api_key(key: impl Into<SecretString>) -> Self {
        Self(Kind::ApiKey(key.into()))
    }

    /// A name and a password (RFC 7617). The name has no colon.
    pub fn basic(user: impl Into<String>, password: impl Into<SecretString>) -> Self {
        Self(Kind::Basic {
            user: user.into(),
            password: password.into(),
        })
    }

    /// A token that somebody has got: for `Bearer`, OAuth 2 and OpenID Connect alike.
    pub fn bearer(token: impl Into<SecretString>) -> Self {
        Self(Kind::Bearer(token.into()))
    }

    /// Tokens that are got when they are needed, as from
    /// [`ClientCredentials`](super::ClientCredentials).
    pub fn tokens(source: impl TokenSource) -> Self {
        Self(Kind::Tokens(Arc::new(source)))
    }

    /// A certificate, which the transport shows while it connects (mutual TLS).
    #[must_use]
    pub const fn certificate() -> Self {
        Self(Kind::Certificate)
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::ApiKey(_) => "Credential(API key)",
            Kind::Basic { .. } => "Credential(basic)",
            Kind::Bearer(_) => "Credential(bearer)",
            Kind::Tokens(_) => "Credential(tokens)",
            Kind::Certificate => "Credential(certificate)",
        })
    }
}
