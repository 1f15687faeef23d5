use std::collections::BTreeMap;

use serde::{
    Deserialize, Serialize, Serializer,
    ser::{SerializeMap, SerializeSeq},
};
use serde_json::value::RawValue;

use super::{Error, ErrorKind, Violation};

/// The details of an error: what JSON-RPC calls `data` and HTTP+JSON `details`, an array
/// of objects with an `@type` (A2A-RPC-29, -30, -32).
#[derive(Clone, Copy, Debug)]
pub struct ErrorDetails<'a> {
    pub(super) error: &'a Error,
    pub(super) reason: Option<&'static str>,
}

impl ErrorDetails<'_> {
    /// Whether there is nothing to say, so that `data` is left out.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.reason.is_none()
            && self.error.violations().is_empty()
            && self.error.reference().is_none()
    }
}

impl Serialize for ErrorDetails<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut details = serializer.serialize_seq(None)?;
        if let Some(reason) = self.reason {
            details.serialize_element(&ErrorInfo(reason, self.error))?;
        }
        if !self.error.violations().is_empty() {
            details.serialize_element(&BadRequest(self.error.violations()))?;
        }
        if let Some(reference) = self.error.reference() {
            details.serialize_element(&RequestInfo(reference))?;
        }
        details.end()
    }
}

struct ErrorInfo<'a>(&'static str, &'a Error);

impl Serialize for ErrorInfo<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(reason, error) = self;
        let mut info = serializer.serialize_map(None)?;
        info.serialize_entry("@type", ERROR_INFO)?;
        info.serialize_entry("reason", reason)?;
        info.serialize_entry("domain", DOMAIN)?;
        if !error.0.metadata.is_empty() {
            info.serialize_entry("metadata", &ErrorMetadata(error))?;
        }
        info.end()
    }
}

struct ErrorMetadata<'a>(&'a Error);

impl Serialize for ErrorMetadata<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.metadata())
    }
}

struct BadRequest<'a>(&'a [Violation]);

impl Serialize for BadRequest<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bad = serializer.serialize_map(Some(2))?;
        bad.serialize_entry("@type", BAD_REQUEST)?;
        bad.serialize_entry("fieldViolations", self.0)?;
        bad.end()
    }
}

struct RequestInfo<'a>(&'a str);

impl Serialize for RequestInfo<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut info = serializer.serialize_map(Some(2))?;
        info.serialize_entry("@type", REQUEST_INFO)?;
        info.serialize_entry("requestId", self.0)?;
        info.end()
    }
}

impl Error {
    /// The error that a server sent: told by the reason of an `ErrorInfo` of the
    /// protocol, else by the code (A2A-RPC-34). `data` is what came as details; whatever
    /// of it does not fit is left out.
    #[must_use]
    pub fn from_wire(code: i32, message: impl Into<String>, data: Option<&str>) -> Self {
        let kind = ErrorKind::from_code(code);
        let mut error = Self::told(kind, message.into(), data);
        if kind.is_none() && error.reason().is_none() {
            error.0.foreign_code = Some(code);
        }
        error
    }

    /// The error that a server of HTTP+JSON sent: told by the reason of an `ErrorInfo` of
    /// the protocol, else by the status (A2A-REST-25).
    #[must_use]
    pub fn from_http(status: u16, message: impl Into<String>, details: Option<&str>) -> Self {
        let kind = ErrorKind::from_http_status(status);
        Self::told(kind, message.into(), details)
    }

    /// With the code that a peer said, unless its reason tells more.
    #[cfg(feature = "client")]
    pub(crate) fn or_code(mut self, code: i32) -> Self {
        if self.reason().is_none() {
            self.0.foreign_code = Some(code);
        }
        self
    }

    fn told(mut kind: Option<ErrorKind>, message: String, data: Option<&str>) -> Self {
        let details: Vec<Box<RawValue>> = data
            .and_then(|data| serde_json::from_str(data).ok())
            .unwrap_or_default();
        let mut metadata = Vec::new();
        let mut violations = Vec::new();
        let mut reference = None;
        for detail in details {
            let Ok(detail) = serde_json::from_str::<Detail>(detail.get()) else {
                continue;
            };
            if detail.type_url == ERROR_INFO && detail.domain == DOMAIN {
                kind = ErrorKind::from_reason(&detail.reason).or(kind);
                metadata.extend(detail.metadata);
            } else if detail.type_url == BAD_REQUEST {
                violations.extend(detail.field_violations);
            } else if detail.type_url == REQUEST_INFO {
                reference = detail.request_id;
            }
        }
        let kind = kind.unwrap_or(ErrorKind::Unavailable);
        let mut error = Self::with_message(kind, message);
        error.0.reference = reference;
        for (name, value) in metadata {
            error = error.with(name, value);
        }
        error.violating(
            violations
                .into_iter()
                .map(|violation| Violation::new(violation.field, violation.description))
                .collect(),
        )
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Detail {
    #[serde(rename = "@type")]
    type_url: String,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    domain: String,
    #[serde(default)]
    metadata: BTreeMap<String, String>,
    #[serde(default)]
    field_violations: Vec<FieldViolation>,
    #[serde(default)]
    request_id: Option<String>,
}

#[derive(Deserialize)]
struct FieldViolation {
    #[serde(default)]
    field: String,
    #[serde(default)]
    description: String,
}

const ERROR_INFO: &str = "type.googleapis.com/google.rpc.ErrorInfo";
const BAD_REQUEST: &str = "type.googleapis.com/google.rpc.BadRequest";
const REQUEST_INFO: &str = "type.googleapis.com/google.rpc.RequestInfo";
/// Whose reasons they are.
pub(crate) const DOMAIN: &str = "a2a-protocol.org";
