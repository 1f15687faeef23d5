//! What both ends of the JSON-RPC binding share.

mod header;
mod id;

#[cfg(feature = "client")]
pub(crate) use self::header::VERSION_1_0;
pub(crate) use self::{
    header::{EXTENSIONS, VERSION},
    id::Id,
};

/// `type` of an event stream.
pub(crate) const EVENT_STREAM: &str = "text/event-stream";
/// `type` of everything else.
pub(crate) const JSON: &str = "application/json";
/// Where a card lies, below the place of its agent (A2A-CARD-2).
pub(crate) const WELL_KNOWN_CARD: &str = "/.well-known/agent-card.json";
