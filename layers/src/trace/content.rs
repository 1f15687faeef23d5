use portcullis::Json;

/// The beginning of a text.
#[derive(Debug)]
pub(super) struct Content {
    text: String,
    bytes: usize,
}

impl Content {
    pub(super) const fn new(bytes: usize) -> Self {
        Self {
            text: String::new(),
            bytes,
        }
    }

    pub(super) fn of(text: &str, bytes: usize) -> Self {
        let mut content = Self::new(bytes);
        content.push(text);
        content
    }

    pub(super) fn push(&mut self, text: &str) {
        let room = self.bytes.saturating_sub(self.text.len());
        let cut = text.floor_char_boundary(room);
        self.text.push_str(&text[..cut]);
        if cut < text.len() {
            // Full: nothing later may close the gap.
            self.bytes = 0;
        }
    }

    /// As the semantic conventions have a message, in JSON.
    pub(super) fn message(&self, role: &str) -> String {
        let text = Json::encode(&self.text).expect("a string is JSON");
        let text = text.as_str();
        format!(r#"[{{"role":"{role}","parts":[{{"type":"text","content":{text}}}]}}]"#)
    }
}
