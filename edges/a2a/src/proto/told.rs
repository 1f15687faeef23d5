//! What the status of a peer tells.

use std::time::Duration;

use prost::{Message, Name};
use prost_types::Any;
use tonic::{Code, Status};

use super::rpc;
use crate::model::{DOMAIN, Error, ErrorKind, Violation};

/// The error that a status of a peer tells: by the reason of an `ErrorInfo` of the protocol, else
/// by the code (A2A-RPC-34).
pub(crate) fn error_of(status: &Status) -> Error {
    // What is no such message tells nothing, and the code is there all the same.
    let details = rpc::Status::decode(status.details()).unwrap_or_default();
    let mut kind = kind_of(status.code());
    let mut metadata = Vec::new();
    let mut violations = Vec::new();
    let mut after = None;
    let mut reference = None;
    for detail in &details.details {
        if let Some(info) = unpacked::<rpc::ErrorInfo>(detail) {
            if info.domain == DOMAIN {
                kind = ErrorKind::from_reason(&info.reason).unwrap_or(kind);
                metadata.extend(info.metadata);
            }
        } else if let Some(bad) = unpacked::<rpc::BadRequest>(detail) {
            violations.extend(
                bad.field_violations
                    .into_iter()
                    .map(|violation| Violation::new(violation.field, violation.description)),
            );
        } else if let Some(retry) = unpacked::<rpc::RetryInfo>(detail) {
            after = retry
                .retry_delay
                .and_then(|delay| Duration::try_from(delay).ok());
        } else if let Some(info) = unpacked::<rpc::RequestInfo>(detail) {
            reference = Some(info.request_id);
        }
    }
    let error = Error::with_message(kind, status.message().to_owned());
    let error = match reference {
        Some(reference) => error.with_reference(reference),
        None => error,
    };
    metadata
        .into_iter()
        .fold(error, |error, (name, value)| error.with(name, value))
        .violating(violations)
        .retry_after(after)
}

const fn kind_of(code: Code) -> ErrorKind {
    match code {
        Code::InvalidArgument | Code::OutOfRange => ErrorKind::InvalidParams,
        Code::NotFound => ErrorKind::TaskNotFound,
        Code::PermissionDenied => ErrorKind::PermissionDenied,
        Code::ResourceExhausted => ErrorKind::ResourceExhausted,
        // Six refusals have this code; the broadest of them.
        Code::FailedPrecondition => ErrorKind::UnsupportedOperation,
        Code::Unimplemented => ErrorKind::MethodNotFound,
        Code::Unauthenticated => ErrorKind::Unauthenticated,
        Code::Unavailable | Code::DeadlineExceeded | Code::Cancelled | Code::Aborted => {
            ErrorKind::Unavailable
        }
        Code::Ok | Code::Unknown | Code::AlreadyExists | Code::Internal | Code::DataLoss => {
            ErrorKind::Internal
        }
    }
}

fn unpacked<M: Message + Name + Default>(any: &Any) -> Option<M> {
    let name = any.type_url.rsplit('/').next()?;
    (name == M::full_name())
        .then(|| M::decode(&*any.value).ok())
        .flatten()
}
