use crate::model::Part;

/// How much of an artifact the caller has, so that what comes again is known again.
///
/// Servers may join texts that were sent apart, so texts in a row count as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Content {
    length: usize,
    digest: u64,
}

impl Content {
    pub(super) fn of(parts: &[Part]) -> Self {
        let mut content = Self::default();
        content.push(parts);
        content
    }

    /// More parts.
    pub(super) fn push(&mut self, parts: &[Part]) {
        for part in parts {
            match part.as_plain_text() {
                Some(text) => self.take(text.as_bytes()),
                None => self.take(&whole(part)),
            }
        }
    }

    /// What the caller does not have of these parts; `None` if they do not begin with what it has.
    pub(super) fn rest_of(&self, parts: &[Part]) -> Option<Vec<Part>> {
        let mut known = Self::default();
        let mut parts = parts.iter();
        let mut rest = Vec::new();
        while known.length < self.length {
            let part = parts.next()?;
            let missing = self.length - known.length;
            match part.as_plain_text() {
                Some(text) if text.len() > missing => {
                    let (had, new) = text.split_at_checked(missing)?;
                    known.take(had.as_bytes());
                    rest.push(Part::text(new));
                }
                Some(text) => known.take(text.as_bytes()),
                None => known.take(&whole(part)),
            }
        }
        if known != *self {
            return None;
        }
        rest.extend(parts.cloned());
        Some(rest)
    }

    /// FNV-1a. A server that makes two texts alike deceives only its own caller.
    fn take(&mut self, bytes: &[u8]) {
        let digest = if self.length == 0 {
            0xcbf2_9ce4_8422_2325
        } else {
            self.digest
        };
        self.length += bytes.len();
        self.digest = bytes.iter().fold(digest, |digest, byte| {
            (digest ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
    }
}

/// A part that is not only text, between bytes that no text has.
fn whole(part: &Part) -> Vec<u8> {
    let mut bytes = vec![0xff];
    serde_json::to_writer(&mut bytes, part).expect("a part always encodes");
    bytes.push(0xff);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(texts: &[&str]) -> Vec<Part> {
        texts.iter().map(|text| Part::text(*text)).collect()
    }

    #[test]
    fn what_is_new() {
        let file = Part::raw([1, 2, 3]);
        let had = Content::of(&texts(&["né", "漢"]));
        for (whole, rest) in [
            (texts(&["né", "漢"]), Some(vec![])),
            (texts(&["né漢"]), Some(vec![])),
            (texts(&["né漢", "x"]), Some(texts(&["x"]))),
            (texts(&["né漢x", "y"]), Some(texts(&["x", "y"]))),
            (
                [texts(&["né漢"]), vec![file.clone()]].concat(),
                Some(vec![file.clone()]),
            ),
            (texts(&["né"]), None),
            (texts(&["nè漢"]), None),
            (texts(&["né字"]), None),
            // Cut inside of a character, it is another text.
            (texts(&["né\u{1f642}"]), None),
            ([texts(&["né"]), vec![file.clone()]].concat(), None),
            (vec![], None),
        ] {
            assert_eq!(had.rest_of(&whole), rest, "{whole:?}");
        }
        let mut had = Content::of(std::slice::from_ref(&file));
        had.push(&texts(&["a"]));
        let whole = [vec![file], texts(&["ab"])].concat();
        assert_eq!(had.rest_of(&whole), Some(texts(&["b"])));
        let other = [vec![Part::raw([1, 2, 4])], texts(&["ab"])].concat();
        assert_eq!(had.rest_of(&other), None);
        assert_eq!(Content::default().rest_of(&whole), Some(whole));
    }
}
