use num_rational::BigRational;
use serde_json::Value;

use crate::desk::{files::Entry, grammar::Subject, language::Filter, units::Unit};

/// What a tool found out.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The answer.
    pub(crate) pieces: Vec<Piece>,
    /// The same as data.
    pub(crate) data: Value,
    /// What "that" refers to from now on.
    pub(crate) number: Option<(BigRational, Option<&'static Unit>)>,
    /// What "it" refers to as a file.
    pub(crate) path: Option<String>,
}

/// A part of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Said word by word.
    Prose(String),
    /// A line of a listing, said at once.
    Line(String),
}

impl Outcome {
    pub(crate) fn said(sentence: impl Into<String>, data: Value) -> Self {
        Self {
            pieces: vec![Piece::Prose(sentence.into())],
            data,
            number: None,
            path: None,
        }
    }

    pub(crate) fn with_count(mut self, number: u64) -> Self {
        self.number = Some((BigRational::from(num_bigint::BigInt::from(number)), None));
        self
    }

    pub(crate) fn with_path(mut self, path: Option<String>) -> Self {
        self.path = path;
        self
    }
}

/// What was left out, and why.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Skipped {
    pub(super) binary: u64,
    pub(super) too_large: u64,
    pub(super) unreadable: u64,
}

impl Skipped {
    pub(super) fn add(&mut self, error: &crate::desk::files::FileError) {
        use crate::desk::files::FileError::{Binary, TooLarge};
        match error {
            Binary(_) => self.binary += 1,
            TooLarge(_) => self.too_large += 1,
            _ => self.unreadable += 1,
        }
    }

    pub(super) fn data(self) -> Value {
        serde_json::json!({
            "binary": self.binary,
            "tooLarge": self.too_large,
            "unreadable": self.unreadable,
        })
    }

    /// A sentence about it, with a space before; empty when nothing was left out.
    pub(super) fn sentence(self, truncated: bool) -> String {
        let parts: Vec<String> = [
            (self.binary, "binary"),
            (self.too_large, "too large"),
            (self.unreadable, "unreadable"),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, why)| format!("{count} {why}"))
        .collect();
        let mut sentence = String::new();
        if !parts.is_empty() {
            sentence = format!(" Not read: {}.", parts.join(", "));
        }
        if truncated {
            sentence.push_str(" I stopped at a bound; there is more.");
        }
        sentence
    }
}

/// "1 file", "2 files".
pub(super) fn counted(count: u64, one: &str, many: &str) -> String {
    if count == 1 {
        format!("1 {one}")
    } else {
        format!("{count} {many}")
    }
}

/// "of Rust", "of code", with a space before.
pub(super) fn of(filter: Option<&Filter>) -> String {
    filter.map_or_else(String::new, |filter| format!(" of {}", filter.name()))
}

/// "in src", with a space before.
pub(super) fn place(path: Option<&str>) -> String {
    path.map_or_else(String::new, |path| format!(" in {path}"))
}

/// The path of a subject whose "it" has been resolved.
pub(super) fn path_of(subject: &Subject) -> Option<&str> {
    match subject {
        Subject::Path(path) => Some(path),
        Subject::Everything | Subject::That => None,
    }
}

pub(super) fn accepts(filter: Option<&Filter>, entry: &Entry) -> bool {
    filter.is_none_or(|filter| filter.accepts(entry.extension()))
}

/// A line of a file, fit to be shown: no control characters, and not too long.
pub(super) fn shown_line(line: &[u8], max: usize) -> String {
    let text = String::from_utf8_lossy(line);
    let mut shown = String::new();
    for c in text.chars() {
        if shown.len() + c.len_utf8() > max {
            shown.push('\u{2026}');
            break;
        }
        match c {
            '\t' => shown.push_str("    "),
            c if c.is_control() => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
    shown
}
