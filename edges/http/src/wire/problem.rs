use std::borrow::Cow;

use http::StatusCode;
use portcullis::{AgentEvent, Failure};
use serde::{Deserialize, Serialize};

/// Problem details (RFC 9457). The type is the one that is left out, `about:blank`: the status says
/// what it is, and the event says more.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Problem<'a> {
    title: Cow<'a, str>,
    status: u16,
    detail: Cow<'a, str>,
    event: AgentEvent,
}

impl<'a> Problem<'a> {
    pub(crate) fn new(status: StatusCode, failure: &'a Failure) -> Self {
        Self {
            title: status.canonical_reason().unwrap_or_default().into(),
            status: status.as_u16(),
            detail: failure.details().into(),
            event: failure.clone().into(),
        }
    }

    pub(crate) fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("strings, a number and an event always encode")
    }
}
