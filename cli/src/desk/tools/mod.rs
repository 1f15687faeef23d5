//! What the agent does: each tool is a plain function over one directory.

mod count;
mod error;
mod largest;
mod list;
mod outcome;
mod read;
mod scan;
mod search;

pub(crate) use self::{
    count::count,
    error::ToolError,
    largest::largest,
    list::list,
    outcome::{Outcome, Piece},
    read::read,
    scan::{Progress, ScanJob},
    search::search,
};
