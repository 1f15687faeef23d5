use std::net::{IpAddr, Ipv6Addr};

/// Where a request comes from, for callers that have no name: what a limit may tell them apart by. It
/// is nobody's identity, and goes nowhere: no store keeps it, and no other agent is told.
///
/// Whoever makes the scope puts it into its typed map; an edge takes it from the extensions of the
/// HTTP request.
///
/// ```
/// use std::net::IpAddr;
/// use portcullis::{Peer, Scope};
///
/// let socket: IpAddr = "10.0.0.2".parse()?;
/// let mut scope = Scope::new("s");
/// // We have one proxy, and it adds whom it talks to at the end.
/// let proxy: IpAddr = "10.0.0.2".parse()?;
/// let peer = Peer::behind(socket, ["6.6.6.6, 203.0.113.7"], |address| address == proxy);
/// assert_eq!(peer.address().to_string(), "203.0.113.7");
/// scope.extensions_mut().insert(peer);
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Peer(IpAddr);

impl Peer {
    /// The other end of the connection.
    #[must_use]
    pub const fn new(address: IpAddr) -> Self {
        Self(address.to_canonical())
    }

    /// The address that proxies of ours speak for: the rightmost of the `X-Forwarded-For` headers that is
    /// none of them. What stands left of it, its sender made up. `socket` is the other end of the
    /// connection; if that is no proxy of ours, nothing of the headers counts.
    #[must_use]
    pub fn behind<'a>(
        socket: IpAddr,
        headers: impl IntoIterator<Item = &'a str>,
        is_proxy: impl Fn(IpAddr) -> bool,
    ) -> Self {
        let headers: Vec<_> = headers.into_iter().collect();
        let hops = headers.iter().rev().flat_map(|header| header.rsplit(','));
        let mut peer = socket.to_canonical();
        for hop in hops {
            if !is_proxy(peer) {
                break;
            }
            // What no proxy of ours would write ends what they vouch for.
            let Some(address) = address(hop.trim()) else {
                break;
            };
            peer = address.to_canonical();
        }
        Self(peer)
    }

    /// The address.
    #[must_use]
    pub const fn address(&self) -> IpAddr {
        self.0
    }

    /// Whom one caller may be taken for: an address of IPv4, and the /64 of one of IPv6, of which anybody
    /// gets as many as there are.
    #[must_use]
    pub fn network(&self) -> String {
        match self.0 {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                format!("{}/64", Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
            }
        }
    }
}

/// An address, with a port or without.
fn address(hop: &str) -> Option<IpAddr> {
    let socket = || hop.parse().ok().map(|it: std::net::SocketAddr| it.ip());
    let bracketed = || hop.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    hop.parse().ok().or_else(socket).or_else(bracketed)
}
