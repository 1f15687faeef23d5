use portcullis::{AgentEvent, Emitter, Text};

/// Text that is held back until it is known to be the answer.
#[derive(Debug, Default)]
pub(super) struct Held {
    texts: Vec<Text>,
    bytes: usize,
}

impl Held {
    pub(super) fn push(&mut self, text: Text) {
        self.bytes += text.delta().len();
        match self.texts.last_mut() {
            // What has members that nobody knows stays by itself, so that they stay where they belong.
            Some(last) if last.extra().is_empty() && text.extra().is_empty() => {
                last.delta_mut().push_str(text.delta());
            }
            _ => self.texts.push(text),
        }
    }

    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn text(&self) -> String {
        self.texts.iter().map(Text::delta).collect()
    }

    pub(super) async fn show(self, out: &Emitter) {
        for text in self.texts {
            out.emit(AgentEvent::Text(text)).await;
        }
    }
}
