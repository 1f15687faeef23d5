use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::DecodeError;

/// Any JSON value, kept as the text that it came in.
///
/// Equality compares texts, so `1.0` and `1` differ. Insignificant white space
/// goes where it holds a line break, so that a value always fits one line.
///
/// ```
/// use portcullis::Json;
///
/// let big = Json::from_text("[1e400, 123456789012345678901234567890]")?;
/// assert_eq!(big.as_str(), "[1e400, 123456789012345678901234567890]");
/// # Ok::<(), portcullis::DecodeError>(())
/// ```
#[derive(Clone)]
pub struct Json(Box<RawValue>);

impl Json {
    /// Takes JSON text.
    ///
    /// # Errors
    /// When the text is not one JSON value, or nests deeper than 128.
    pub fn from_text(text: impl Into<String>) -> Result<Self, DecodeError> {
        super::raw_from_text(text.into()).map(Self)
    }

    /// Encodes a value.
    ///
    /// # Errors
    /// When the value refuses to be serialised, as a map with keys that are no
    /// strings does.
    pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(Self)
    }

    /// JSON null, which is not the same as an absent value.
    #[must_use]
    pub fn null() -> Self {
        Self(RawValue::NULL.to_owned())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// Decodes the value.
    ///
    /// # Errors
    /// When the value does not fit `T`.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.as_str())
    }

    /// The raw value of `serde_json`.
    #[must_use]
    pub fn into_raw(self) -> Box<RawValue> {
        self.0
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Json {}

impl From<Box<RawValue>> for Json {
    fn from(raw: Box<RawValue>) -> Self {
        Self(raw)
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self)
    }
}
