use http::HeaderValue;

use crate::auth::{AuthError, AuthErrorKind};

/// A line of `WWW-Authenticate`: how to say who one is.
#[derive(Clone, Debug)]
pub struct Challenge(Kind);

#[derive(Clone, Debug)]
enum Kind {
    /// With the reason and the scopes (RFC 6750, section 3).
    Bearer(String),
    Basic(String),
    Fixed(HeaderValue),
}

impl Challenge {
    /// `Bearer`, with a name for what is protected. A refusal says its reason in it, and which
    /// scopes are needed.
    #[must_use]
    pub fn bearer(realm: &str) -> Self {
        Self(Kind::Bearer(quoted(realm)))
    }

    /// `Basic`, with a name for what is protected (RFC 7617).
    #[must_use]
    pub fn basic(realm: &str) -> Self {
        Self(Kind::Basic(quoted(realm)))
    }

    /// Any other one, as it is.
    #[must_use]
    pub const fn other(line: HeaderValue) -> Self {
        Self(Kind::Fixed(line))
    }

    pub(super) fn line(&self, error: &AuthError) -> HeaderValue {
        let line = match &self.0 {
            Kind::Fixed(line) => return line.clone(),
            Kind::Basic(realm) => format!(r#"Basic realm="{realm}", charset="UTF-8""#),
            Kind::Bearer(realm) => bearer(realm, error),
        };
        HeaderValue::from_str(&line).expect("visible ASCII")
    }
}

fn bearer(realm: &str, error: &AuthError) -> String {
    let mut line = format!(r#"Bearer realm="{realm}""#);
    // Who presents nothing is told nothing: they may not know the scheme yet (RFC 6750, 3.1).
    if let Some(code) = code(error.kind()) {
        let description = quoted(&error.to_string());
        line.push_str(&format!(
            r#", error="{code}", error_description="{description}""#
        ));
    }
    if !error.scopes().is_empty() {
        let scopes = quoted(&error.scopes().join(" "));
        line.push_str(&format!(r#", scope="{scopes}""#));
    }
    line
}

/// The word of RFC 6750 for a refusal.
pub(super) const fn code(kind: AuthErrorKind) -> Option<&'static str> {
    match kind {
        AuthErrorKind::Malformed => Some("invalid_request"),
        AuthErrorKind::Unrecognized | AuthErrorKind::Invalid => Some("invalid_token"),
        AuthErrorKind::Denied => Some("insufficient_scope"),
        AuthErrorKind::Missing | AuthErrorKind::Unavailable => None,
    }
}

/// What may stand between quotes as it is.
fn quoted(text: &str) -> String {
    let fits = |c: char| matches!(c, ' ' | '!' | '#'..='[' | ']'..='~');
    text.chars()
        .map(|c| if fits(c) { c } else { '\'' })
        .collect()
}
