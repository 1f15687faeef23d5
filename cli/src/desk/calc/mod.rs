//! Exact arithmetic: big integers and rationals, never a float.

mod error;
mod eval;
mod expr;
mod lexer;
mod number;
mod parser;

pub(crate) use self::{
    error::CalcError,
    eval::evaluate,
    expr::{Expr, share},
    number::{decimal, in_base},
    parser::parse,
};
