use std::{error::Error, fmt, path::PathBuf};

/// A certificate and its key cannot be used.
///
/// Nothing of the files' content is in it.
#[derive(Debug)]
#[non_exhaustive]
pub enum TlsError {
    /// The file cannot be read, or is not PEM.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<dyn Error + Send + Sync>,
    },
    /// There is no certificate in the file.
    NoCertificate {
        /// The file.
        path: PathBuf,
    },
    /// The two files do not belong together, or the key is of a kind that is not supported.
    Unfit {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
        /// What is wrong with them.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { path, .. } => {
                write!(f, "{} cannot be read as a PEM file", path.display())
            }
            Self::NoCertificate { path } => {
                write!(f, "there is no certificate in {}", path.display())
            }
            Self::Unfit {
                certificate, key, ..
            } => write!(
                f,
                "the certificate of {} cannot be used with the key of {}",
                certificate.display(),
                key.display()
            ),
        }
    }
}

impl Error for TlsError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unreadable { source, .. } | Self::Unfit { source, .. } => Some(&**source),
            Self::NoCertificate { .. } => None,
        }
    }
}
