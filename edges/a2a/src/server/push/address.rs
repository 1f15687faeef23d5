use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is one of the public internet: no loopback, no private or shared network,
/// no link, no metadata service, no group, nothing reserved (A2A-PUSH-13).
///
/// An IPv4 address inside an IPv6 one is judged as what it is.
///
/// ```
/// use portcullis_a2a::server::push::is_public_address;
///
/// assert!(is_public_address("93.184.216.34".parse()?));
/// assert!(!is_public_address("169.254.169.254".parse()?));
/// assert!(!is_public_address("::ffff:127.0.0.1".parse()?));
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[must_use]
pub fn is_public_address(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let number = u32::from(address);
    !NOT_PUBLIC_V4
        .iter()
        .any(|(network, bits)| number >> (32 - bits) == u32::from(*network) >> (32 - bits))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(address) = embedded(address) {
        return is_public_v4(address);
    }
    let first = address.segments()[0];
    // Only 2000::/3 is handed out; the rest is unspecified, loopback, unique local
    // (fc00::/7), link-local (fe80::/10), groups (ff00::/8) or nobody's.
    let global = first >> 13 == 0b001;
    let documentation = address.segments()[..2] == [0x2001, 0x0db8] || first == 0x3fff;
    // Of 2001::/23 nothing is an ordinary host: Teredo, ORCHID, benchmarking.
    let special = first == 0x2001 && address.segments()[1] < 0x0200;
    global && !documentation && !special
}

/// The IPv4 address that a gateway would unpack: mapped, compatible, NAT64 and 6to4.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let segments = address.segments();
    let tail = || {
        let [.., a, b] = segments;
        Ipv4Addr::from((u32::from(a) << 16) | u32::from(b))
    };
    match segments {
        [0, 0, 0, 0, 0, 0xffff, ..] | [0x0064, 0xff9b, 0, 0, 0, 0, ..] => Some(tail()),
        // `::` and `::1` are not such addresses.
        [0, 0, 0, 0, 0, 0, high, low] if high != 0 || low > 1 => Some(tail()),
        [0x2002, a, b, ..] => Some(Ipv4Addr::from((u32::from(a) << 16) | u32::from(b))),
        _ => None,
    }
}

const NOT_PUBLIC_V4: [(Ipv4Addr, u32); 15] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

#[cfg(test)]
mod tests {
    use super::is_public_address;

    #[test]
    fn private_addresses_in_every_disguise() {
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "224.0.0.1",
            "239.1.1.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::a00:1",
            "2002:7f00:1::",
            "2002:c0a8:101::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "ff02::1",
            "2001:db8::1",
            "2001::1",
            "3fff::1",
            "fec0::1",
            "100::1",
        ] {
            assert!(
                !is_public_address(address.parse().expect(address)),
                "{address}"
            );
        }
    }

    #[test]
    fn public_addresses() {
        for address in [
            "1.1.1.1",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.0.0.1",
            "128.0.0.1",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.1",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00:1450::1",
            "::ffff:93.184.216.34",
            "64:ff9b::5db8:d822",
        ] {
            assert!(
                is_public_address(address.parse().expect(address)),
                "{address}"
            );
        }
    }
}
