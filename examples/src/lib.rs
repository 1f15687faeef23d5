//! What the examples share: an agent of ten lines, and the end of a program.

mod echo;
mod listen;
#[cfg(feature = "otlp")]
pub mod otlp;

pub use self::{
    echo::{card, echo_server},
    listen::{address, say, until_stopped},
};

/// The examples of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
