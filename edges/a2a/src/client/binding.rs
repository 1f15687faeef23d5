use std::fmt;

use super::{error::CallError, json_rpc, rest};
use crate::wire::Id;

/// A way to put calls on the wire that this client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Binding {
    /// JSON-RPC 2.0 over HTTP.
    JsonRpc,
    /// HTTP+JSON: a path and a verb for each operation.
    Rest,
}

impl Binding {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::JsonRpc, Self::Rest];

    /// What cards call it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::JsonRpc => "JSONRPC",
            Self::Rest => "HTTP+JSON",
        }
    }
}

impl fmt::Display for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What an answer and an event are wrapped in.
#[derive(Clone, Debug)]
pub(super) enum Envelope {
    /// A reply to the request with this id.
    JsonRpc(Id),
    /// Nothing.
    None,
}

impl Envelope {
    /// The answer as JSON text, `None` where a server left it out.
    ///
    /// # Errors
    /// What the server refused, or that this is no answer.
    pub(super) fn open<'a>(&self, bytes: &'a [u8]) -> Result<Option<&'a str>, CallError> {
        match self {
            Self::JsonRpc(id) => json_rpc::result_of(bytes, id),
            Self::None => rest::answer_of(bytes),
        }
    }
}
