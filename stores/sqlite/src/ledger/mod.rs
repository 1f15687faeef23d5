//! The ledger of `portcullis-layers` in SQLite.

mod flush;
mod row;
mod shared;
mod start;
mod store;

pub use self::store::{SqliteLedger, SqliteReservation};
