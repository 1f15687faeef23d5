//! JSON that keeps its text.
//!
//! A relay must not change what it carries, so a JSON value is held as the text
//! that came in: numbers of any size, escapes and member order survive. The
//! rules are in `docs/rules.md`, section "Lossless".

mod cursor;
mod error;
mod extra;
mod line;
mod members;
mod nest;
mod raw;
mod string;
mod write;

pub use self::{
    error::DecodeError,
    extra::{Extra, ExtraMut, InsertError},
    raw::Json,
};
pub(crate) use self::{
    members::{Member, Members},
    nest::nests,
    write::{Sink, Writer},
};

/// How many arrays and objects may lie in each other, the outermost one included.
pub(crate) const MAX_DEPTH: u32 = 128;
