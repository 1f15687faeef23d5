use std::{error::Error, fmt, io};

use portcullis::DecodeError;

/// Lines that are no recording: says which one, and why.
#[derive(Debug)]
pub struct ReadError {
    line: usize,
    fault: Fault,
}

#[derive(Debug)]
pub(super) enum Fault {
    Io(io::Error),
    Json(serde_json::Error),
    Decode(DecodeError),
    /// What is wrong with it.
    Line(&'static str),
}

impl ReadError {
    pub(super) const fn new(line: usize, fault: Fault) -> Self {
        Self { line, fault }
    }

    /// Which line, counted from 1.
    #[must_use]
    pub const fn line(&self) -> usize {
        self.line
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match &self.fault {
            Fault::Io(_) => "cannot be read",
            Fault::Json(_) => "is not the JSON of a recording",
            Fault::Decode(_) => "holds something else than it says",
            Fault::Line(what) => what,
        };
        write!(f, "line {} {what}", self.line)
    }
}

impl Error for ReadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.fault {
            Fault::Io(error) => Some(error),
            Fault::Json(error) => Some(error),
            Fault::Decode(error) => Some(error),
            Fault::Line(_) => None,
        }
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<serde_json::Error> for Fault {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(error)
    }
}

impl From<DecodeError> for Fault {
    fn from(error: DecodeError) -> Self {
        Self::Decode(error)
    }
}
