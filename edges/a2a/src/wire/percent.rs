//! Percent-encoding (RFC 3986): one segment of a path, one name or value of a query.

/// What a segment means. `None` if an escape is none, or if it is no UTF-8.
#[cfg(feature = "rest")]
pub(crate) fn decode_segment(text: &str) -> Option<String> {
    decode(text, false)
}

/// What a name or a value of a query means. A plus sign is a space, as forms write it.
#[cfg(feature = "rest")]
pub(crate) fn decode_query(text: &str) -> Option<String> {
    decode(text, true)
}

#[cfg(feature = "rest")]
fn decode(text: &str, plus_is_space: bool) -> Option<String> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => (hexadecimal(bytes.next()?)? << 4) | hexadecimal(bytes.next()?)?,
            b'+' if plus_is_space => b' ',
            byte => byte,
        });
    }
    String::from_utf8(decoded).ok()
}

#[cfg(feature = "rest")]
const fn hexadecimal(digit: u8) -> Option<u8> {
    Some(match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        b'A'..=b'F' => digit - b'A' + 10,
        _ => return None,
    })
}
