//! Events as JSON: the rules of `docs/rules.md`, section "Lossless".

mod decode;
mod encode;

use super::AgentEvent;
use crate::json::{DecodeError, nests};

impl AgentEvent {
    /// Reads one event.
    ///
    /// A type that the core set does not have, and a `usage` that is not understood, becomes an
    /// [`Extension`](super::Extension) with all its tokens. Members that are not known are kept.
    /// A lone surrogate in a string becomes U+FFFD, the one loss there is.
    ///
    /// # Errors
    /// When the text is not one JSON object with a string `type`; when a member name
    /// occurs twice, compared unescaped; when it nests deeper than 128; when
    /// one of the seven types of the Agent Handler specification lacks a member or has one of another
    /// type. An optional member that is null is wrong too: null is not absent.
    pub fn from_json(text: &str) -> Result<Self, DecodeError> {
        decode::event(text)
    }

    /// Reads one event, see [`from_json`](Self::from_json).
    ///
    /// # Errors
    /// As [`from_json`](Self::from_json), and when the bytes are not UTF-8.
    pub fn from_slice(bytes: &[u8]) -> Result<Self, DecodeError> {
        match str::from_utf8(bytes) {
            Ok(text) => Self::from_json(text),
            Err(error) => Err(DecodeError::new("UTF-8", "other bytes").at(error.valid_up_to())),
        }
    }

    /// Writes the event on one line: known members first, then the unknown ones.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        encode::event(self, out);
    }

    /// The event on one line, see [`write_json`](Self::write_json).
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        encode::event(self, &mut out);
        out
    }
}

nests!(AgentEvent);
