//! What both ends know of the wire.

mod format;
mod problem;
mod status;
mod turn_request;

pub use self::format::Format;
pub(crate) use self::{problem::Problem, status::status_of, turn_request::TurnRequest};

/// The media type of problem details (RFC 9457).
pub(crate) const PROBLEM: &str = "application/problem+json";
