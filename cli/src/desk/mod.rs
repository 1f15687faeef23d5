//! The built-in agent `desk`: it answers questions about one directory, and does small
//! sums. It is no model, needs no key, and says so.
//!
//! What it does:
//!
//! | tool | for instance |
//! | --- | --- |
//! | `count` | how many lines of Rust are there; count files by extension |
//! | `search` | find TODO in src; which files mention tower |
//! | `read` | show me lines 3 to 10 of Cargo.toml |
//! | `list` | what is in src |
//! | `calc` | what is 12*34, and that in hex? |
//! | `convert` | how many feet are in a mile |
//! | `date` | how many days until 2027-01-01 |
//! | `scan` | scan everything, pausing 200 ms |
//!
//! It only reads, and only below its directory: no `..`, no absolute path and no link
//! leads out. Hidden files (a name that begins with a dot, so `.git` and `.env` too) and
//! directories called `target` are not there for it. Lines are counted as `wc -l` does.
//!
//! "that" and "it" refer to the last result of the session. When something is missing it
//! asks, with an `input_required` event, and the next prompt of the session is the answer.

mod agent;
mod answer;
mod calc;
mod calendar;
mod files;
mod gauge;
mod grammar;
mod language;
mod memory;
mod tools;
mod units;
mod workers;

pub use self::{agent::Desk, gauge::Gauge};
