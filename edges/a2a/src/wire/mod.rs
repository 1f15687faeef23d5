//! What both ends of a binding over HTTP share.

mod header;
#[cfg(any(feature = "jsonrpc", feature = "client"))]
mod id;
#[cfg(any(feature = "rest", feature = "client"))]
mod members;
#[cfg(any(feature = "rest", feature = "client"))]
mod percent;
#[cfg(any(feature = "rest", feature = "client"))]
mod place;

#[cfg(feature = "client")]
pub(crate) use self::header::VERSION_1_0;
pub(crate) use self::header::{EXTENSIONS, VERSION};
#[cfg(any(feature = "jsonrpc", feature = "client"))]
pub(crate) use self::id::Id;
#[cfg(feature = "rest")]
pub(crate) use self::percent::{decode_query, decode_segment};
#[cfg(feature = "client")]
pub(crate) use self::percent::{encode, encode_segment};
#[cfg(any(feature = "rest", feature = "client"))]
pub(crate) use self::{
    members::{Members, json_string, object},
    place::{Place, Segment, Verb},
};

/// `type` of an event stream.
pub(crate) const EVENT_STREAM: &str = "text/event-stream";
/// `type` of everything else.
pub(crate) const JSON: &str = "application/json";
/// `type` of everything else in the HTTP+JSON binding (A2A-REST-13).
#[cfg(any(feature = "rest", feature = "client"))]
pub(crate) const A2A_JSON: &str = "application/a2a+json";
/// Where a card lies, below the place of its agent (A2A-CARD-2).
pub(crate) const WELL_KNOWN_CARD: &str = "/.well-known/agent-card.json";
/// Where it lay before.
#[cfg(any(feature = "jsonrpc", feature = "rest", feature = "grpc"))]
pub(crate) const OLD_CARD: &str = "/.well-known/agent.json";
