use std::{error::Error, fmt};

/// How long what somebody else's validator says may be.
const LONGEST: usize = 300;

/// A schema that is none, or more than it may be: says where, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidSchema {
    place: String,
    reason: String,
}

impl InvalidSchema {
    /// `place` is a JSON pointer into the schema, empty for all of it. Both are cut where they are long.
    #[must_use]
    pub fn new(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            place: cut(place.into()),
            reason: cut(reason.into()),
        }
    }

    /// Where, as a JSON pointer into the schema. Empty for all of it.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }
}

impl fmt::Display for InvalidSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        at(f, &self.place, &self.reason)
    }
}

impl Error for InvalidSchema {}

/// What is wrong with data: says where, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    place: String,
    reason: String,
}

impl Violation {
    /// `place` is a JSON pointer into the data, empty for all of it. Both are cut where they are long.
    #[must_use]
    pub fn new(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            place: cut(place.into()),
            reason: cut(reason.into()),
        }
    }

    /// Where, as a JSON pointer into the data. Empty for all of it.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        at(f, &self.place, &self.reason)
    }
}

impl Error for Violation {}

fn at(f: &mut fmt::Formatter<'_>, place: &str, reason: &str) -> fmt::Result {
    if !place.is_empty() {
        write!(f, "{place}: ")?;
    }
    f.write_str(reason)
}

fn cut(mut text: String) -> String {
    if text.len() > LONGEST {
        text.truncate(text.floor_char_boundary(LONGEST));
        text.push('…');
    }
    text
}
