use std::{borrow::Cow, fmt::Write as _};

use super::scan::{Compiled, Stopped, Walks};

/// Masks the strings and names of a JSON text: `None` if nothing in it changes. Everything
/// around a string that changes keeps its text.
///
/// `event`: the text is an event, and its member `type` stays as it is.
pub(super) fn mask(
    rules: &Compiled,
    walks: &mut Walks,
    json: &str,
    event: bool,
) -> Result<Option<String>, Stopped> {
    let bytes = json.as_bytes();
    let mut out = String::new();
    let (mut at, mut copied, mut depth, mut masked_names) = (0, 0, 0_usize, 0_usize);
    let mut is_type = false;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let begin = at + 1;
                let end = end_of_string(bytes, begin);
                at = end;
                let after = bytes[(end + 1).min(bytes.len())..].trim_ascii_start();
                let is_name = after.first() == Some(&b':');
                let text = unescape(&json[begin..end]);
                if is_name {
                    is_type = event && depth == 1 && text == "type";
                }
                if !is_type && let Some(mut masked) = rules.whole(&text, walks)? {
                    if is_name {
                        // Two names that become the same would be one.
                        masked_names += 1;
                        if masked_names > 1 {
                            write!(masked, "#{masked_names}").expect("a string takes it");
                        }
                    }
                    out.push_str(&json[copied..begin]);
                    push_escaped(&mut out, &masked);
                    copied = end;
                }
                is_type &= is_name;
            }
            _ => {}
        }
        at += 1;
    }
    if copied == 0 {
        return Ok(None);
    }
    out.push_str(&json[copied..]);
    Ok(Some(out))
}

fn end_of_string(bytes: &[u8], begin: usize) -> usize {
    let mut at = begin;
    loop {
        match bytes.get(at) {
            Some(b'\\') => at += 2,
            Some(b'"') => return at,
            Some(_) => at += 1,
            None => return bytes.len(),
        }
    }
}

/// What a string of JSON means. A lone surrogate becomes U+FFFD.
pub(super) fn unescape(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return Cow::Borrowed(raw);
    }
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some((run, escape)) = rest.split_once('\\') {
        text.push_str(run);
        let mut chars = escape.chars();
        let letter = chars.next().unwrap_or('\\');
        rest = chars.as_str();
        text.push(match letter {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let (char, left) = unicode(rest);
                rest = left;
                char
            }
            plain => plain,
        });
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// What follows `\u`.
fn unicode(digits: &str) -> (char, &str) {
    let (first, rest) = unit(digits);
    if let Some(char) = char::from_u32(first) {
        return (char, rest);
    }
    if first < 0xDC00
        && let Some(low) = rest.strip_prefix("\\u")
        && let (second @ 0xDC00..0xE000, rest) = unit(low)
        && let Some(char) = char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + second - 0xDC00)
    {
        return (char, rest);
    }
    (char::REPLACEMENT_CHARACTER, rest)
}

fn unit(digits: &str) -> (u32, &str) {
    let (digits, rest) = digits.split_at_checked(4).unwrap_or((digits, ""));
    (u32::from_str_radix(digits, 16).unwrap_or(0xFFFD), rest)
}

fn push_escaped(out: &mut String, text: &str) {
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..' ' => write!(out, "\\u{:04x}", u32::from(char)).expect("a string takes it"),
            char => out.push(char),
        }
    }
}
