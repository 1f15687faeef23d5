use std::{error::Error, fmt};

use serde_json::{Map, Value};

use super::{
    schema::{CARD, Content, Message, Presence},
    unique::Unique,
};

/// Which of the two readings of section 8.4 a canonical form follows (T-21).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the two readings that there are")]
pub enum Form {
    /// Members with presence stay whatever their value, as section 8.4.1 says.
    #[default]
    Strict,
    /// Every empty text, list and object goes, required ones too, as some SDKs do it.
    Pruned,
}

/// The canonical form of a card as it was received: what is signed (A2A-SIG-4).
///
/// The text itself is worked on, not a decoded card, so that members which this version does
/// not know are signed too (A2A-SIG-8).
///
/// # Errors
/// When the text is no JSON object, nests too deep, names a member twice, or holds a number from
/// 2^53 on, of which two readers may see different ones.
pub fn canonical_card(card: &str, form: Form) -> Result<Vec<u8>, CanonicalError> {
    let json = |source| CanonicalError::Json(source);
    serde_json::from_str::<Unique>(card).map_err(json)?;
    let Value::Object(mut card) = serde_json::from_str(card).map_err(json)? else {
        return Err(CanonicalError::NoObject);
    };
    card.remove("signatures");
    numbers(&card)?;
    let mut card = match form {
        Form::Strict => strict(card, &CARD),
        Form::Pruned => card,
    };
    if form == Form::Pruned {
        card.retain(|_, value| !is_pruned(value));
    }
    serde_json_canonicalizer::to_vec(&card).map_err(json)
}

/// Applies the rules of presence to a message and what is in it.
fn strict(message: Map<String, Value>, schema: &Message) -> Map<String, Value> {
    message
        .into_iter()
        .filter_map(|(name, value)| {
            let Some(member) = schema.member(&name) else {
                return Some((name, value));
            };
            let unset =
                value.is_null() || member.presence == Presence::NotDefault && is_default(&value);
            (!unset).then(|| (name, within(value, member.content)))
        })
        .collect()
}

fn within(value: Value, content: Content) -> Value {
    match (content, value) {
        (Content::Message(schema), Value::Object(object)) => strict(object, schema).into(),
        (Content::List(schema), Value::Array(items)) => items
            .into_iter()
            .map(|item| within(item, Content::Message(schema)))
            .collect(),
        (Content::Map(schema), Value::Object(entries)) => entries
            .into_iter()
            .map(|(name, entry)| (name, within(entry, Content::Message(schema))))
            .collect::<Map<_, _>>()
            .into(),
        // Data, or not what the protocol says: then it is signed as it is.
        (_, value) => value,
    }
}

fn is_default(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
    }
}

/// Prunes what is in a value, and tells whether the value itself goes.
fn is_pruned(value: &mut Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(_) | Value::Number(_) => false,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => {
            items.retain_mut(|item| !is_pruned(item));
            items.is_empty()
        }
        Value::Object(members) => {
            members.retain(|_, member| !is_pruned(member));
            members.is_empty()
        }
    }
}

/// From here on a whole number may be read as its neighbour: 2^53.
const UNSAFE: f64 = 9_007_199_254_740_992.0;

fn numbers(members: &Map<String, Value>) -> Result<(), CanonicalError> {
    members.values().try_for_each(number)
}

fn number(value: &Value) -> Result<(), CanonicalError> {
    match value {
        Value::Number(number) => {
            if number.as_f64().is_none_or(|number| number.abs() >= UNSAFE) {
                return Err(CanonicalError::Number(number.to_string()));
            }
            Ok(())
        }
        Value::Array(items) => items.iter().try_for_each(number),
        Value::Object(members) => numbers(members),
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
    }
}

/// A card has no canonical form.
#[derive(Debug)]
#[non_exhaustive]
pub enum CanonicalError {
    /// It is no JSON, nests too deep, or names a member twice.
    Json(serde_json::Error),
    /// It is JSON, but no object.
    NoObject,
    /// It holds a number that not every reader can keep.
    Number(String),
}

impl fmt::Display for CanonicalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(_) => f.write_str("the card is not proper JSON"),
            Self::NoObject => f.write_str("the card is no JSON object"),
            Self::Number(number) => {
                write!(
                    f,
                    "the card holds the number {number}, which not every reader can keep"
                )
            }
        }
    }
}

impl Error for CanonicalError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Json(source) => Some(source),
            Self::NoObject | Self::Number(_) => None,
        }
    }
}
