use std::fmt;

use portcullis::Json;
use serde::{
    Deserializer,
    de::{Error, Visitor},
};
use serde_json::value::RawValue;

/// The string that a JSON value is, if it is one.
pub(crate) fn string_of(raw: &str) -> Option<String> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.as_bytes().contains(&b'\\') {
        return Some(inner.to_owned());
    }
    serde_json::from_str(raw).ok().or_else(|| lossy(raw))
}

/// A string in which half of a surrogate pair stands alone, as streams from JavaScript
/// have it where they split an emoji: U+FFFD for each.
fn lossy(raw: &str) -> Option<String> {
    struct Wtf8;

    impl Visitor<'_> for Wtf8 {
        type Value = String;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<String, E> {
            let mut text = String::with_capacity(bytes.len());
            let mut rest = bytes;
            while !rest.is_empty() {
                match std::str::from_utf8(rest) {
                    Ok(valid) => {
                        text.push_str(valid);
                        break;
                    }
                    Err(error) => {
                        let (valid, after) = rest.split_at(error.valid_up_to());
                        text.push_str(&String::from_utf8_lossy(valid));
                        text.push(char::REPLACEMENT_CHARACTER);
                        // A surrogate in WTF-8 has three bytes.
                        rest = after.get(3..).unwrap_or_default();
                    }
                }
            }
            Ok(text)
        }
    }

    serde_json::Deserializer::from_str(raw)
        .deserialize_bytes(Wtf8)
        .ok()
}

/// A free-form value with its text. White space goes where it holds a line break, since
/// a frame has to fit one line.
pub(crate) fn one_line(raw: &RawValue) -> Json {
    if !raw.get().contains(['\n', '\r']) {
        return Json::from(raw.to_owned());
    }
    let mut text = String::with_capacity(raw.get().len());
    let mut in_string = false;
    let mut escaped = false;
    for c in raw.get().chars() {
        if in_string {
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
        } else if matches!(c, ' ' | '\t' | '\n' | '\r') {
            continue;
        } else {
            in_string = c == '"';
        }
        text.push(c);
    }
    let raw = RawValue::from_string(text).expect("JSON without white space is JSON");
    Json::from(raw)
}
