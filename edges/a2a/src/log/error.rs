use std::{error::Error, fmt};

use super::Seq;

/// Why a batch was not appended. Nothing of it was.
#[derive(Debug)]
#[non_exhaustive]
pub enum AppendError {
    /// There is no such task for this owner.
    NotFound,
    /// The log ends elsewhere: somebody else has written.
    Conflict {
        /// Where it ends.
        actual: Seq,
    },
    /// The task is finished, or would be before the end of the batch. Nothing leaves a
    /// terminal state (A2A-OP-116, O-L10).
    Finished,
    /// Somebody else holds the task.
    Held,
    /// The log of the task has reached its [limit](super::Limits). Only a batch that
    /// finishes the task is still taken.
    Full,
    /// Appends to an artifact that was never sent (A2A-OP-47, O-L09).
    UnknownArtifact {
        /// Its id.
        artifact_id: String,
    },
    /// Opens a task that is there, or begins one with something else.
    Misplaced,
    /// The store failed. Whether the batch was stored is open: read before trying again.
    Unavailable(Unavailable),
}

impl fmt::Display for AppendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str("no such task"),
            Self::Conflict { actual } => write!(f, "the log ends at {actual}"),
            Self::Finished => f.write_str("the task is finished"),
            Self::Held => f.write_str("somebody else holds the task"),
            Self::Full => f.write_str("the log of the task is full"),
            Self::UnknownArtifact { artifact_id } => {
                write!(f, "append to the unknown artifact {artifact_id:?}")
            }
            Self::Misplaced => f.write_str("a log begins with its task, and only there"),
            Self::Unavailable(_) => f.write_str("the update could not be stored"),
        }
    }
}

impl Error for AppendError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unavailable(unavailable) => Some(unavailable),
            _ => None,
        }
    }
}

impl From<Unavailable> for AppendError {
    fn from(unavailable: Unavailable) -> Self {
        Self::Unavailable(unavailable)
    }
}

/// The store cannot be reached, or failed.
#[derive(Debug)]
pub struct Unavailable(Box<dyn Error + Send + Sync>);

impl Unavailable {
    /// Because of this.
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(source.into())
    }
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the task store is not available")
    }
}

impl Error for Unavailable {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}
