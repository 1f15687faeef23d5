//! Problem details (RFC 9457).

use portcullis::AgentEvent;
#[cfg(feature = "client")]
use serde::Deserialize;
#[cfg(feature = "server")]
use serde::Serialize;

pub(crate) const PROBLEM: &str = "application/problem+json";

/// As they are sent. The type is the one that is left out, `about:blank`: the status says what it is,
/// and the event says more.
#[cfg(feature = "server")]
#[derive(Debug, Serialize)]
pub(crate) struct Problem<'a> {
    pub(crate) title: &'a str,
    pub(crate) status: u16,
    pub(crate) detail: &'a str,
    pub(crate) event: AgentEvent,
}

#[cfg(feature = "server")]
impl Problem<'_> {
    pub(crate) fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("strings, a number and an event always encode")
    }
}

/// As anybody may send them.
#[cfg(feature = "client")]
#[derive(Debug, Deserialize)]
pub(crate) struct ProblemRead {
    pub(crate) detail: Option<String>,
    pub(crate) event: Option<AgentEvent>,
}
