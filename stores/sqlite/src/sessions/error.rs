use std::{error::Error, fmt};

use crate::database::Trouble;

/// Why a session could not be read or kept.
#[derive(Debug)]
#[non_exhaustive]
pub enum SessionError {
    /// The key or the note is longer than the store takes.
    TooLong {
        /// Which of them.
        what: &'static str,
        /// Its length in bytes.
        found: usize,
        /// The longest that is taken, in bytes.
        most: usize,
    },
    /// The database failed or has stopped.
    Unavailable(Box<dyn Error + Send + Sync>),
}

impl From<Trouble> for SessionError {
    fn from(trouble: Trouble) -> Self {
        Self::Unavailable(trouble.into())
    }
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { what, found, most } => {
                write!(
                    f,
                    "the {what} of a session has {found} bytes, more than {most}"
                )
            }
            Self::Unavailable(_) => f.write_str("the store of sessions is unavailable"),
        }
    }
}

impl Error for SessionError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::TooLong { .. } => None,
            Self::Unavailable(source) => Some(&**source),
        }
    }
}
