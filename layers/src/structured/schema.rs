use std::fmt;

use jsonschema::PatternOptions;
use portcullis::Json;
use serde_json::Value;

use super::{InvalidSchema, Validator, Violation, tame::tame, weigh::weigh};

/// JSON Schema, drafts 4 to 2020-12; the newest, where a schema does not say. It fetches nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonSchema {
    bytes: usize,
    depth: usize,
    data: usize,
}

/// A schema that is ready to check.
pub struct CompiledSchema(jsonschema::Validator);

/// How many violations are told.
const VIOLATIONS: usize = 16;

impl JsonSchema {
    /// Schemas of 64 KiB, 64 deep, over data of 4 MiB.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            bytes: 64 << 10,
            depth: 64,
            data: 4 << 20,
        }
    }

    /// Takes schemas of so many bytes.
    #[must_use]
    pub const fn max_bytes(mut self, bytes: usize) -> Self {
        self.bytes = bytes;
        self
    }

    /// Takes schemas that nest so deep.
    #[must_use]
    pub const fn max_depth(mut self, depth: usize) -> Self {
        self.depth = depth;
        self
    }

    /// Takes data of so many bytes; more does not fit, whatever it is.
    #[must_use]
    pub const fn max_data(mut self, bytes: usize) -> Self {
        self.data = bytes;
        self
    }
}

impl Default for JsonSchema {
    fn default() -> Self {
        Self::new()
    }
}

impl Validator for JsonSchema {
    type Schema = CompiledSchema;

    fn compile(&self, schema: &Json) -> Result<CompiledSchema, InvalidSchema> {
        let text = schema.as_str();
        if text.len() > self.bytes {
            return Err(InvalidSchema::new(
                "",
                format!("more than {} bytes", self.bytes),
            ));
        }
        let value: Value = serde_json::from_str(&tame(text))
            .map_err(|error| InvalidSchema::new("", error.to_string()))?;
        if !matches!(value, Value::Object(_) | Value::Bool(_)) {
            return Err(InvalidSchema::new("", "a schema is an object or a boolean"));
        }
        if depth(&value) > self.depth {
            return Err(InvalidSchema::new(
                "",
                format!("deeper than {}", self.depth),
            ));
        }
        weigh(&value)?;
        let mut options = jsonschema::options()
            .offline()
            .should_validate_formats(false)
            .with_pattern_options(PatternOptions::regex().size_limit(1 << 20));
        if value.get("$schema").is_none() {
            options = options.with_draft(jsonschema::Draft::Draft202012);
        }
        let compiled = options.build(&value);
        compiled.map(CompiledSchema).map_err(|error| {
            InvalidSchema::new(error.instance_path().as_str(), error.masked().to_string())
        })
    }

    fn violations(&self, schema: &CompiledSchema, data: &Json) -> Vec<Violation> {
        let text = data.as_str();
        if text.len() > self.data {
            return vec![Violation::new("", format!("more than {} bytes", self.data))];
        }
        match serde_json::from_str::<Value>(&tame(text)) {
            Ok(value) => schema
                .0
                .iter_errors(&value)
                .take(VIOLATIONS)
                .map(|error| {
                    Violation::new(error.instance_path().as_str(), error.masked().to_string())
                })
                .collect(),
            Err(error) => vec![Violation::new("", error.to_string())],
        }
    }
}

fn depth(value: &Value) -> usize {
    // What was parsed nests as deep as its reader allows, so this ends.
    match value {
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        Value::Array(elements) => 1 + elements.iter().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

impl fmt::Debug for CompiledSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompiledSchema").finish_non_exhaustive()
    }
}
