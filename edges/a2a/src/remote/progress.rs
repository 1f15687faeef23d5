/// How much of an artifact was handed on, so that one that comes again is not said again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    /// Parts that are not text.
    pub(super) parts: usize,
    length: usize,
    digest: u64,
}

impl Progress {
    /// More text.
    pub(super) fn push(&mut self, text: &str) {
        self.length += text.len();
        self.digest = fold(self.digest, text);
    }

    /// What is new in the whole text: all of it if it does not begin with what was said.
    pub(super) fn new_in<'a>(&mut self, whole: &'a str) -> &'a str {
        let said = whole.get(..self.length);
        if said.is_some_and(|said| fold(0, said) == self.digest) {
            let rest = &whole[self.length..];
            self.push(rest);
            return rest;
        }
        (self.length, self.digest) = (0, 0);
        self.push(whole);
        whole
    }

    /// Whether this is exactly what was said.
    pub(super) fn is(&self, text: &str) -> bool {
        self.length == text.len() && self.digest == fold(0, text)
    }
}

fn fold(digest: u64, text: &str) -> u64 {
    let step = |digest: u64, byte: &u8| (digest ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    text.as_bytes().iter().fold(digest, step)
}
