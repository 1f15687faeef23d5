use std::{collections::HashMap, ptr};

use serde_json::Value;

use super::InvalidSchema;

/// How many schemas may have a say about one value. References multiply: thirty lines of them ask for more work than
/// there is time.
const MOST: u64 = 10_000;

/// How many schemas may lie in each other, references followed, that look at the same value: a validator takes a piece of
/// its stack for each.
const DEEPEST: usize = 32;

/// How deep data is taken to be where a schema goes round in circles with it.
const ROUNDS: u32 = 8;

/// Refuses a schema that can ask for too much work, or for work without end.
pub(super) fn weigh(schema: &Value) -> Result<(), InvalidSchema> {
    let mut scales = Scales {
        root: schema,
        known: HashMap::new(),
        open: Vec::new(),
    };
    if scales.schema(schema, ROUNDS)? > MOST {
        return Err(InvalidSchema::new("", "the schema asks for too much work"));
    }
    Ok(())
}

struct Scales<'a> {
    root: &'a Value,
    /// By address, since a schema is weighed where it stands, and by how much data may lie below.
    known: HashMap<(*const Value, u32), u64>,
    /// The schemas that are being weighed and look at the same value.
    open: Vec<*const Value>,
}

impl<'a> Scales<'a> {
    fn schema(&mut self, schema: &'a Value, rounds: u32) -> Result<u64, InvalidSchema> {
        let Value::Object(members) = schema else {
            return Ok(1);
        };
        let place = (ptr::from_ref(schema), rounds);
        if self.open.contains(&place.0) {
            return Err(InvalidSchema::new("", "a reference leads to itself"));
        }
        if self.open.len() == DEEPEST {
            let details = format!("more than {DEEPEST} schemas lie in each other");
            return Err(InvalidSchema::new("", details));
        }
        if let Some(known) = self.known.get(&place) {
            return Ok(*known);
        }
        self.open.push(place.0);
        let mut weight = 1_u64;
        for (name, value) in members {
            weight = weight.saturating_add(self.member(name, value, rounds)?);
        }
        self.open.pop();
        self.known.insert(place, weight);
        Ok(weight)
    }

    fn member(&mut self, name: &str, value: &'a Value, rounds: u32) -> Result<u64, InvalidSchema> {
        match (name, value) {
            ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(to)) => {
                let target = self.target(to).ok_or_else(|| {
                    InvalidSchema::new("", format!("nothing in the schema is named {to}"))
                })?;
                self.schema(target, rounds)
            }
            // They are weighed where something refers to them.
            ("$defs" | "definitions", _) => Ok(0),
            ("properties" | "patternProperties", Value::Object(schemas)) => {
                self.below(schemas.values(), rounds)
            }
            ("items" | "prefixItems", Value::Array(schemas)) => self.below(schemas, rounds),
            (
                "items"
                | "additionalItems"
                | "additionalProperties"
                | "contains"
                | "propertyNames"
                | "unevaluatedItems"
                | "unevaluatedProperties",
                schema,
            ) => self.below([schema], rounds),
            ("dependentSchemas" | "dependencies", Value::Object(schemas)) => {
                self.all(schemas.values(), rounds)
            }
            (_, Value::Array(schemas)) => match name {
                // Not looked into, and compared as a whole.
                "enum" | "required" | "type" | "const" | "examples" => Ok(1),
                _ => self.all(schemas, rounds),
            },
            ("const" | "default", _) => Ok(1),
            (_, schema) => self.schema(schema, rounds),
        }
    }

    /// Schemas that look at the same value.
    fn all(
        &mut self,
        schemas: impl IntoIterator<Item = &'a Value>,
        rounds: u32,
    ) -> Result<u64, InvalidSchema> {
        schemas.into_iter().try_fold(0_u64, |sum, schema| {
            Ok(sum.saturating_add(self.schema(schema, rounds)?))
        })
    }

    /// Schemas that look at parts of the value.
    fn below(
        &mut self,
        schemas: impl IntoIterator<Item = &'a Value>,
        rounds: u32,
    ) -> Result<u64, InvalidSchema> {
        let Some(rounds) = rounds.checked_sub(1) else {
            return Ok(0);
        };
        let open = std::mem::take(&mut self.open);
        let weight = self.all(schemas, rounds);
        self.open = open;
        weight
    }

    /// What a reference leads to: a place, or what has the name as an anchor or an identifier. Nothing is fetched, so
    /// there is nothing else.
    fn target(&self, to: &str) -> Option<&'a Value> {
        let (document, fragment) = to.split_once('#').unwrap_or((to, ""));
        let named = |names: &[&str], wanted: &str| {
            find(self.root, &|schema: &Value| {
                let mut names = names.iter().filter_map(|name| schema.get(name)?.as_str());
                names.any(|name| name.trim_end_matches('#') == wanted)
            })
        };
        let base = if document.is_empty() {
            self.root
        } else {
            named(&["$id", "id"], document)?
        };
        let place = base.pointer(&decoded(fragment));
        place.or_else(|| named(&["$anchor", "$dynamicAnchor"], fragment))
    }
}

/// The fragment of a URI without its escapes.
fn decoded(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        let escaped = match (byte, after) {
            (b'%', [high, low, ..]) => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16);
                digit(high).zip(digit(low))
            }
            _ => None,
        };
        match escaped.and_then(|(high, low)| u8::try_from(high * 16 + low).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => bytes.push(*byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn find<'a>(value: &'a Value, wanted: &impl Fn(&Value) -> bool) -> Option<&'a Value> {
    if wanted(value) {
        return Some(value);
    }
    match value {
        Value::Object(members) => members.values().find_map(|value| find(value, wanted)),
        Value::Array(elements) => elements.iter().find_map(|value| find(value, wanted)),
        _ => None,
    }
}
