//! HTTP+JSON: a path and a verb for each operation, bodies without an envelope.

mod body;
mod error;
mod extended_card;
mod media_type;
mod query;
mod reply;
mod route;
mod service;
#[cfg(feature = "v0_3")]
mod v0_3;

pub use self::service::Rest;
