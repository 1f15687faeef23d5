//! Turns that outlive their connection for a while.
//!
//! A turn whose caller asked for it runs in a task of the service. A response reads it, one at a time; who
//! comes back reads on after the event that it saw last. While somebody reads, the turn runs no
//! further than the reader; while nobody does, it runs until the room for what nobody has read is
//! full, and waits then. When nobody came back within the grace, it is cancelled and forgotten.

mod owner;
mod policy;
mod reader;
mod record;
mod run;
mod turns;

pub use self::policy::Detach;
pub(super) use self::{owner::Owner, reader::Reader, record::Absent, turns::Turns};
