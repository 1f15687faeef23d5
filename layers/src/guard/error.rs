use std::{error::Error, fmt};

/// A guard that makes no sense.
///
/// It names a rule by its number, in the order in which rules were added, and never shows a
/// pattern: a pattern may be a secret itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardError {
    pub(super) rule: Option<usize>,
    pub(super) why: Why,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Why {
    Inert,
    NoChannel,
    NothingHeld,
    TooManyRules,
    Syntax(String),
    Empty,
    Never,
    Unbounded,
    BadBound,
    TooLong,
    TooBig,
}

impl GuardError {
    pub(super) const fn of(why: Why) -> Self {
        Self { rule: None, why }
    }
}

impl fmt::Display for GuardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(rule) = self.rule {
            write!(f, "guard rule {}: ", rule + 1)?;
        }
        match &self.why {
            Why::Inert => f.write_str("a guard without rules and tool lists would do nothing"),
            Why::NoChannel => f.write_str("the guard has rules, and no channel to look at"),
            Why::NothingHeld => {
                f.write_str("the guard has a hold time, and no text that it could hold")
            }
            Why::TooManyRules => f.write_str("a guard has at most 64 rules"),
            Why::Syntax(error) => write!(f, "the pattern cannot be read: {error}"),
            Why::Empty => f.write_str("the pattern matches the empty text"),
            Why::Never => f.write_str("the pattern can never match"),
            Why::Unbounded => f.write_str(
                "matches may be of any length: bound the repetitions, or give a bound with \
                 `regex_within`",
            ),
            Why::BadBound => f.write_str("no match is as short as the bound"),
            Why::TooLong => f.write_str("matches may be longer than 65536 bytes"),
            Why::TooBig => f.write_str("the pattern needs too much memory"),
        }
    }
}

impl Error for GuardError {}
