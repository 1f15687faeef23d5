//! The webhooks of `portcullis-a2a` in SQLite.

mod row;
mod store;

pub use self::store::SqlitePushStore;
