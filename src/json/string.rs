use std::borrow::Cow;

/// How many bytes come before the next quote, backslash or control character.
pub(super) fn plain_run(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHS: u64 = ONES << 7;
    /// Marks the zero bytes; exact up to and including the lowest one.
    const fn zeros(word: u64) -> u64 {
        word.wrapping_sub(ONES) & !word & HIGHS
    }

    let mut run = 0;
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        let word = u64::from_le_bytes(*word);
        let control = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
        let quote = zeros(word ^ (ONES * u64::from(b'"')));
        let backslash = zeros(word ^ (ONES * u64::from(b'\\')));
        let marks = control | quote | backslash;
        if marks != 0 {
            return run + marks.trailing_zeros() as usize / 8;
        }
        run += 8;
    }
    run + rest
        .iter()
        .position(|&byte| byte < 0x20 || byte == b'"' || byte == b'\\')
        .unwrap_or(rest.len())
}

/// The text of a string whose escapes were checked. A lone surrogate, which no Rust string
/// can hold, becomes U+FFFD: JavaScript engines split an emoji between two
/// deltas, and a stream must not die of that.
pub(super) fn unescape(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return Cow::Borrowed(raw);
    }
    let mut text = String::with_capacity(raw.len());
    for piece in Pieces(raw) {
        match piece {
            Piece::Run(run) => text.push_str(run),
            Piece::Char(char) => text.push(char),
            Piece::Lone(_) => text.push(char::REPLACEMENT_CHARACTER),
        }
    }
    Cow::Owned(text)
}

/// A name, to be compared. Unlike [`unescape`] it keeps two different lone surrogates
/// apart, as every reader does that allows them.
pub(super) fn unescape_name(raw: &str) -> Cow<'_, [u8]> {
    if !raw.contains('\\') {
        return Cow::Borrowed(raw.as_bytes());
    }
    let mut name = Vec::with_capacity(raw.len());
    for piece in Pieces(raw) {
        match piece {
            Piece::Run(run) => name.extend_from_slice(run.as_bytes()),
            Piece::Char(char) => name.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
            // 0xFF is in no UTF-8 text, so this is no other name's encoding.
            Piece::Lone(unit) => {
                name.push(0xFF);
                name.extend_from_slice(&unit.to_be_bytes());
            }
        }
    }
    Cow::Owned(name)
}

enum Piece<'a> {
    Run(&'a str),
    Char(char),
    Lone(u16),
}

struct Pieces<'a>(&'a str);

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        let text = self.0;
        let Some(escape) = text.strip_prefix('\\') else {
            let end = text.find('\\').unwrap_or(text.len());
            let (run, rest) = text.split_at(end);
            self.0 = rest;
            return (!run.is_empty()).then_some(Piece::Run(run));
        };
        let (letter, rest) = escape.split_at(1);
        self.0 = rest;
        Some(Piece::Char(match letter {
            "b" => '\u{8}',
            "f" => '\u{c}',
            "n" => '\n',
            "r" => '\r',
            "t" => '\t',
            "u" => return Some(self.unicode()),
            _ => return Some(Piece::Run(letter)),
        }))
    }
}

impl<'a> Pieces<'a> {
    /// What follows `\u`.
    fn unicode(&mut self) -> Piece<'a> {
        let first = self.unit();
        let mut units = [first, 0];
        let mut len = 1;
        let before = self.0;
        if (0xD800..0xDC00).contains(&first)
            && let Some(rest) = before.strip_prefix("\\u")
        {
            self.0 = rest;
            units[1] = self.unit();
            len = 2;
        }
        match char::decode_utf16(units[..len].iter().copied()).next() {
            Some(Ok(char)) => Piece::Char(char),
            _ => {
                // The second escape stands for itself.
                self.0 = before;
                Piece::Lone(first)
            }
        }
    }

    fn unit(&mut self) -> u16 {
        let (digits, rest) = self.0.split_at(4);
        self.0 = rest;
        u16::from_str_radix(digits, 16).expect("the cursor has checked the digits")
    }
}
