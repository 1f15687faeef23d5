use std::mem;

use portcullis::{AgentEvent, Emitter};

/// Visible events that nobody has seen yet.
#[derive(Debug)]
pub(crate) struct Held {
    events: Vec<AgentEvent>,
    bytes: usize,
    most: usize,
}

impl Held {
    pub(crate) const fn new(most: usize) -> Self {
        Self {
            events: Vec::new(),
            bytes: 0,
            most,
        }
    }

    /// Keeps an event. Gives it back if there is no room.
    pub(crate) fn keep(&mut self, event: AgentEvent) -> Result<(), AgentEvent> {
        let bytes = self.bytes.saturating_add(size(&event));
        if bytes > self.most {
            return Err(event);
        }
        self.bytes = bytes;
        self.events.push(event);
        Ok(())
    }

    /// Forgets a run that is given up.
    pub(crate) fn clear(&mut self) {
        self.events = Vec::new();
        self.bytes = 0;
    }

    /// Shows everything.
    pub(crate) async fn show(&mut self, out: &Emitter) {
        self.bytes = 0;
        for event in mem::take(&mut self.events) {
            out.emit(event).await;
        }
    }
}

/// What an event takes, roughly: itself and its text.
fn size(event: &AgentEvent) -> usize {
    let text = match event {
        AgentEvent::Text(text) => text.delta().len(),
        AgentEvent::Thinking(thinking) => thinking.delta().len(),
        event => event.to_json().len(),
    };
    text.saturating_add(size_of::<AgentEvent>())
}
