use http::StatusCode;
use serde::{Serialize, Serializer, ser::SerializeMap};

use crate::model::{Error, ErrorKind};

/// The error object of a reply: code, message, and details where there are some (A2A-RPC-25, 29).
pub(super) struct ErrorObject<'a>(pub(super) &'a Error);

impl Serialize for ErrorObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(error) = self;
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("code", &error.code())?;
        object.serialize_entry("message", error.message())?;
        let details = error.details();
        if !details.is_empty() {
            object.serialize_entry("data", &details)?;
        }
        object.end()
    }
}

/// 200 for whatever JSON-RPC has a code for; what a guard of the service says has a status that
/// proxies and simple clients understand (A2A-RPC-11, 35).
pub(super) const fn status(kind: ErrorKind) -> StatusCode {
    match kind {
        ErrorKind::Unauthenticated => StatusCode::UNAUTHORIZED,
        ErrorKind::PermissionDenied => StatusCode::FORBIDDEN,
        ErrorKind::ResourceExhausted => StatusCode::TOO_MANY_REQUESTS,
        ErrorKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::OK,
    }
}
