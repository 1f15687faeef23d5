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

/// Escapes everything that is not unreserved, which fits a path and a query alike (O-R03).
#[cfg(feature = "client")]
pub(crate) fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            escape(byte, &mut encoded);
        }
    }
    encoded
}

/// As [`encode`]; a segment of dots is escaped too, or it would mean another place.
#[cfg(feature = "client")]
pub(crate) fn encode_segment(text: &str) -> String {
    if !matches!(text, "." | "..") {
        return encode(text);
    }
    let mut encoded = String::new();
    for byte in text.bytes() {
        escape(byte, &mut encoded);
    }
    encoded
}

#[cfg(feature = "client")]
fn escape(byte: u8, encoded: &mut String) {
    encoded.push('%');
    for digit in [byte >> 4, byte & 0xf] {
        let digit = char::from_digit(digit.into(), 16).expect("four bits");
        encoded.push(digit.to_ascii_uppercase());
    }
}

#[cfg(all(test, feature = "rest", feature = "client"))]
mod tests {
    use proptest::prelude::*;

    use super::{decode_query, decode_segment, encode, encode_segment};

    #[test]
    fn what_is_no_escape() {
        for text in ["%", "%1", "a%zz", "%+1", "%ff", "%c3%28", "%é"] {
            assert_eq!(decode_segment(text), None, "{text}");
            assert_eq!(decode_query(text), None, "{text}");
        }
        assert_eq!(decode_segment("a+%2Fb%2f").unwrap(), "a+/b/");
        assert_eq!(decode_query("a+%2B").unwrap(), "a +");
        assert_eq!(encode_segment(".."), "%2E%2E");
        assert_eq!(encode("../é&"), "..%2F%C3%A9%26");
    }

    proptest! {
        // O-R03: the server reads what the client meant, whatever it is.
        #[test]
        fn whatever_is_encoded_is_decoded(text in "\\PC*|[./:?&=+%# \u{0}-\u{1f}]*") {
            let (segment, value) = (encode_segment(&text), encode(&text));
            let stays = |text: &str| text.bytes().all(|byte| {
                byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte)
            });
            prop_assert!(stays(&segment) && stays(&value));
            prop_assert_eq!(decode_segment(&segment), Some(text.clone()));
            prop_assert_eq!(decode_query(&value), Some(text));
        }

        #[test]
        fn whatever_comes_is_decoded_or_not(text in "\\PC*|[%0-9a-fA-F+]*") {
            if let Some(decoded) = decode_segment(&text) {
                prop_assert!(decoded.len() <= text.len());
                prop_assert!(text.contains('%') || decoded == text);
            }
            prop_assert_eq!(decode_query(&text), decode_segment(&text.replace('+', " ")));
        }
    }
}
