//! The log in memory.

mod entry;
mod packed;
mod store;

pub use self::store::MemoryLog;
