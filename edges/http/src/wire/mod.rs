//! What both ends know of the wire.

mod format;
mod problem;
mod status;
mod turn_request;

pub use self::format::Format;
pub(crate) use self::{problem::*, status::*, turn_request::*};
