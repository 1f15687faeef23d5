use std::sync::Arc;

use base64::{Engine, prelude::BASE64_STANDARD};
use http::{
    HeaderName, HeaderValue, Request, Uri,
    header::{
        AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HOST, TE,
        TRANSFER_ENCODING, UPGRADE,
    },
};
use secrecy::{ExposeSecret, SecretString};

use super::{
    credential::{Credential, Kind},
    token::TokenSource,
};
use crate::{model::SecurityScheme, wire::encode};

/// A credential, and where in a request it goes.
#[derive(Clone)]
pub(super) enum Placed {
    Header(HeaderName, HeaderValue),
    /// `name=value`, escaped.
    Query(SecretString),
    /// `name=value`.
    Cookie(SecretString),
    Tokens(Arc<dyn TokenSource>),
    /// In the connection.
    Elsewhere,
}

impl Placed {
    /// `None` if the credential is of another kind than the scheme, or does not fit there.
    pub(super) fn new(scheme: &SecurityScheme, credential: &Credential) -> Option<Self> {
        match (scheme, &credential.0) {
            (SecurityScheme::ApiKey(scheme), Kind::ApiKey(key)) => {
                Self::api_key(&scheme.location, &scheme.name, key)
            }
            (SecurityScheme::HttpAuth(scheme), Kind::Basic { user, password })
                if scheme.scheme.eq_ignore_ascii_case("basic") && !user.contains(':') =>
            {
                let both = format!("{user}:{}", password.expose_secret());
                Self::authorization("Basic", &BASE64_STANDARD.encode(both))
            }
            (SecurityScheme::HttpAuth(scheme), kind)
                if scheme.scheme.eq_ignore_ascii_case("bearer") =>
            {
                Self::bearer(kind)
            }
            (SecurityScheme::OAuth2(_) | SecurityScheme::OpenIdConnect(_), kind) => {
                Self::bearer(kind)
            }
            (SecurityScheme::MutualTls(_), Kind::Certificate) => Some(Self::Elsewhere),
            _ => None,
        }
    }

    fn bearer(kind: &Kind) -> Option<Self> {
        match kind {
            Kind::Bearer(token) => Self::authorization("Bearer", token.expose_secret()),
            Kind::Tokens(source) => Some(Self::Tokens(Arc::clone(source))),
            _ => None,
        }
    }

    pub(super) fn authorization(scheme: &str, value: &str) -> Option<Self> {
        let value = secret(&format!("{scheme} {value}"))?;
        Some(Self::Header(AUTHORIZATION, value))
    }

    fn api_key(location: &str, name: &str, key: &SecretString) -> Option<Self> {
        let value = key.expose_secret();
        match &*location.to_ascii_lowercase() {
            "header" => {
                let name = HeaderName::try_from(name).ok()?;
                // A card does not decide how a message is framed, or where it goes.
                let is_free = !FRAMING.contains(&name);
                is_free.then_some(Self::Header(name, secret(value)?))
            }
            "query" => {
                let pair = format!("{}={}", encode(name), encode(value));
                Some(Self::Query(pair.into()))
            }
            "cookie" => {
                let is_name = HeaderName::try_from(name).is_ok();
                let pair = format!("{name}={value}");
                let is_value =
                    !value.contains([';', ',', '"', ' ', '\\']) && secret(value).is_some();
                (is_name && is_value).then(|| Self::Cookie(pair.into()))
            }
            _ => None,
        }
    }

    /// Puts it into a request, unless it is a token.
    pub(super) fn place<B>(&self, request: &mut Request<B>) {
        match self {
            Self::Header(name, value) => {
                request.headers_mut().insert(name, value.clone());
            }
            Self::Query(pair) => {
                if let Some(uri) = with_query(request.uri(), pair.expose_secret()) {
                    *request.uri_mut() = uri;
                }
            }
            Self::Cookie(pair) => {
                let headers = request.headers_mut();
                let others = headers.get(COOKIE).and_then(|line| line.to_str().ok());
                let others = others
                    .map(|others| format!("{others}; "))
                    .unwrap_or_default();
                if let Some(line) = secret(&(others + pair.expose_secret())) {
                    headers.insert(COOKIE, line);
                }
            }
            Self::Tokens(_) | Self::Elsewhere => {}
        }
    }
}

const FRAMING: [HeaderName; 8] = [
    CONNECTION,
    CONTENT_LENGTH,
    CONTENT_TYPE,
    COOKIE,
    HOST,
    TE,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// A value that no table of a connection keeps, and no log shows.
fn secret(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn with_query(uri: &Uri, pair: &str) -> Option<Uri> {
    let query = uri
        .query()
        .map(|query| format!("{query}&"))
        .unwrap_or_default();
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = format!("{}?{query}{pair}", uri.path()).parse().ok();
    Uri::from_parts(parts).ok()
}
