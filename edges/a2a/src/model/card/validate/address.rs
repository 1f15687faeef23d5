use std::net::{IpAddr, Ipv6Addr};

use super::Findings;

/// A URL of the web: absolute, without credentials, and with encryption except on this machine.
/// Answers what follows host and port, if it is one.
pub(super) fn web<'a>(found: &mut Findings, path: &str, url: &'a str) -> Option<&'a str> {
    let absolute = url.split_once("://").filter(|(scheme, _)| {
        ["https", "http"]
            .iter()
            .any(|it| it.eq_ignore_ascii_case(scheme))
    });
    let Some((scheme, rest)) = absolute.filter(|_| is_plain(url)) else {
        found.fault(
            path,
            "must be an absolute URL, such as https://agent.example.com/",
        );
        return None;
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    let host = authority_of(found, path, authority, false)?;
    if scheme.eq_ignore_ascii_case("http") && !host.is_loopback() {
        found.advise(path, "is not encrypted: production is at https");
    }
    Some(rest)
}

/// The `host:port` of gRPC (A2A-GRPC-6).
pub(super) fn grpc(found: &mut Findings, path: &str, address: &str) {
    if address.contains("://") {
        found.advise(
            path,
            "is a URL: gRPC is at a host:port, such as agent.example.com:443",
        );
        web(found, path, address);
    } else if !is_plain(address) || address.contains(['/', '?', '#']) {
        found.fault(path, "must be a host:port, such as agent.example.com:443");
    } else {
        authority_of(found, path, address, true);
    }
}

/// Something with a scheme, wherever it leads (RFC 3986, section 3).
pub(super) fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let is_of_scheme = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(is_of_scheme)
        && !rest.is_empty()
        && is_plain(text)
}

/// Visible ASCII without what a URI escapes.
fn is_plain(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte))
}

fn authority_of<'a>(
    found: &mut Findings,
    path: &str,
    authority: &'a str,
    needs_port: bool,
) -> Option<Host<'a>> {
    if authority.contains('@') {
        found.fault(path, "must not hold credentials: everybody reads the card");
        return None;
    }
    let (host, port) = match authority.rsplit_once(':') {
        // The colons of an IPv6 address are in brackets.
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let host = Host::of(host);
    let is_port = |port: &str| port.parse::<u16>().is_ok_and(|port| port > 0);
    if host.is_none() || !port.map_or(!needs_port, is_port) {
        let what = if needs_port {
            "must be a host:port, such as agent.example.com:443"
        } else {
            "must name a host, and a port if not that of the scheme"
        };
        found.fault(path, what);
        return None;
    }
    let host = host?;
    if host.is_unspecified() {
        found.advise(
            path,
            "is where to listen, and no address that others can call",
        );
    }
    Some(host)
}

enum Host<'a> {
    Name(&'a str),
    Address(IpAddr),
}

impl<'a> Host<'a> {
    fn of(host: &'a str) -> Option<Self> {
        if let Some(address) = host.strip_prefix('[') {
            let address: Ipv6Addr = address.strip_suffix(']')?.parse().ok()?;
            return Some(Self::Address(address.into()));
        }
        if let Ok(address) = host.parse() {
            return Some(Self::Address(address));
        }
        let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte);
        (!host.is_empty() && host.bytes().all(is_of_name)).then_some(Self::Name(host))
    }

    fn is_loopback(&self) -> bool {
        match self {
            Self::Name(name) => {
                let name = name.trim_end_matches('.').to_ascii_lowercase();
                name == "localhost" || name.ends_with(".localhost")
            }
            Self::Address(address) => address.to_canonical().is_loopback(),
        }
    }

    fn is_unspecified(&self) -> bool {
        matches!(self, Self::Address(address) if address.to_canonical().is_unspecified())
    }
}
