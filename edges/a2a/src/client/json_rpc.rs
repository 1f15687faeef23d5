use std::borrow::Cow;

use http::StatusCode;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::error::CallError;
use crate::{
    model::{Error, ErrorKind},
    wire::Id,
};

/// Reads one reply and gives its result as JSON text, `None` where a server left it out, as some
/// do for an empty one (A2A-RPC-16).
///
/// # Errors
/// What the server refused, or that this is no reply to `id` (O-J04, O-J07).
pub(super) fn result_of<'a>(reply: &'a [u8], id: &Id) -> Result<Option<&'a str>, CallError> {
    let members = read(reply)?;
    match (members.result, members.error) {
        (Some(_), Some(_)) => Err(CallError::protocol("a reply has a result and an error")),
        (None, Some(error)) => {
            // A server that could not read the id says null.
            members.check_id(id, true)?;
            Err(refusal(error)?)
        }
        (result, None) => {
            members.check_id(id, false)?;
            Ok(result.map(RawValue::get))
        }
    }
}

/// The error that a body with a status other than 200 tells, if it is a reply (A2A-RPC-12).
pub(super) fn refusal_in(body: &[u8], status: StatusCode) -> Option<Error> {
    let error: ErrorObject<'_> = serde_json::from_str(read(body).ok()?.error?.get()).ok()?;
    let data = error.data.map(RawValue::get);
    // What the protocol has no code for is told by the status, and keeps its number (A2A-RPC-34,
    // A2A-RPC-35).
    let is_known = ErrorKind::from_code(error.code).is_some();
    Some(if is_known {
        Error::from_wire(error.code, error.message, data)
    } else {
        Error::from_http(status.as_u16(), error.message, data).or_code(error.code)
    })
}

fn read(reply: &[u8]) -> Result<Members<'_>, CallError> {
    let text =
        std::str::from_utf8(reply).map_err(|_| CallError::protocol("the reply is not UTF-8"))?;
    if text.trim().is_empty() {
        return Err(CallError::protocol("the reply is empty"));
    }
    if !text.trim_start().starts_with('{') {
        return Err(CallError::protocol("the reply is no object"));
    }
    let mut members: Members<'_> = serde_json::from_str(text)
        .map_err(|error| CallError::protocol(format!("the reply is no JSON-RPC reply: {error}")))?;
    if members.jsonrpc != "2.0" {
        return Err(CallError::protocol(
            "the reply does not say \"jsonrpc\": \"2.0\"",
        ));
    }
    // Some servers write both members, one of them null.
    if members.error.is_some() && members.result.is_some_and(|result| result.get() == "null") {
        members.result = None;
    }
    Ok(members)
}

fn refusal(error: &RawValue) -> Result<CallError, CallError> {
    let error: ErrorObject<'_> = serde_json::from_str(error.get())
        .map_err(|error| CallError::protocol(format!("the reply has no valid error: {error}")))?;
    let data = error.data.map(RawValue::get);
    Ok(CallError::Refused(Box::new(Error::from_wire(
        error.code,
        error.message,
        data,
    ))))
}

#[derive(Deserialize)]
struct Members<'a> {
    #[serde(borrow, default)]
    jsonrpc: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

impl Members<'_> {
    fn check_id(&self, id: &Id, or_null: bool) -> Result<(), CallError> {
        match self.id.map(RawValue::get) {
            Some(said) if said == id.as_str() => Ok(()),
            Some("null") if or_null => Ok(()),
            said => Err(CallError::protocol(format!(
                "the reply is for request {}, not for {id}",
                said.unwrap_or("(none)")
            ))),
        }
    }
}

#[derive(Deserialize)]
struct ErrorObject<'a> {
    code: i32,
    #[serde(default)]
    message: String,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
}

/// Tells null from absent.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}
