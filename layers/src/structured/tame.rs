use std::borrow::Cow;

/// A copy of JSON that any reader takes: a number out of the range of `f64` becomes the largest that there is.
pub(super) fn tame(json: &str) -> Cow<'_, str> {
    let mut tamed: Option<String> = None;
    let mut copied = 0;
    let bytes = json.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at += 1;
                while !matches!(bytes.get(at), None | Some(b'"')) {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'-' | b'0'..=b'9' => {
                let rest = &bytes[at..];
                let end = rest.iter().position(|byte| {
                    !matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')
                });
                let end = at + end.unwrap_or(rest.len());
                let number: f64 = json[at..end].parse().unwrap_or(0.0);
                if number.is_infinite() {
                    let tamed = tamed.get_or_insert_default();
                    tamed.push_str(&json[copied..at]);
                    tamed.push_str(if number > 0.0 { "" } else { "-" });
                    tamed.push_str("1.7976931348623157e308");
                    copied = end;
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    match tamed {
        Some(mut tamed) => {
            tamed.push_str(&json[copied..]);
            Cow::Owned(tamed)
        }
        None => Cow::Borrowed(json),
    }
}
