//! Why a turn failed, from what the server or the client says.

use std::time::Duration;

use portcullis::{Failure, FailureCode, Json};
use serde::Deserialize;

use crate::{
    agent_events::{FAILURE, member},
    client::CallError,
    model::{Error, ErrorKind, Message, Metadata, TaskState},
};

/// The failure of a task in this state.
pub(super) fn of_state(
    state: TaskState,
    message: Option<&Message>,
    metadata: &Metadata,
) -> Failure {
    let text = message.map(Message::text).filter(|text| !text.is_empty());
    let mut failure = Failure::new(text.unwrap_or_else(|| {
        let said = match state {
            TaskState::Canceled => "the remote task was canceled",
            TaskState::Rejected => "the remote agent rejected the task",
            _ => "the remote agent failed",
        };
        said.to_owned()
    }));
    if let Some(told) = member(metadata, FAILURE) {
        tell(&mut failure, &told);
    } else if state == TaskState::Canceled {
        failure.set_code(Some(FailureCode::ABORTED));
    }
    failure
}

/// What the other end of the extension told.
fn tell(failure: &mut Failure, told: &Json) {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Told {
        code: Option<String>,
        #[serde(default)]
        retryable: bool,
        retry_after_ms: Option<u64>,
    }

    let Ok(known) = told.decode::<Told>() else {
        tracing::debug!("a failure has details that cannot be read");
        return;
    };
    failure.set_code(known.code.map(FailureCode::new));
    *failure = failure.clone().retryable(known.retryable);
    failure.set_retry_after(known.retry_after_ms.map(Duration::from_millis));
    let members: Option<Metadata> = told.decode().ok();
    for (name, value) in members.iter().flat_map(Metadata::iter) {
        // The known ones are set above.
        let _known = failure.extra_mut().insert(name, value);
    }
}

/// The failure of a call.
pub(super) fn of_call(error: CallError) -> Failure {
    let failure = match &error {
        CallError::Refused(refusal) => return of_refusal(refusal),
        CallError::Status { status, .. } if status.is_server_error() => {
            let mut failure = unavailable();
            failure.set_retry_after(error.retry_after());
            failure
        }
        CallError::Status { status, .. } => match ErrorKind::from_http_status(status.as_u16()) {
            Some(kind) => of_kind(kind, None),
            None => broken(),
        },
        CallError::Protocol(_) | CallError::TooLong(_) | CallError::Redirect { .. } => broken(),
        CallError::Idle | CallError::NoReply | CallError::Slow => Failure::with_code(
            FailureCode::TIMEOUT,
            "the remote agent was silent for too long",
        )
        .retryable(true),
        CallError::Cut { .. } => Failure::with_code(
            FailureCode::UNAVAILABLE,
            "the connection to the remote agent broke",
        )
        .retryable(true),
        _ => unavailable(),
    };
    failure.caused_by(error)
}

fn of_refusal(refusal: &Error) -> Failure {
    let mut failure = of_kind(refusal.kind(), Some(refusal.message()));
    failure.set_retry_after(refusal.after());
    failure.caused_by(refusal.clone())
}

fn of_kind(kind: ErrorKind, message: Option<&str>) -> Failure {
    let (code, retryable) = match kind {
        ErrorKind::Unauthenticated => (FailureCode::UNAUTHENTICATED, false),
        ErrorKind::PermissionDenied => (FailureCode::PERMISSION_DENIED, false),
        ErrorKind::ResourceExhausted => (FailureCode::RATE_LIMITED, true),
        ErrorKind::Unavailable => (FailureCode::UNAVAILABLE, true),
        ErrorKind::InvalidParams | ErrorKind::ContentTypeNotSupported => {
            (FailureCode::INVALID_PROMPT, false)
        }
        ErrorKind::InvalidAgentResponse => (FailureCode::CONTRACT_VIOLATION, false),
        // What is wrong with the server, or between it and this client.
        _ => (FailureCode::INTERNAL, false),
    };
    let text = message.unwrap_or_else(|| kind.message());
    Failure::with_code(code, format!("the remote agent refused: {text}")).retryable(retryable)
}

fn unavailable() -> Failure {
    Failure::with_code(
        FailureCode::UNAVAILABLE,
        "the remote agent cannot be reached",
    )
    .retryable(true)
}

fn broken() -> Failure {
    breach("answered against the protocol")
}

/// The server did what the protocol does not allow.
pub(super) fn breach(what: &str) -> Failure {
    Failure::with_code(
        FailureCode::CONTRACT_VIOLATION,
        format!("the remote agent {what}"),
    )
}
