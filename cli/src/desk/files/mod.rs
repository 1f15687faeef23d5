//! One directory, read-only: every path is resolved below it, whatever links say.

mod error;
mod limits;
mod open;
mod root;
mod text;
mod walk;

pub(crate) use self::{
    error::FileError,
    limits::Limits,
    root::{Place, Root},
    text::{Counts, TextFile},
    walk::{Entry, Walk, shown},
};
