//! The few kinds of question that the agent understands.
//!
//! A prompt is cut into clauses, and each clause is read whole: a word that no rule
//! takes makes the prompt refused, so that no question is half answered.

mod clause;
mod convert;
mod count;
mod date;
mod list;
mod phrase;
mod read;
mod request;
mod scan;
mod search;
mod sum;

pub(crate) use self::{
    clause::parse,
    request::{
        Count, CountWhat, Largest, Metric, NotUnderstood, Rank, Read, Request, Scan, Search,
        SearchWhat, Span, Subject,
    },
};
