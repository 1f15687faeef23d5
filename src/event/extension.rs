use std::collections::HashMap;

use serde::{Serialize, de::IgnoredAny, ser::Error};

use crate::json::Json;

/// An event that the core set does not have. It keeps its tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    pub(super) type_name: Box<str>,
    pub(super) json: Json,
}

impl Extension {
    /// An event that was read as JSON.
    pub(super) fn read(type_name: &str, text: &str) -> Self {
        Self {
            type_name: type_name.into(),
            json: Json::checked(text.trim_ascii()),
        }
    }

    /// An event of a type of one's own. `members` is what it has beside its type.
    ///
    /// ```
    /// use portcullis::Extension;
    ///
    /// let left = [("left", 3)].into_iter().collect::<std::collections::HashMap<_, _>>();
    /// let event = Extension::encode("tickets", &left)?;
    /// assert_eq!(event.json().as_str(), r#"{"type":"tickets","left":3}"#);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When `members` does not serialise to an object, or to one that has a `type`
    /// already, and when the type is one of the core set.
    pub fn encode<T: Serialize + ?Sized>(
        type_name: &str,
        members: &T,
    ) -> Result<Self, serde_json::Error> {
        let text = serde_json::to_string(members)?;
        if CORE.contains(&type_name) {
            return Err(Error::custom("the type belongs to the core set"));
        }
        if serde_json::from_str::<HashMap<String, IgnoredAny>>(&text)?.contains_key("type") {
            return Err(Error::custom("the members have a `type`"));
        }
        let members = text.strip_prefix('{').unwrap_or_default();
        let comma = if members == "}" { "" } else { "," };
        let name = serde_json::to_string(type_name)?;
        let json = Json::from_text(format!(r#"{{"type":{name}{comma}{members}"#));
        Ok(Self {
            type_name: type_name.into(),
            json: json.map_err(Error::custom)?,
        })
    }

    /// The name of the type, unescaped.
    #[must_use]
    pub fn type_name(&self) -> &str {
        &self.type_name
    }

    /// The whole event, `type` included.
    #[must_use]
    pub const fn json(&self) -> &Json {
        &self.json
    }
}

/// The types that have a variant of their own.
const CORE: [&str; 8] = [
    "text",
    "thinking",
    "tool_started",
    "tool_ended",
    "retrying",
    "usage",
    "completed",
    "failed",
];
