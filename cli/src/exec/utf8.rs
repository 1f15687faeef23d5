/// Turns bytes into text as they come. The start of a character waits for its end.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    held: Vec<u8>,
}

impl Decoder {
    /// The text so far that is whole.
    pub(super) fn push(&mut self, bytes: &[u8]) -> String {
        self.held.extend_from_slice(bytes);
        let mut text = String::with_capacity(self.held.len());
        let mut rest = &self.held[..];
        loop {
            match std::str::from_utf8(rest) {
                Ok(valid) => {
                    text.push_str(valid);
                    rest = &[];
                    break;
                }
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    text.push_str(&String::from_utf8_lossy(valid));
                    rest = after;
                    match error.error_len() {
                        Some(length) => {
                            text.push(char::REPLACEMENT_CHARACTER);
                            rest = &rest[length..];
                        }
                        // At most three bytes, which may yet become a character.
                        None => break,
                    }
                }
            }
        }
        self.held = rest.to_vec();
        text
    }

    /// What is left when nothing more comes.
    pub(super) fn finish(self) -> Option<String> {
        (!self.held.is_empty()).then(|| char::REPLACEMENT_CHARACTER.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::Decoder;

    /// Every split of a text gives the text.
    #[test]
    fn any_split_gives_the_same_text() {
        let text = "a\u{e9}\u{20ac}\u{1f600}z".as_bytes();
        for first in 0..=text.len() {
            for second in first..=text.len() {
                let mut decoder = Decoder::default();
                let mut out = decoder.push(&text[..first]);
                out += &decoder.push(&text[first..second]);
                out += &decoder.push(&text[second..]);
                assert_eq!(out.as_bytes(), text);
                assert_eq!(decoder.finish(), None);
            }
        }
    }

    #[test]
    fn what_is_no_text_is_replaced_as_std_does() {
        for bytes in [
            &b"a\xff\xfeb"[..],
            b"\xf0\x9f\x98",
            b"\xe2\x28\xa1",
            b"\xc3",
        ] {
            let mut decoder = Decoder::default();
            let mut out = String::new();
            for byte in bytes {
                out += &decoder.push(&[*byte]);
            }
            out += &decoder.finish().unwrap_or_default();
            assert_eq!(out, String::from_utf8_lossy(bytes));
        }
    }
}
