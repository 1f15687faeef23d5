/// Finds what a regular expression cannot: a check sum, a list of names.
///
/// The guard asks at every place where a match may begin, from left to right. The answer must
/// depend on nothing but the text: [`Look::No`] and [`Look::Match`] have to stay the same
/// however the text goes on, and [`Look::More`] says that this is not sure yet.
pub trait Matcher: Send + Sync + 'static {
    /// How many bytes a match has at most; the guard holds back no more than that and four
    /// bytes.
    fn longest(&self) -> usize;

    /// Whether a match may begin with this byte. Asked when the guard is built; text without
    /// such bytes goes straight through.
    fn begins_with(&self, byte: u8) -> bool {
        let _ = byte;
        true
    }

    /// Whether a match begins at `text[at..]`. Of what lies before, at least one character is
    /// there, if there was any. Without `more` the text is over, and [`Look::More`] counts
    /// as no.
    fn look(&self, text: &str, at: usize, more: bool) -> Look;
}

/// What a [`Matcher`] saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "there is one, there is none, or nobody knows"
)]
pub enum Look {
    /// No match begins here.
    No,
    /// One may begin here, depending on what comes.
    More,
    /// A match ends before this byte of the text. An end that is none is moved to the next
    /// one that is.
    Match(usize),
}
