use serde::{Serialize, Serializer, ser::SerializeMap};

use crate::model::{Error, ErrorDetails, RpcCode};

/// The body of a reply that is an error: `google.rpc.Status`, as AIP-193 writes it (A2A-REST-20).
pub(super) struct ErrorBody<'a> {
    /// The status of the response.
    pub(super) code: u16,
    pub(super) status: RpcCode,
    pub(super) message: &'a str,
    pub(super) details: Option<ErrorDetails<'a>>,
}

impl<'a> ErrorBody<'a> {
    pub(super) fn of(error: &'a Error) -> Self {
        let kind = error.kind();
        Self {
            code: kind.http_status(),
            // That there is no such route is no business of the operations.
            status: match kind.rpc_code() {
                RpcCode::Unimplemented => RpcCode::NotFound,
                code => code,
            },
            message: error.message(),
            details: Some(error.full_details()),
        }
    }

    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        serde_json::to_writer(bytes, self).expect("strings and a number");
    }
}

impl Serialize for ErrorBody<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut body = serializer.serialize_map(Some(1))?;
        body.serialize_entry("error", &Status(self))?;
        body.end()
    }
}

struct Status<'a>(&'a ErrorBody<'a>);

impl Serialize for Status<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(body) = self;
        let mut status = serializer.serialize_map(Some(4))?;
        status.serialize_entry("code", &body.code)?;
        status.serialize_entry("status", body.status.as_str())?;
        status.serialize_entry("message", body.message)?;
        match &body.details {
            Some(details) => status.serialize_entry("details", details)?,
            None => status.serialize_entry("details", &[(); 0])?,
        }
        status.end()
    }
}
