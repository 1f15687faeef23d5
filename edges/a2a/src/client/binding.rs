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
    /// gRPC. The transport has to speak HTTP/2 and pass trailers on.
    #[cfg(feature = "grpc")]
    #[cfg_attr(docsrs, doc(cfg(feature = "grpc")))]
    Grpc,
}

impl Binding {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::JsonRpc,
        Self::Rest,
        #[cfg(feature = "grpc")]
        Self::Grpc,
    ];

    /// Those that need nothing but HTTP of the transport.
    pub const PLAIN: &'static [Self] = &[Self::JsonRpc, Self::Rest];

    /// What cards call it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::JsonRpc => "JSONRPC",
            Self::Rest => "HTTP+JSON",
            #[cfg(feature = "grpc")]
            Self::Grpc => "GRPC",
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
