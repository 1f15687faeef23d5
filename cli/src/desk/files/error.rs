use std::{error::Error, fmt, io};

/// Why a file or a directory cannot be looked at. The texts are for the caller: they
/// name the path as the caller wrote it, and nothing of the machine.
#[derive(Debug)]
#[non_exhaustive]
pub(crate) enum FileError {
    /// Absolute, with `..`, or through a link that leaves the directory.
    Outside(String),
    /// Hidden, `.git` or `target`.
    Ignored(String),
    Missing(String),
    NotAFile(String),
    Binary(String),
    TooLarge(String),
    Unreadable(String, io::Error),
    /// The turn was dropped; nobody reads this.
    Stopped,
}

impl FileError {
    pub(super) fn from_io(path: &str, error: io::Error) -> Self {
        let path = path.to_owned();
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing(path),
            // What the capability layer says of a path that leaves its directory.
            io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => {
                Self::Outside(path)
            }
            _ => match error
                .raw_os_error()
                .map(rustix::io::Errno::from_raw_os_error)
            {
                // openat2 refuses an escape so; O_NOFOLLOW meets a link so.
                Some(rustix::io::Errno::XDEV | rustix::io::Errno::LOOP) => Self::Outside(path),
                Some(rustix::io::Errno::NOTDIR) => Self::Missing(path),
                _ => Self::Unreadable(path, error),
            },
        }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outside(path) => write!(
                f,
                "\"{path}\" leads out of my directory, and I never leave it"
            ),
            Self::Ignored(path) => {
                write!(
                    f,
                    "I do not look at hidden files, .git or target, so not at \"{path}\""
                )
            }
            Self::Missing(path) => write!(f, "there is no \"{path}\" in my directory"),
            Self::NotAFile(path) => write!(f, "\"{path}\" is not a file"),
            Self::Binary(path) => write!(f, "\"{path}\" is binary, and I only read text"),
            Self::TooLarge(path) => write!(f, "\"{path}\" is larger than I read"),
            Self::Unreadable(path, _) => write!(f, "\"{path}\" cannot be read"),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

impl Error for FileError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unreadable(_, error) => Some(error),
            _ => None,
        }
    }
}
