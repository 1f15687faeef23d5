use std::{error::Error, fmt};

use crate::model::Invalid;

/// A server could not be made.
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError {
    /// The card cannot be served: all that is wrong with it.
    Card(Invalid),
    /// The card cannot be signed.
    #[cfg(feature = "sign")]
    #[cfg_attr(docsrs, doc(cfg(feature = "sign")))]
    Signing(crate::signing::SigningError),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Card(_) => "the card cannot be served",
            #[cfg(feature = "sign")]
            Self::Signing(_) => "no signature for the card",
        })
    }
}

impl Error for BuildError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Card(source) => Some(source),
            #[cfg(feature = "sign")]
            Self::Signing(source) => Some(source),
        }
    }
}
