use std::{error::Error, fmt, io, path::PathBuf};

/// Why a file could not be opened as a store.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no such directory, the path is one, or it may not be read.
    Unreachable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The file may be read but not written.
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The file is something else, or the database of another program.
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file was written by a later version.
    Newer {
        /// The file.
        path: PathBuf,
        /// The version of its schema.
        found: i64,
        /// The latest version that this program knows.
        known: i64,
    },
    /// Another process has the file, or this one has it already.
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// This part of the database has a handle already, and may have one: clone that.
    Taken {
        /// The file.
        path: PathBuf,
        /// What it is.
        part: &'static str,
    },
    /// The database itself failed.
    Failed {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable { path, .. } => write!(f, "cannot open {}", path.display()),
            Self::ReadOnly { path } => write!(f, "{} may not be written", path.display()),
            Self::Foreign { path } => {
                write!(f, "{} is not a store of this program", path.display())
            }
            Self::Newer { path, found, known } => write!(
                f,
                "{} was written by a later version (schema {found}, this program knows {known})",
                path.display()
            ),
            Self::InUse { path } => {
                write!(f, "{} is in use by another process", path.display())
            }
            Self::Taken { path, part } => {
                write!(
                    f,
                    "the {part} of {} is in use: clone its handle",
                    path.display()
                )
            }
            Self::Failed { path, .. } => write!(f, "cannot use {}", path.display()),
        }
    }
}

impl Error for OpenError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unreachable { source, .. } | Self::Failed { source, .. } => Some(&**source),
            _ => None,
        }
    }
}

impl OpenError {
    /// From an error of the system.
    pub(crate) fn unreachable(path: PathBuf, source: io::Error) -> Self {
        Self::Unreachable {
            path,
            source: source.into(),
        }
    }

    /// From an error of SQLite.
    pub(crate) fn sqlite(path: PathBuf, source: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        match source.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::Foreign { path },
            Some(ErrorCode::ReadOnly) => Self::ReadOnly { path },
            Some(ErrorCode::CannotOpen) => Self::Unreachable {
                path,
                source: source.into(),
            },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::InUse { path },
            _ => Self::Failed {
                path,
                source: source.into(),
            },
        }
    }
}
