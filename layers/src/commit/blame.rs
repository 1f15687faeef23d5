use portcullis::{Failure, FailureCode};

/// Whether a failure says that the turn itself cannot be, and nothing about the agent:
/// another agent would have to refuse it as well.
pub(crate) fn blames_the_turn(failure: &Failure) -> bool {
    let codes = [
        FailureCode::ABORTED,
        FailureCode::BUDGET_EXCEEDED,
        FailureCode::INVALID_PROMPT,
        FailureCode::PERMISSION_DENIED,
        FailureCode::SESSION_BUSY,
        FailureCode::UNAUTHENTICATED,
    ];
    failure.code().is_some_and(|code| codes.contains(code))
}
