use portcullis::{Failure, FailureCode};

use crate::model::ErrorKind;

/// When a turn failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the columns of the table")]
pub enum Moment {
    /// In the first poll of the turn, before anything waited, while there is no task.
    AtOnce,
    /// Before its first event.
    BeforeFirstEvent,
    /// After it.
    AfterFirstEvent,
}

/// What becomes of a turn that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is nothing else")]
pub enum Verdict {
    /// The operation is refused and there is no task.
    Refused(ErrorKind),
    /// The task is REJECTED.
    Rejected,
    /// The task is CANCELED.
    Canceled,
    /// The task is FAILED.
    Failed,
}

/// The one table from failures to what a caller sees (ruling 13).
///
/// `unavailable` has its row only if it says when to come again: then somebody has shut a
/// door, as an open breaker does, and nothing was tried (O-B09).
#[must_use]
pub fn verdict(failure: &Failure, moment: Moment) -> Verdict {
    let code = failure
        .code()
        .filter(|code| **code != FailureCode::UNAVAILABLE || failure.after().is_some());
    let row = code.and_then(|code| TABLE.iter().find(|(known, ..)| known == code));
    match (row, moment) {
        (None, _) => Verdict::Failed,
        (Some((_, at_once, ..)), Moment::AtOnce) => *at_once,
        (Some((_, _, before, _)), Moment::BeforeFirstEvent) => *before,
        (Some((.., after)), Moment::AfterFirstEvent) => *after,
    }
}

/// A code, and what it becomes at each moment. Codes that are not here fail the task.
type Row = (FailureCode, Verdict, Verdict, Verdict);

static TABLE: [Row; 9] = {
    use ErrorKind::{PermissionDenied, ResourceExhausted, Unauthenticated, Unavailable};
    use Verdict::{Canceled, Failed, Refused, Rejected};

    [
        (
            FailureCode::UNAUTHENTICATED,
            Refused(Unauthenticated),
            Rejected,
            Failed,
        ),
        (
            FailureCode::PERMISSION_DENIED,
            Refused(PermissionDenied),
            Rejected,
            Failed,
        ),
        (
            FailureCode::RATE_LIMITED,
            Refused(ResourceExhausted),
            Rejected,
            Failed,
        ),
        (
            FailureCode::OVERLOADED,
            Refused(Unavailable),
            Rejected,
            Failed,
        ),
        (
            FailureCode::SESSION_BUSY,
            Refused(Unavailable),
            Rejected,
            Failed,
        ),
        (
            FailureCode::UNAVAILABLE,
            Refused(Unavailable),
            Rejected,
            Failed,
        ),
        (FailureCode::BUDGET_EXCEEDED, Rejected, Rejected, Failed),
        (FailureCode::INVALID_PROMPT, Rejected, Rejected, Failed),
        (FailureCode::ABORTED, Canceled, Canceled, Canceled),
    ]
};
