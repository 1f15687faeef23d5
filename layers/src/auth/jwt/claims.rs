use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::Deserialize;

/// The issuer that a token names, not verified: it decides only whose token it is.
/// `None` if it is no JWT.
pub(super) fn issuer(token: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        iss: String,
    }
    let mut parts = token.split('.');
    let (Some(_), Some(claims), Some(_), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return None;
    };
    let claims = URL_SAFE_NO_PAD.decode(claims).ok()?;
    serde_json::from_slice::<Named>(&claims)
        .ok()
        .map(|named| named.iss)
}

/// The algorithm, as the token says, and the key that it was signed with.
#[derive(Deserialize)]
pub(super) struct Head {
    pub(super) alg: String,
    #[serde(default)]
    pub(super) kid: Option<String>,
}

impl Head {
    pub(super) fn of(token: &str) -> Option<Self> {
        let (head, _) = token.split_once('.')?;
        let head = URL_SAFE_NO_PAD.decode(head).ok()?;
        serde_json::from_slice(&head).ok()
    }
}

/// What is read of the claims, beside what the library checks.
#[derive(Deserialize)]
pub(super) struct Claims {
    pub(super) sub: String,
    /// One text, words apart by spaces (RFC 8693).
    #[serde(default)]
    scope: Option<Words>,
    /// What some issuers call it.
    #[serde(default)]
    scp: Option<Words>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Words {
    One(String),
    Many(Vec<String>),
}

impl Claims {
    pub(super) fn scopes(&self) -> Vec<&str> {
        let words = self.scope.as_ref().or(self.scp.as_ref());
        match words {
            None => Vec::new(),
            Some(Words::One(text)) => text.split_ascii_whitespace().collect(),
            Some(Words::Many(words)) => words.iter().map(String::as_str).collect(),
        }
    }
}
