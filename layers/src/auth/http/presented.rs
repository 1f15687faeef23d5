use base64::{Engine, engine::general_purpose::STANDARD};
use http::{
    HeaderMap,
    header::{AUTHORIZATION, HeaderName},
};
use secrecy::{ExposeSecret, SecretString, zeroize::Zeroize};

use crate::auth::{AuthError, Credentials};

/// Tokens are verified in one piece; what is longer than this is none.
const MAX: usize = 16 << 10;

/// What a request presents, in the headers and nowhere else: addresses end up in logs.
///
/// Two credentials are refused, since two readers could disagree on which one counts
/// (RFC 6750, section 2).
pub(super) fn credentials(
    headers: &HeaderMap,
    key_header: &HeaderName,
) -> Result<Option<Credentials>, AuthError> {
    let authorization = one(headers, &AUTHORIZATION)?;
    let key = one(headers, key_header)?;
    match (authorization, key) {
        (Some(_), Some(_)) => Err(AuthError::malformed("there are two credentials")),
        (Some(value), None) => authorized_by(value).map(Some),
        (None, Some("")) => Err(AuthError::malformed("the key is empty")),
        (None, Some(key)) => Ok(Some(Credentials::api_key(key))),
        (None, None) => Ok(None),
    }
}

fn one<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, AuthError> {
    let mut lines = headers.get_all(name).iter();
    let Some(line) = lines.next() else {
        return Ok(None);
    };
    if lines.next().is_some() {
        return Err(AuthError::malformed("there are two credentials"));
    }
    if line.len() > MAX {
        return Err(AuthError::malformed("the credentials are too long"));
    }
    let line = line
        .to_str()
        .map_err(|_| AuthError::malformed("the credentials are no text"))?;
    Ok(Some(line.trim()))
}

fn authorized_by(value: &str) -> Result<Credentials, AuthError> {
    let (scheme, rest) = value.split_once(' ').unwrap_or((value, ""));
    let rest = rest.trim();
    if scheme.eq_ignore_ascii_case("bearer") {
        if rest.is_empty() || rest.contains(char::is_whitespace) {
            return Err(AuthError::malformed("the bearer token is not one word"));
        }
        return Ok(Credentials::bearer(rest));
    }
    if scheme.eq_ignore_ascii_case("basic") {
        let wrong = || AuthError::malformed("the user and password cannot be read");
        let decoded = STANDARD.decode(rest).map_err(|_| wrong())?;
        let text = String::from_utf8(decoded).map_err(|error| {
            error.into_bytes().zeroize();
            wrong()
        })?;
        // Wiped, also where it has no colon.
        let text = SecretString::from(text);
        let (user, password) = text.expose_secret().split_once(':').ok_or_else(wrong)?;
        return Ok(Credentials::basic(user, password));
    }
    Err(AuthError::unrecognized())
}
