use std::time::Duration;

use portcullis::{Failure, FailureCode};

use crate::commit::reason;

/// What a caller is told when the first agent failed, and the last one that was asked as well.
///
/// `last` is what the last one said; its members and, as the source, itself are kept.
/// `final_word` is a failure after which nobody else would have been asked: then it is about
/// the turn, and its code and its word on retrying stand.
pub(super) fn all_failed(first: &Failure, last: Failure, final_word: bool) -> Failure {
    let details = format!(
        "{}; the first agent had failed: {}",
        reason(Some(&last)),
        reason(Some(first)),
    );
    let mut failure = last.clone();
    failure.set_details(details);
    if !final_word {
        if first.code() != last.code() {
            // Neither code is true of both.
            failure.set_code(Some(FailureCode::UNAVAILABLE));
        }
        let after = [first, &last]
            .into_iter()
            .filter(|failure| failure.is_retryable())
            .map(|failure| failure.after().unwrap_or(Duration::ZERO))
            .min();
        failure = failure.retryable(after.is_some());
        failure.set_retry_after(after.filter(|after| !after.is_zero()));
    }
    failure.caused_by(last)
}
