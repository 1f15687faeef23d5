//! Errors: a status, and in its details what the protocol says of them (A2A-GRPC-4).

use prost::{Message, Name};
use prost_types::Any;
use tonic::{Code, Status};

use super::rpc;
use crate::model::{DOMAIN, Error, Violation};

/// What an error is on this wire, before a stream and in it (O-G01, O-G06).
pub(crate) fn status_of(error: &Error) -> Status {
    let kind = error.kind();
    let code = Code::from(kind.rpc_code().number());
    let message = shortened(error.message());
    let mut details = Vec::new();
    if let Some(reason) = kind.full_reason() {
        details.push(any(&rpc::ErrorInfo {
            reason: reason.to_owned(),
            domain: DOMAIN.to_owned(),
            metadata: error
                .metadata()
                .map(|(name, value)| (name.to_owned(), shortened(value).to_owned()))
                .collect(),
        }));
    }
    if !error.violations().is_empty() {
        details.push(any(&rpc::BadRequest {
            field_violations: shown(error.violations()),
        }));
    }
    if let Some(reference) = error.reference() {
        details.push(any(&rpc::RequestInfo {
            request_id: shortened(reference).to_owned(),
        }));
    }
    if let Some(after) = error.after() {
        details.push(any(&rpc::RetryInfo {
            // One that is too long for the wire is for ever.
            retry_delay: after.try_into().ok(),
        }));
    }
    let details = rpc::Status {
        code: code.into(),
        message: message.to_owned(),
        details,
    };
    Status::with_details(code, message, details.encode_to_vec().into())
}

fn any<M: Message + Name>(message: &M) -> Any {
    Any {
        type_url: M::type_url(),
        value: message.encode_to_vec(),
    }
}

/// The first faults. All of it is one trailer, and peers take a few kilobytes of those.
fn shown(violations: &[Violation]) -> Vec<rpc::bad_request::FieldViolation> {
    let mut room = 4 << 10;
    violations
        .iter()
        .map(|violation| rpc::bad_request::FieldViolation {
            field: shortened(violation.field()).to_owned(),
            description: shortened(violation.description()).to_owned(),
        })
        .take_while(|violation| {
            let size = violation.field.len() + violation.description.len();
            let fits = size <= room;
            room = room.saturating_sub(size);
            fits
        })
        .collect()
}

/// At most 512 bytes of a text.
fn shortened(text: &str) -> &str {
    &text[..text.floor_char_boundary(512)]
}

macro_rules! names {
    ($($message:ident),*) => {
        $(impl Name for rpc::$message {
            const NAME: &'static str = stringify!($message);
            const PACKAGE: &'static str = "google.rpc";

            fn full_name() -> String {
                concat!("google.rpc.", stringify!($message)).to_owned()
            }

            fn type_url() -> String {
                concat!("type.googleapis.com/google.rpc.", stringify!($message)).to_owned()
            }
        })*
    };
}

names!(ErrorInfo, BadRequest, RetryInfo, RequestInfo);
