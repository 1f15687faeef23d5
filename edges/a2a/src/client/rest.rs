//! Calls in the form of HTTP+JSON.

use std::borrow::Cow;

use http::{StatusCode, Uri};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::error::CallError;
use crate::{
    model::{Error, Operation},
    wire::{Members, Place, Segment, Verb, encode, encode_segment, object},
};

/// Where a call goes and what it carries.
pub(super) struct Call {
    pub(super) uri: Uri,
    /// `None` where the path says it all.
    pub(super) body: Option<String>,
}

impl Call {
    /// A call of the operation with these parameters, a JSON object. Everything that comes from
    /// somebody else is escaped (O-R03).
    pub(super) fn new(
        base: &Uri,
        operation: Operation,
        verb: Verb,
        params: &str,
    ) -> Result<Self, CallError> {
        let Members(mut members) =
            serde_json::from_str(params).map_err(|error| CallError::Transport(error.into()))?;
        let mut path = base.path().trim_end_matches('/').to_owned();
        // The tenant of the path; a body says it too (A2A-REST-7).
        if let Some((_, tenant)) = members.iter().find(|(name, _)| name == "tenant") {
            path.push('/');
            path.push_str(&encode_segment(&text(tenant)));
        }
        for segment in Place::of(operation).segments() {
            path.push('/');
            match segment {
                Segment::Literal(literal) => path.push_str(literal),
                Segment::Member(name) => {
                    path.push_str(&encode_segment(&take(&mut members, name)));
                }
                Segment::MemberThen(name, suffix) => {
                    path.push_str(&encode(&take(&mut members, name)));
                    path.push_str(suffix);
                }
            }
        }
        let mut query = base.query().unwrap_or_default().to_owned();
        let body = match verb {
            Verb::Post if operation == Operation::SubscribeToTask => None,
            Verb::Post => Some(object(
                &members
                    .iter()
                    .map(|(name, value)| (name, value.get()))
                    .collect::<Vec<_>>(),
            )),
            Verb::Get | Verb::Delete => {
                for (name, value) in members.iter().filter(|(name, _)| name != "tenant") {
                    if !query.is_empty() {
                        query.push('&');
                    }
                    query.push_str(&encode(name));
                    query.push('=');
                    query.push_str(&encode(&text(value)));
                }
                None
            }
        };
        if !query.is_empty() {
            path.push('?');
            path.push_str(&query);
        }
        let no_address = || CallError::protocol(format!("{operation} makes no address of {base}"));
        let mut parts = base.clone().into_parts();
        parts.path_and_query = Some(path.parse().map_err(|_| no_address())?);
        let uri = Uri::from_parts(parts).map_err(|_| no_address())?;
        Ok(Self { uri, body })
    }
}

/// The value of a member, which the path holds from now on. Empty if there is none: the server
/// says that it is required.
fn take(members: &mut Vec<(String, &RawValue)>, name: &str) -> String {
    match members.iter().position(|(known, _)| known == name) {
        Some(index) => text(members.remove(index).1).into_owned(),
        None => String::new(),
    }
}

/// A string as it is, anything else as JSON writes it.
fn text(value: &RawValue) -> Cow<'_, str> {
    serde_json::from_str(value.get()).map_or(Cow::Borrowed(value.get()), Cow::Owned)
}

/// The answer, which is the body itself; or the error that an event says (A2A-REST-28).
pub(super) fn answer_of(bytes: &[u8]) -> Result<Option<&str>, CallError> {
    let text = str::from_utf8(bytes)
        .map_err(|_| CallError::protocol("the reply is not UTF-8"))?
        .trim();
    if text.is_empty() {
        return Ok(None);
    }
    if !text.starts_with('{') {
        return Err(CallError::protocol("the reply is no object"));
    }
    let members: Reply<'_> = serde_json::from_str(text)
        .map_err(|error| CallError::protocol(format!("the reply is no JSON: {error}")))?;
    match members.error.map(Status::read) {
        None => Ok(Some(text)),
        Some(Some(status)) => {
            let code = status.code;
            Err(CallError::Refused(Box::new(status.into_error(code))))
        }
        Some(None) => Err(CallError::protocol("the reply has no valid error")),
    }
}

/// The error of a response with another status than 200, if its body tells one (A2A-REST-25).
pub(super) fn refusal_in(body: &[u8], status: StatusCode) -> Option<Error> {
    let reply: Reply<'_> = serde_json::from_slice(body).ok()?;
    Some(Status::read(reply.error?)?.into_error(status.as_u16()))
}

#[derive(Deserialize)]
struct Reply<'a> {
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Status<'a> {
    #[serde(default)]
    code: u16,
    #[serde(default)]
    message: String,
    #[serde(borrow, default)]
    details: Option<&'a RawValue>,
}

impl<'a> Status<'a> {
    fn read(error: &'a RawValue) -> Option<Self> {
        serde_json::from_str(error.get()).ok()
    }

    fn into_error(self, code: u16) -> Error {
        Error::from_http(code, self.message, self.details.map(RawValue::get))
    }
}
