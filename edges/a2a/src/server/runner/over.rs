use crate::log::AppendError;

/// The turn is over.
pub(super) enum Over {
    /// The log says how it ended, once what is left is appended.
    Settled,
    /// Somebody else has written to the log: a cancel, a later turn, another process.
    Fenced,
    /// The log failed.
    Broken,
}

impl From<AppendError> for Over {
    fn from(error: AppendError) -> Self {
        match error {
            AppendError::Conflict { .. }
            | AppendError::Finished
            | AppendError::Held
            | AppendError::NotFound => Self::Fenced,
            error => {
                tracing::error!(%error, "an update could not be stored");
                Self::Broken
            }
        }
    }
}
