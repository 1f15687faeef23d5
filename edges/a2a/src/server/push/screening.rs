use std::net::IpAddr;

use super::is_public_address;
use crate::model::{AuthenticationInfo, Error, TaskPushNotificationConfig};

/// Which webhooks may be registered.
///
/// Only what the URL itself says is judged here; the address that a name stands for is judged when
/// it is dialled (O-P02).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the guard, and its one switch")]
pub enum Screening {
    /// `https` only, and no address or name that is private by itself.
    #[default]
    Public,
    /// Plain `http`, loopback and private networks too: for tests, and for networks of one's
    /// own.
    Private,
}

impl Screening {
    /// `within` is where the webhook stands in the request: nothing, or a path and a dot.
    pub(in crate::server) fn check(
        self,
        config: &TaskPushNotificationConfig,
        within: &str,
    ) -> Result<(), Error> {
        let violation =
            |field: &str, why: &str| Err(Error::invalid_param(format!("{within}{field}"), why));
        let Some((scheme, rest)) = config.url.split_once("://") else {
            return violation("url", "must be an absolute URL");
        };
        if self == Self::Public && !scheme.eq_ignore_ascii_case("https") {
            return violation("url", "must be https");
        }
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let Some(host) = host(authority) else {
            return violation("url", "has no host");
        };
        if self == Self::Public && !is_public_host(host) {
            // Not what it is, so that nothing of this network can be mapped.
            return violation("url", "must be a public address");
        }
        if let Some(authentication) = &config.authentication
            && let Err((field, why)) = credentials(authentication)
        {
            return violation(field, why);
        }
        if !is_header_text(&config.token) {
            return violation("token", "must be visible ASCII");
        }
        Ok(())
    }
}

/// The host, without a port. Nothing where there is none, or a user.
fn host(authority: &str) -> Option<&str> {
    if authority.contains('@') {
        return None;
    }
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']')?;
            (
                host,
                after.strip_prefix(':').or(after.is_empty().then_some(""))?,
            )
        }
        None => authority.split_once(':').unwrap_or((authority, "")),
    };
    let port_is_fine = port.is_empty() || port.parse::<u16>().is_ok_and(|port| port != 0);
    (!host.is_empty() && port_is_fine).then_some(host)
}

fn is_public_host(host: &str) -> bool {
    if let Ok(address) = host.parse::<IpAddr>() {
        return is_public_address(address);
    }
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    // Forms such as `127.1` or `0x7f.1`, which some resolvers take for addresses.
    let last = host.rsplit('.').next().unwrap_or_default();
    let numeric = last.bytes().all(|byte| byte.is_ascii_digit()) || last.starts_with("0x");
    let private = ["localhost", "local", "internal", "home.arpa", "localdomain"]
        .iter()
        .any(|name| host == *name || host.ends_with(&format!(".{name}")));
    // A name of one label is of this network.
    !numeric && !private && host.contains('.')
}

/// `Authorization: {scheme} {credentials}` is all that can be sent (A2A-PUSH-4).
fn credentials(authentication: &AuthenticationInfo) -> Result<(), (&'static str, &'static str)> {
    let scheme = &authentication.scheme;
    let is_token = !scheme.is_empty()
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte));
    if !is_token {
        return Err((
            "authentication.scheme",
            "must be the name of an HTTP authentication scheme",
        ));
    }
    if CHALLENGED
        .iter()
        .any(|name| scheme.eq_ignore_ascii_case(name))
    {
        return Err((
            "authentication.scheme",
            "needs a challenge first, which webhooks cannot answer",
        ));
    }
    if !is_header_text(&authentication.credentials) {
        return Err(("authentication.credentials", "must be visible ASCII"));
    }
    Ok(())
}

/// What a header can say. Line breaks would be headers of the client's own.
fn is_header_text(text: &str) -> bool {
    text.len() <= MAX_HEADER
        && text
            .bytes()
            .all(|byte| byte.is_ascii_graphic() || byte == b' ')
}

const CHALLENGED: [&str; 7] = [
    "digest",
    "hoba",
    "mutual",
    "negotiate",
    "ntlm",
    "scram-sha-1",
    "scram-sha-256",
];

/// The longest credentials or token, in bytes.
const MAX_HEADER: usize = 8 << 10;
