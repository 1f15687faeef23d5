use std::{error::Error, fmt};

use crate::desk::{calc::CalcError, files::FileError};

/// Why a tool has no result. The text is for the caller.
#[derive(Debug)]
#[non_exhaustive]
pub(crate) enum ToolError {
    File(FileError),
    Calc(CalcError),
    /// Nothing to answer about.
    NoFile,
    /// A table of one file.
    NotADirectory(String),
    /// Units of different kinds.
    Units(&'static str, &'static str),
    /// Outside the calendar.
    Calendar,
    Span,
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::Calc(error) => error.fmt(f),
            Self::NoFile => f.write_str("there is no file to answer about"),
            Self::NotADirectory(path) => write!(f, "\"{path}\" is not a directory"),
            Self::Units(from, to) => write!(f, "{from} and {to} do not measure the same thing"),
            Self::Calendar => f.write_str("that day is outside my calendar"),
            Self::Span => f.write_str("lines are counted from 1, the first before the last"),
        }
    }
}

impl Error for ToolError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::File(error) => error.source(),
            _ => None,
        }
    }
}

impl From<FileError> for ToolError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

impl From<CalcError> for ToolError {
    fn from(error: CalcError) -> Self {
        Self::Calc(error)
    }
}
