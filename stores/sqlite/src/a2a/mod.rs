//! The task log of `portcullis-a2a` in SQLite.

mod append;
mod fold;
mod lease;
mod list;
mod read;
mod retain;
mod row;
mod store;

pub use self::store::SqliteLog;
