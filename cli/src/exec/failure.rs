use std::{io, os::unix::process::ExitStatusExt, process::ExitStatus};

use portcullis::{Failure, FailureCode};

use super::{MAX_LINE, MAX_OUTPUT};

/// The code of a turn whose program did not exit with 0.
pub const EXEC_FAILED: FailureCode = FailureCode::from_static("exec_failed");

pub(super) fn not_started(error: io::Error) -> Failure {
    Failure::with_code(FailureCode::UNAVAILABLE, "the program cannot be started").caused_by(error)
}

pub(super) fn not_read(error: io::Error) -> Failure {
    Failure::with_code(
        FailureCode::UNAVAILABLE,
        "the program's output cannot be read",
    )
    .caused_by(error)
}

pub(super) fn exited(status: ExitStatus, shown: Option<&str>) -> Failure {
    let mut details = match (status.code(), status.signal()) {
        (Some(code), _) => format!("the program ended with exit code {code}"),
        (None, Some(signal)) => format!("the program was ended by signal {signal}"),
        (None, None) => "the program did not end well".to_owned(),
    };
    if let Some(shown) = shown.map(str::trim).filter(|shown| !shown.is_empty()) {
        details = format!("{details}: {shown}");
    }
    Failure::with_code(EXEC_FAILED, details)
}

pub(super) fn too_much() -> Failure {
    Failure::with_code(
        FailureCode::INVALID_OUTPUT,
        format!("the program printed more than {MAX_OUTPUT} bytes"),
    )
}

pub(super) fn too_long(line: u64) -> Failure {
    Failure::with_code(
        FailureCode::INVALID_OUTPUT,
        format!("line {line} of the program's output is longer than {MAX_LINE} bytes"),
    )
}

pub(super) fn no_event(
    line: u64,
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> Failure {
    Failure::with_code(
        FailureCode::INVALID_OUTPUT,
        format!("line {line} of the program's output is not an event"),
    )
    .caused_by(error)
}
