use std::net::{IpAddr, Ipv6Addr};

use http::Uri;

/// Where the interfaces of a card may be (A2A-CARD-22).
///
/// Whoever writes the card decides where requests go, and what they carry. So by default an
/// interface has to be on the host that the card came from; its port does not matter, since the
/// bindings of one agent often have one each. Whatever the policy, nobody goes from `https` to
/// `http`, to an address that is not of the web, or from elsewhere to this machine or its private
/// network.
///
/// Names are compared, not resolved: whoever must not be led to private addresses by a name takes a
/// transport that looks at what it dials.
///
/// ```
/// use portcullis_a2a::client::Reach;
///
/// let reach = Reach::same_host().and("agents.example.com");
/// # let _ = reach;
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Reach {
    hosts: Vec<String>,
    anywhere: bool,
}

impl Reach {
    /// The host of the card.
    pub const fn same_host() -> Self {
        Self {
            hosts: Vec::new(),
            anywhere: false,
        }
    }

    /// Any public host, with TLS.
    pub const fn anywhere() -> Self {
        Self {
            hosts: Vec::new(),
            anywhere: true,
        }
    }

    /// And this host, with TLS.
    pub fn and(mut self, host: impl Into<String>) -> Self {
        self.hosts.push(host.into());
        self
    }

    /// Whether a card from one address may point to another.
    pub(super) fn allows(&self, from: &Uri, to: &Uri) -> bool {
        let (Some(here), Some(there)) = (from.host(), to.host()) else {
            return false;
        };
        let has_tls = match (from.scheme_str(), to.scheme_str()) {
            (_, Some("https")) => true,
            (Some("http"), Some("http")) => false,
            _ => return false,
        };
        let (here, there) = (Place::of(here), Place::of(there));
        if here == there {
            return true;
        }
        let is_public = matches!(there, Place::Name(_) | Place::Public(_));
        let is_named = self.hosts.iter().any(|host| Place::of(host) == there);
        has_tls && (is_named || (self.anywhere && is_public))
    }
}

/// What a host of a URL is.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    /// This machine, by whatever name.
    Here,
    /// Of a private network, a link or nobody.
    Private(IpAddr),
    Public(IpAddr),
    Name(String),
}

impl Place {
    fn of(host: &str) -> Self {
        let host = host.trim_matches(['[', ']']).trim_end_matches('.');
        let Ok(address) = host.parse::<IpAddr>() else {
            let name = host.to_ascii_lowercase();
            return if name == "localhost" || name.ends_with(".localhost") {
                Self::Here
            } else {
                Self::Name(name)
            };
        };
        let address = address.to_canonical();
        if address.is_loopback() {
            Self::Here
        } else if is_private(address) {
            Self::Private(address)
        } else {
            Self::Public(address)
        }
    }
}

fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let [first, second, ..] = address.octets();
            address.is_private()
                || address.is_link_local()
                || address.is_multicast()
                || address.is_documentation()
                || matches!(
                    (first, second),
                    (0, _) | (100, 64..=127) | (192, 0) | (198, 18 | 19)
                )
                || first >= 240
        }
        IpAddr::V6(address) => {
            address == Ipv6Addr::UNSPECIFIED
                || address.is_unique_local()
                || address.is_unicast_link_local()
                || address.is_multicast()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(reach: &Reach, from: &str, to: &str) -> bool {
        reach.allows(&from.parse().unwrap(), &to.parse().unwrap())
    }

    #[test]
    fn the_host_of_the_card() {
        // O-C07, A2A-CARD-22
        let reach = Reach::same_host();
        for (from, to, expected) in [
            ("https://a.example", "https://a.example/rpc", true),
            ("https://a.example", "https://A.Example.:8443/rpc", true),
            ("http://a.example", "https://a.example/rpc", true),
            ("http://a.example", "http://a.example:81/rpc", true),
            ("https://a.example", "http://a.example/rpc", false),
            ("https://a.example", "https://b.example/rpc", false),
            (
                "https://a.example",
                "https://a.example.b.example/rpc",
                false,
            ),
            ("https://a.example", "https://127.0.0.1/rpc", false),
            ("https://a.example", "file://a.example/etc/passwd", false),
            ("https://a.example", "ftp://a.example/", false),
            // One machine has many names.
            ("http://localhost:8080", "http://127.0.0.1:9090/", true),
            ("http://127.0.0.1:8080", "http://[::1]:9090/", true),
            ("http://[::ffff:127.0.0.1]", "http://localhost/", true),
            ("http://localhost:8080", "http://10.0.0.1/", false),
            ("http://10.0.0.1", "http://10.0.0.1:90/", true),
        ] {
            assert_eq!(allows(&reach, from, to), expected, "{from} to {to}");
        }
    }

    #[test]
    fn elsewhere_by_policy() {
        let named = Reach::same_host().and("B.example");
        assert!(allows(&named, "https://a.example", "https://b.example/"));
        assert!(!allows(&named, "https://a.example", "http://b.example/"));
        assert!(!allows(&named, "http://a.example", "http://b.example/"));
        assert!(!allows(&named, "https://a.example", "https://c.example/"));
        let anywhere = Reach::anywhere();
        assert!(allows(&anywhere, "http://a.example", "https://b.example/"));
        assert!(allows(
            &anywhere,
            "https://a.example",
            "https://203.0.114.7/"
        ));
        for to in [
            "http://b.example/",
            "https://localhost/",
            "https://10.1.2.3/",
            "https://169.254.169.254/",
            "https://100.64.0.1/",
            "https://0.0.0.0/",
            "https://[::]/",
            "https://[fd00::1]/",
            "https://[fe80::1]/",
            "https://[::ffff:10.0.0.1]/",
            "https://[::ffff:127.0.0.1]/",
        ] {
            assert!(!allows(&anywhere, "https://a.example", to), "{to}");
        }
    }
}
