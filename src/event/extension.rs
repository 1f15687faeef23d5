use crate::json::Json;

/// An event that the core set does not have. It keeps its tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    pub(super) type_name: Box<str>,
    pub(super) json: Json,
}

impl Extension {
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
