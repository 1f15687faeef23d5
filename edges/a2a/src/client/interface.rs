use std::{error::Error, fmt};

use http::Uri;

use super::binding::Binding;
use crate::model::{AgentCard, AgentInterface};

/// The interfaces that speak one of the bindings at version 1.0, in the order of the card or of the
/// bindings (A2A-CARD-18, 20).
pub(super) fn usable<'a>(
    card: &'a AgentCard,
    bindings: &[Binding],
    by_card: bool,
) -> Vec<(Binding, &'a AgentInterface)> {
    let interfaces = card.supported_interfaces.iter();
    let mut usable: Vec<_> = interfaces
        .filter_map(|interface| Some((binding_of(interface, bindings)?, interface)))
        .collect();
    if !by_card {
        usable.sort_by_key(|(binding, _)| bindings.iter().position(|ours| ours == binding));
    }
    usable
}

/// The first of them, in the order of the card.
pub(super) fn choose<'a>(
    card: &'a AgentCard,
    bindings: &[Binding],
) -> Result<(Binding, &'a AgentInterface), NoInterface> {
    let first = usable(card, bindings, true).into_iter().next();
    first.ok_or_else(|| NoInterface::in_card(card, bindings))
}

fn binding_of(interface: &AgentInterface, bindings: &[Binding]) -> Option<Binding> {
    let mut version = interface.protocol_version.split('.');
    let major_minor = (version.next(), version.next());
    if major_minor != (Some("1"), Some("0")) && !interface.protocol_version.is_empty() {
        return None;
    }
    bindings.iter().copied().find(|binding| {
        interface
            .protocol_binding
            .eq_ignore_ascii_case(binding.as_str())
    })
}

/// The address of an interface of the card.
#[cfg_attr(
    not(feature = "grpc"),
    expect(unused_variables, reason = "a URL says it all")
)]
pub(super) fn address(card: &AgentCard, binding: Binding, url: &str) -> Option<Uri> {
    match binding {
        Binding::JsonRpc | Binding::Rest => url.parse().ok(),
        #[cfg(feature = "grpc")]
        Binding::Grpc => {
            let others = card.supported_interfaces.iter();
            origin(url, others.map(|interface| &*interface.url))
        }
    }
}

/// A `host:port`, or the URL that older cards have (A2A-GRPC-6, T-42). It has TLS (A2A-GRPC-1),
/// unless it says otherwise, or never leaves this machine and no other interface has TLS there.
#[cfg(feature = "grpc")]
fn origin<'a>(url: &str, mut others: impl Iterator<Item = &'a str>) -> Option<Uri> {
    let is_url = url.contains("://");
    let uri: Uri = if is_url {
        url
    } else {
        url.trim_end_matches('/')
    }
    .parse()
    .ok()?;
    let authority = uri.authority()?.clone();
    let host = authority.host().trim_matches(['[', ']']);
    let is_here = host.eq_ignore_ascii_case("localhost")
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback());
    let mut has_tls = || {
        others.any(|url| {
            let rest = url.strip_prefix("https://");
            let rest = rest.and_then(|rest| rest.strip_prefix(authority.as_str()));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    let scheme = match uri.scheme_str() {
        Some("http") => "http",
        None if is_here && !has_tls() => "http",
        None | Some("https") => "https",
        Some(_) => return None,
    };
    Uri::builder()
        .scheme(scheme)
        .authority(authority)
        .path_and_query("/")
        .build()
        .ok()
}

/// The card offers nothing that this client speaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoInterface {
    wanted: Vec<Binding>,
    offered: Vec<String>,
}

impl NoInterface {
    pub(super) fn in_card(card: &AgentCard, bindings: &[Binding]) -> Self {
        let offered = card.supported_interfaces.iter().map(|interface| {
            format!(
                "{} {}",
                interface.protocol_binding, interface.protocol_version
            )
        });
        Self {
            wanted: bindings.to_vec(),
            offered: offered.collect(),
        }
    }

    /// The interface would do, but its address is none.
    pub(super) fn at(binding: Binding, url: &str) -> Self {
        Self {
            wanted: vec![binding],
            offered: vec![format!("one at {url:?}")],
        }
    }
}

impl fmt::Display for NoInterface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the card offers no usable ")?;
        for (index, binding) in self.wanted.iter().enumerate() {
            if index > 0 {
                f.write_str(" or ")?;
            }
            fmt::Display::fmt(binding, f)?;
        }
        write!(f, " 1.0, but {}", self.offered.join(", "))
    }
}

impl Error for NoInterface {}

#[cfg(all(test, feature = "grpc"))]
mod tests {
    use super::*;

    // A2A-GRPC-6, T-42
    #[test]
    fn where_an_interface_of_grpc_is() {
        for (url, wanted) in [
            (
                "grpc.example.com:443",
                Some("https://grpc.example.com:443/"),
            ),
            (
                "https://grpc.example.com",
                Some("https://grpc.example.com/"),
            ),
            (
                "https://grpc.example.com:8443/",
                Some("https://grpc.example.com:8443/"),
            ),
            ("http://10.0.0.1:50051", Some("http://10.0.0.1:50051/")),
            ("127.0.0.1:50051", Some("http://127.0.0.1:50051/")),
            ("localhost:50051", Some("http://localhost:50051/")),
            ("[::1]:50051", Some("http://[::1]:50051/")),
            (
                "localhost.example.com:50051",
                Some("https://localhost.example.com:50051/"),
            ),
            ("ftp://example.com", None),
            ("/path", None),
            ("", None),
        ] {
            let origin = origin(url, [url].into_iter()).map(|uri| uri.to_string());
            assert_eq!(origin.as_deref(), wanted, "{url}");
        }
        let beside = |other| {
            origin("127.0.0.1:80", [other].into_iter())
                .unwrap()
                .to_string()
        };
        assert_eq!(beside("https://127.0.0.1:80/rest"), "https://127.0.0.1:80/");
        assert_eq!(beside("https://127.0.0.1:80"), "https://127.0.0.1:80/");
        for other in [
            "http://127.0.0.1:80",
            "https://127.0.0.1:8080/",
            "https://127.0.0.1",
        ] {
            assert_eq!(beside(other), "http://127.0.0.1:80/", "{other}");
        }
    }
}
