use std::{
    any::Any,
    error::Error,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
};

use portcullis::{Failure, FailureCode, Panicked};

/// Makes the one failure of an error that came out of a service.
///
/// The source chain is searched for something that a caller may know of. Everything
/// else is for the log.
pub(super) fn error(layer: &'static str, error: &(dyn Error + 'static)) -> Failure {
    let known = chain(error).find_map(known);
    known.unwrap_or_else(|| internal(layer, error))
}

/// An error and its causes. Bounded, for a chain may be a ring.
fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error: &&'a (dyn Error + 'static)| {
        error.source()
    })
    .take(32)
}

fn known(error: &(dyn Error + 'static)) -> Option<Failure> {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        return Some(failure.clone());
    }
    #[cfg(feature = "catch")]
    {
        use tower::{load_shed::error::Overloaded, timeout::error::Elapsed};
        if error.is::<Overloaded>() {
            let failure = Failure::with_code(FailureCode::OVERLOADED, "no place is free");
            return Some(failure.retryable(true));
        }
        if error.is::<Elapsed>() {
            let failure = Failure::with_code(FailureCode::TIMEOUT, "it took too long");
            return Some(failure.retryable(true));
        }
    }
    None
}

/// The failure of a panic, whose text is for the log.
pub(super) fn panic(layer: &'static str, payload: Box<dyn Any + Send>) -> Failure {
    let failure = internal(layer, &Panicked::new(&*payload));
    // A payload may panic itself when it is dropped.
    let _ = catch_unwind(AssertUnwindSafe(move || drop(payload)));
    failure
}

/// The failure of a turn that ended without a terminal event.
pub(super) fn bare_end(layer: &'static str) -> Failure {
    tracing::error!(layer, "the agent ended without a terminal event");
    Failure::with_code(
        FailureCode::CONTRACT_VIOLATION,
        "the agent ended without saying how",
    )
}

/// A generic text and a reference for the caller, the chain for the log.
fn internal(layer: &'static str, error: &(dyn Error + 'static)) -> Failure {
    let reference = fastrand::u64(..);
    tracing::error!(
        layer,
        reference = format_args!("{reference:016x}"),
        error = %Chain(error),
        "internal error"
    );
    Failure::with_code(
        FailureCode::INTERNAL,
        format!("internal error, reference {reference:016x}"),
    )
    .caused_by(Chain(error).to_string())
}

struct Chain<'a>(&'a (dyn Error + 'static));

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        chain(self.0)
            .skip(1)
            .try_for_each(|cause| write!(f, ": {cause}"))
    }
}
