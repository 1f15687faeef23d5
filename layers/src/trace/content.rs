use std::{
    borrow::Cow,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use portcullis::Json;

/// How much of what people write is recorded, and what is taken out of it.
#[derive(Clone)]
pub(super) struct ContentRule {
    bytes: usize,
    redact: Option<Arc<Redact>>,
}

pub(super) type Redact = dyn for<'a> Fn(&'a str) -> Cow<'a, str> + Send + Sync;

/// So much more is read than recorded, so that a secret which begins in the one and ends
/// behind it is seen whole.
const MARGIN: usize = 1 << 10;

impl ContentRule {
    pub(super) const fn new(bytes: usize) -> Self {
        Self {
            bytes,
            redact: None,
        }
    }

    pub(super) fn redacting(bytes: usize, redact: Arc<Redact>) -> Self {
        Self {
            bytes,
            redact: Some(redact),
        }
    }

    /// How much has to be read.
    fn reads(&self) -> usize {
        match self.redact {
            Some(_) => self.bytes.saturating_add(MARGIN),
            None => self.bytes,
        }
    }

    /// What may be recorded of a text, of which no more is `cut` off than was read of it.
    /// `None` if the hook panics: then nobody knows what is left.
    fn apply(&self, text: &str, cut: bool) -> Option<String> {
        let redacted = match &self.redact {
            Some(redact) => catch_unwind(AssertUnwindSafe(|| redact(text))).ok()?,
            None => Cow::Borrowed(text),
        };
        // Half a secret may stand at the end of a text that was cut, and the hook may have
        // made what is before it shorter.
        let margin = if cut && self.redact.is_some() {
            MARGIN
        } else {
            0
        };
        let most = self.bytes.min(redacted.len().saturating_sub(margin));
        Some(redacted[..redacted.floor_char_boundary(most)].to_owned())
    }
}

impl fmt::Debug for ContentRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContentRule")
            .field("bytes", &self.bytes)
            .field("redacts", &self.redact.is_some())
            .finish()
    }
}

/// The beginning of a text.
#[derive(Debug)]
pub(super) struct Content {
    rule: ContentRule,
    text: String,
    cut: bool,
}

impl Content {
    pub(super) const fn new(rule: ContentRule) -> Self {
        Self {
            rule,
            text: String::new(),
            cut: false,
        }
    }

    pub(super) fn push(&mut self, text: &str) {
        if self.cut {
            // Full: nothing later may close the gap.
            return;
        }
        let room = self.rule.reads().saturating_sub(self.text.len());
        let end = text.floor_char_boundary(room);
        self.text.push_str(&text[..end]);
        self.cut = end < text.len();
    }

    /// As the semantic conventions have a message, in JSON. `None` if it must not be recorded.
    pub(super) fn message(&self, role: &str, finish: Option<&str>) -> Option<String> {
        let text = self.rule.apply(&self.text, self.cut)?;
        let text = Json::encode(&text).expect("a string is JSON");
        let text = text.as_str();
        let finish = finish.map_or_else(String::new, |why| format!(r#","finish_reason":"{why}""#));
        Some(format!(
            r#"[{{"role":"{role}","parts":[{{"type":"text","content":{text}}}]{finish}}}]"#
        ))
    }
}
