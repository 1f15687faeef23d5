use std::fmt;

use portcullis::{End, FailureCode};

use crate::semconv;

/// How a turn ended. Of a failure the code only: its details may be content.
#[expect(
    clippy::exhaustive_enums,
    reason = "a turn has these five ends and no other"
)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// `completed` was delivered.
    Completed,
    /// `failed` was delivered.
    Failed(Option<FailureCode>),
    /// The caller left.
    Cancelled,
    /// The stream ended without a terminal event.
    Truncated,
    /// Something panicked.
    Panicked,
}

impl Outcome {
    /// The word for it, without the code.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed(_) => "failed",
            Self::Cancelled => "cancelled",
            Self::Truncated => "truncated",
            Self::Panicked => "panicked",
        }
    }

    /// The class of the error, as the semantic conventions have it: the code of the failure,
    /// `_OTHER` if it has none. `None` for `completed`.
    #[must_use]
    pub fn error_type(&self) -> Option<&str> {
        match self {
            Self::Completed => None,
            Self::Failed(code) => Some(code.as_ref().map_or(semconv::OTHER, FailureCode::as_str)),
            other => Some(other.as_str()),
        }
    }
}

impl From<End<'_>> for Outcome {
    fn from(end: End<'_>) -> Self {
        match end {
            End::Completed => Self::Completed,
            End::Failed(failure) => Self::Failed(failure.code().cloned()),
            End::Cancelled => Self::Cancelled,
            End::Truncated => Self::Truncated,
            End::Panicked => Self::Panicked,
        }
    }
}

/// `completed`, or `failed (timeout)`.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(Some(code)) => write!(f, "failed ({code})"),
            other => f.write_str(other.as_str()),
        }
    }
}
