use std::{net::IpAddr, str::FromStr};

use http::Request;
use portcullis::Peer;

/// The proxies whose word counts on where a request comes from: none, unless somebody names them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Proxies(Vec<Network>);

impl Proxies {
    pub(crate) fn new(networks: &[Network]) -> Self {
        Self(networks.to_vec())
    }

    /// Puts into a request where it comes from, for limits (O-B08).
    pub(crate) fn tell<B>(&self, mut request: Request<B>) -> Request<B> {
        let extensions = request.extensions();
        if let Some(peer) = extensions.get::<portcullis_net::Peer>() {
            let socket = peer.address().ip();
            let headers = request.headers().get_all("x-forwarded-for");
            let lines = headers.iter().map(|line| line.to_str().unwrap_or_default());
            let is_proxy = |address| self.0.iter().any(|network| network.holds(address));
            let peer = Peer::behind(socket, lines, is_proxy);
            request.extensions_mut().insert(peer);
        }
        request
    }
}

/// An address, or all that begin alike: `10.0.0.2`, `10.0.0.0/8`, `fd00::/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Network {
    address: IpAddr,
    bits: u32,
}

impl Network {
    fn holds(self, address: IpAddr) -> bool {
        let differ = match (self.address, address) {
            (IpAddr::V4(a), IpAddr::V4(b)) => (a.to_bits() ^ b.to_bits()).leading_zeros(),
            (IpAddr::V6(a), IpAddr::V6(b)) => (a.to_bits() ^ b.to_bits()).leading_zeros(),
            _ => return false,
        };
        differ >= self.bits
    }
}

impl FromStr for Network {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "say an address or a network, such as 10.0.0.2 or 10.0.0.0/8";
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| EXPECTED)?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(most), str::parse).map_err(|_| EXPECTED)?;
        if bits > most {
            return Err(EXPECTED);
        }
        Ok(Self { address, bits })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_holds_what_begins_alike() {
        for (network, inside, outside) in [
            ("10.0.0.2", "10.0.0.2", "10.0.0.3"),
            ("10.0.0.0/8", "10.255.0.1", "11.0.0.1"),
            ("10.1.2.128/25", "10.1.2.255", "10.1.2.127"),
            ("0.0.0.0/0", "203.0.113.7", "::1"),
            ("fd00::/8", "fdff::1", "fe00::1"),
            ("::1", "::1", "::2"),
            ("::/0", "2001:db8::1", "127.0.0.1"),
        ] {
            let network: Network = network.parse().unwrap();
            assert!(network.holds(inside.parse().unwrap()), "{network:?}");
            assert!(!network.holds(outside.parse().unwrap()), "{network:?}");
        }
    }

    #[test]
    fn what_is_no_network_is_told() {
        for text in [
            "",
            "proxy",
            "10.0.0.0/33",
            "10.0.0.0/",
            "10.0.0.0/-1",
            "::/129",
            "10.0.0.1:80",
        ] {
            assert!(text.parse::<Network>().is_err(), "{text}");
        }
    }
}
