//! JSON that keeps its text.
//!
//! A relay must not change what it carries, so a JSON value is held as the text
//! that came in: numbers of any size, escapes and member order survive. The
//! rules are in `docs/rules.md`, section "Lossless".

mod error;
mod extra;
mod raw;

use serde_json::value::RawValue;

pub use self::{error::DecodeError, extra::Extra, raw::Json};

fn raw_from_text(text: String) -> Result<Box<RawValue>, DecodeError> {
    RawValue::from_string(text).map_err(DecodeError::syntax)
}
