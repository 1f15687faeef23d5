use std::io::Write;

use futures_util::StreamExt;
use portcullis::AgentEvent;
use portcullis_a2a::{
    client::{CallError, Client, EventStream, Transport},
    model::{Message, Metadata, Part, SendMessageRequest, StreamResponse, TaskState, TaskStatus},
    server::EVENTS_EXTENSION,
};
use serde::Deserialize;

use super::transcript::Transcript;

/// A turn as its caller sees it: what has been received so far.
pub(super) struct Watched {
    events: EventStream,
    pub(super) task_id: String,
    pub(super) context_id: String,
    pub(super) state: Option<TaskState>,
    /// The code of the failure, from the metadata of the last status.
    pub(super) code: Option<String>,
    pub(super) text: String,
    /// Pieces of text.
    pub(super) pieces: usize,
    /// Names of the tools that were started.
    pub(super) tools: Vec<String>,
}

#[derive(Deserialize)]
struct FailureSeen {
    code: Option<String>,
}

/// Asks, in a conversation or in a new one.
pub(super) async fn ask<T: Transport, W: Write>(
    client: &Client<T>,
    context_id: Option<&str>,
    text: &str,
    transcript: &mut Transcript<W>,
) -> Result<Watched, CallError> {
    transcript.line("caller", text);
    let id = uuid::Uuid::now_v7().to_string();
    let mut message = Message::user(id, [Part::text(text)]);
    message.context_id = context_id.unwrap_or_default().to_owned();
    let events = client
        .send_streaming_message(&SendMessageRequest::new(message))
        .await?;
    Ok(Watched {
        events,
        task_id: String::new(),
        context_id: String::new(),
        state: None,
        code: None,
        text: String::new(),
        pieces: 0,
        tools: Vec::new(),
    })
}

impl Watched {
    /// Reads and shows frames to the end of the stream, or until `enough` says so.
    pub(super) async fn read<W: Write>(
        &mut self,
        transcript: &mut Transcript<W>,
        mut enough: impl FnMut(&Self) -> bool,
    ) -> Result<(), CallError> {
        while let Some(event) = self.events.next().await {
            self.take(event?.response, transcript);
            if enough(self) {
                break;
            }
        }
        Ok(())
    }

    fn take<W: Write>(&mut self, response: StreamResponse, transcript: &mut Transcript<W>) {
        match response {
            StreamResponse::Task(task) => {
                self.task_id = task.id;
                self.context_id = task.context_id;
                self.status(&task.status, &task.metadata, transcript);
            }
            StreamResponse::StatusUpdate(update) => {
                self.status(&update.status, &update.metadata, transcript);
            }
            StreamResponse::ArtifactUpdate(update) => {
                for text in update.artifact.parts.iter().filter_map(Part::as_text) {
                    self.text.push_str(text);
                    self.pieces += 1;
                    transcript.say("desk", text);
                }
            }
            StreamResponse::Message(message) => transcript.line("desk", message.text()),
            _ => {}
        }
    }

    fn status<W: Write>(
        &mut self,
        status: &TaskStatus,
        metadata: &Metadata,
        transcript: &mut Transcript<W>,
    ) {
        if let Some(event) = metadata.get(&format!("{EVENTS_EXTENSION}/event")) {
            match AgentEvent::from_json(event.as_str()) {
                Ok(AgentEvent::ToolStarted(tool)) => {
                    self.tools.push(tool.name().to_owned());
                    transcript.line("tool", format_args!("{} {}", tool.name(), tool.args()));
                }
                Ok(AgentEvent::ToolEnded(tool)) => {
                    let mark = if tool.is_error() { "failed: " } else { "" };
                    transcript.line("", format_args!("{mark}{}", brief(tool.content().as_str())));
                }
                Ok(AgentEvent::Extension(event)) => {
                    transcript.line("event", brief(event.json().as_str()))
                }
                Ok(_) | Err(_) => {}
            }
        }
        if let Some(failure) = metadata.get(&format!("{EVENTS_EXTENSION}/failure")) {
            self.code = failure
                .decode::<FailureSeen>()
                .ok()
                .and_then(|failure| failure.code);
        }
        if self.state != Some(status.state) {
            self.state = Some(status.state);
            let said = status
                .message
                .as_ref()
                .map(|message| format!(": {}", message.text()));
            let word = status.state.as_str().trim_start_matches("TASK_STATE_");
            transcript.line("task", format_args!("{word}{}", said.unwrap_or_default()));
        }
    }
}

/// A line that a person can take in.
fn brief(text: &str) -> String {
    const MOST: usize = 100;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}
