use portcullis::{Failure, FailureCode};

/// Longer texts are cut: they are said once more beside the failure.
const MOST: usize = 512;

/// What a caller may read of a failure that does not end the turn: nothing internal
/// (ruling 9), and not without end.
pub(crate) fn reason(failure: Option<&Failure>) -> &str {
    match failure {
        None => "the agent ended without saying how",
        Some(failure) if failure.is(&FailureCode::INTERNAL) => "internal error",
        Some(failure) => {
            let details = failure.details();
            &details[..details.floor_char_boundary(MOST)]
        }
    }
}
