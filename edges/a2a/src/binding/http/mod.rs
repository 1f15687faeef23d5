//! What every binding over HTTP shares: reading a body, who calls, the card, replies, streams.
//! A binding beside it only says what a call looks like and what a reply does.

mod body;
mod caller;
mod card;
mod etag;
mod future;
mod media_type;
mod parameters;
mod read;
mod response;
mod settings;
mod sse;

#[cfg(any(feature = "jsonrpc", feature = "grpc"))]
pub(super) use self::caller::addressing;
#[cfg(feature = "rest")]
pub(super) use self::etag::{etag, has, weak_etag};
#[cfg(feature = "v0_3")]
pub(super) use self::parameters::extensions_of;
#[cfg(any(feature = "jsonrpc", feature = "grpc"))]
pub(super) use self::read::Unreadable;
pub use self::{body::ResponseBody, future::ResponseFuture};
pub(super) use self::{
    caller::{activated, caller},
    media_type::is_json,
    read::read,
    response::{NOTHING_HERE, not_allowed, of_error, stream, whole},
    settings::{Settings, settings_of},
    sse::{begin, end},
};
