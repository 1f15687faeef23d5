//! What engines remember of their sessions.

mod error;
mod store;

pub use self::{error::SessionError, store::SqliteSessions};
