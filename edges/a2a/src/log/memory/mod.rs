//! The log in memory.

mod entry;
mod group;
mod index;
#[cfg(test)]
mod looks;
mod packed;
mod store;

pub use self::store::MemoryLog;
