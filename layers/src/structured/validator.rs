use portcullis::Json;

use super::{InvalidSchema, Violation};

/// Knows a language of schemas. [`JsonSchema`](super::JsonSchema) is the one of this crate.
pub trait Validator {
    /// A schema, ready to check.
    type Schema;

    /// Makes a schema ready. It may come from anybody: it must not make the validator fetch anything, and what it can
    /// cost has to have a bound.
    ///
    /// # Errors
    ///
    /// When it is no schema, or more than it may be.
    fn compile(&self, schema: &Json) -> Result<Self::Schema, InvalidSchema>;

    /// Says what is wrong with data; nothing if it fits.
    fn violations(&self, schema: &Self::Schema, data: &Json) -> Vec<Violation>;
}
