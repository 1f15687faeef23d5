use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned, ser::Error};
use serde_json::value::RawValue;

use super::{
    DecodeError,
    cursor::Cursor,
    line::{has_break, one_line},
    members::syntax,
};

/// Any JSON value, kept as the text that it came in.
///
/// Equality compares texts, so `1.0` and `1` differ. Insignificant white space
/// goes where it holds a line break, so that a value always fits one line. A value nests
/// at most 128 deep; one that goes into an event at most 127, since the event counts too.
///
/// ```
/// use portcullis::Json;
///
/// let big = Json::from_text("[1e400, 123456789012345678901234567890]")?;
/// assert_eq!(big.as_str(), "[1e400, 123456789012345678901234567890]");
/// # Ok::<(), portcullis::DecodeError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Json(Box<str>);

impl Json {
    /// Takes JSON text.
    ///
    /// # Errors
    /// When the text is not one JSON value, or nests deeper than 128.
    pub fn from_text(text: impl Into<String>) -> Result<Self, DecodeError> {
        let text = text.into();
        let mut cursor = Cursor::new(&text);
        let fault = |fault| syntax(&text, &fault, 0);
        let value = cursor.value(0).map_err(fault)?;
        cursor.end().map_err(fault)?;
        if value.len() == text.len() && !has_break(&text) {
            return Ok(Self(text.into()));
        }
        Ok(Self::checked(value))
    }

    /// Takes text that was checked.
    pub(crate) fn checked(text: &str) -> Self {
        Self(one_line(text).into())
    }

    /// Takes text that was checked and holds no line break.
    pub(crate) fn trusted(text: String) -> Self {
        Self(text.into())
    }

    /// Encodes a value.
    ///
    /// # Errors
    /// When the value refuses to be serialised, as a map with keys that are no
    /// strings does, or nests deeper than 128.
    pub fn encode<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        Self::from_text(serde_json::to_string(value)?).map_err(serde_json::Error::custom)
    }

    /// JSON null, which is not the same as an absent value.
    #[must_use]
    pub fn null() -> Self {
        Self("null".into())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Decodes the value.
    ///
    /// # Errors
    /// When the value does not fit `T`.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.as_str())
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

/// Takes what somebody has checked. Line breaks go; the depth is not looked at again.
impl From<Box<RawValue>> for Json {
    fn from(raw: Box<RawValue>) -> Self {
        if has_break(raw.get()) {
            Self::checked(raw.get())
        } else {
            Self(raw.into())
        }
    }
}

impl From<Json> for Box<RawValue> {
    fn from(json: Json) -> Self {
        RawValue::from_string(json.0.into()).expect("the text was checked when it came in")
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::from_str::<&RawValue>(&self.0)
            .map_err(S::Error::custom)?
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::from_text(Box::<str>::from(raw)).map_err(serde::de::Error::custom)
    }
}
