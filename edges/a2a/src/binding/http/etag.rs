use http::{HeaderMap, HeaderValue, header::IF_NONE_MATCH};
use sha2::{Digest, Sha256};

/// A strong tag of the very bytes: a version goes stale as soon as anything else changes
/// (A2A-CARD-5).
pub(in crate::binding) fn etag(bytes: &[u8]) -> HeaderValue {
    tag("", bytes)
}

/// A weak tag, of what is left of a representation without that which is made anew each time.
#[cfg(feature = "rest")]
pub(in crate::binding) fn weak_etag(bytes: &[u8]) -> HeaderValue {
    tag("W/", bytes)
}

fn tag(prefix: &str, bytes: &[u8]) -> HeaderValue {
    let mut etag = format!("{prefix}\"");
    for byte in &Sha256::digest(bytes)[..16] {
        etag.push_str(&format!("{byte:02x}"));
    }
    etag.push('"');
    HeaderValue::from_str(&etag).expect("hexadecimal digits in quotes")
}

/// Whether the client has what the tag names, compared weakly (RFC 9110, section 13.1.2). Nothing
/// where it sent no tag.
pub(in crate::binding) fn has(headers: &HeaderMap, etag: &HeaderValue) -> Option<bool> {
    let mut lines = headers.get_all(IF_NONE_MATCH).iter().peekable();
    lines.peek()?;
    let opaque = |tag: &[u8]| tag.strip_prefix(b"W/").unwrap_or(tag).to_owned();
    let etag = opaque(etag.as_bytes());
    Some(lines.any(|line| {
        let mut tags = line.as_bytes().split(|byte| *byte == b',');
        tags.any(|tag| {
            let tag = tag.trim_ascii();
            tag == b"*" || opaque(tag) == etag
        })
    }))
}
