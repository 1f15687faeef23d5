use std::{error::Error, fmt};

/// Text that is not what was expected: says what was expected, and where.
#[derive(Debug)]
pub struct DecodeError {
    message: String,
    source: Option<serde_json::Error>,
}

impl DecodeError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            source: None,
        }
    }

    pub(crate) fn syntax(source: serde_json::Error) -> Self {
        Self {
            message: "invalid JSON".into(),
            source: Some(source),
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for DecodeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source
            .as_ref()
            .map(|source| source as &(dyn Error + 'static))
    }
}
