use std::time::Duration;

use portcullis::{
    AgentEvent, Completed, Extension, Json, Text,
    views::{self, ArtifactContent, AuthRequired, FollowUp, InputRequired},
};

use super::events_extension::event_metadata;
use crate::{
    agent_events::artifact_event,
    model::{
        Artifact, Message, Part, TaskArtifactUpdateEvent, TaskState, TaskStatus,
        TaskStatusUpdateEvent,
    },
    server::Emission,
};

/// How text is gathered into artifact updates (ruling 15).
///
/// The first text of a turn goes out at once, more of it when `bytes` have come or
/// `interval` has passed, and always before any other event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a size and a time say it all")]
pub struct Coalescing {
    /// So much text goes out at once.
    pub bytes: usize,
    /// Text waits no longer than this. Zero sends each delta by itself.
    pub interval: Duration,
}

impl Coalescing {
    /// Each delta by itself.
    pub const NONE: Self = Self {
        bytes: 0,
        interval: Duration::ZERO,
    };
}

impl Default for Coalescing {
    /// 1 KiB or 30 milliseconds.
    fn default() -> Self {
        Self {
            bytes: 1 << 10,
            interval: Duration::from_millis(30),
        }
    }
}

/// From the events of an agent to the updates of a task. Pure: it knows no clock, makes no
/// ids, and the same events give the same updates.
///
/// | event | update |
/// |---|---|
/// | the first one, and the next after `auth_required` | WORKING |
/// | `text` | the answer's artifact, or more of it |
/// | `thinking`, tools, `retrying`, `usage`, unknown | WORKING with the event as metadata, if the [extension](super::EVENTS_EXTENSION) is active; else nothing |
/// | `text` with members of its own | more of the answer, with the event as metadata if the extension is active |
/// | `artifact` | that artifact, or more of it |
/// | `auth_required` | AUTH_REQUIRED, at once |
/// | `input_required` | INPUT_REQUIRED with the question, instead of COMPLETED |
/// | `follow_up` | the answer before it is complete, its data an artifact; what comes is another answer |
/// | `completed` | the data, if any, as an artifact; COMPLETED |
/// | `failed` | a failure, which the server judges |
#[derive(Debug)]
pub struct Reducer {
    /// How many artifacts the task has, so that a new id is one more.
    artifacts: usize,
    /// Artifacts that the agent named itself.
    named: Vec<String>,
    /// The artifact of the answer, once some of it went out.
    answer_id: Option<String>,
    shows_events: bool,
    coalescing: Coalescing,
    /// Text that has not gone out.
    text: String,
    is_working: bool,
    question: Option<Message>,
    open_tools: Vec<String>,
}

impl Reducer {
    /// A turn of a task that has so many artifacts already.
    #[must_use]
    pub const fn new(artifacts_before: usize, shows_events: bool, coalescing: Coalescing) -> Self {
        Self {
            artifacts: artifacts_before,
            named: Vec::new(),
            answer_id: None,
            shows_events,
            coalescing,
            text: String::new(),
            is_working: false,
            question: None,
            open_tools: Vec::new(),
        }
    }

    /// Whether text waits to go out.
    #[must_use]
    pub const fn holds_text(&self) -> bool {
        !self.text.is_empty()
    }

    /// What an event means.
    pub fn reduce(&mut self, event: AgentEvent, out: &mut Vec<Emission>) {
        match event {
            AgentEvent::Text(text) if self.shows_events && !text.extra().is_empty() => {
                self.work(out);
                self.flush(out);
                self.show_text(text, out);
            }
            AgentEvent::Text(text) => {
                self.work(out);
                self.text.push_str(text.delta());
                let is_first = self.answer_id.is_none();
                if is_first || self.text.len() >= self.coalescing.bytes {
                    self.flush(out);
                }
            }
            AgentEvent::Completed(completed) => self.complete(completed, out),
            AgentEvent::Failed(failure) => {
                self.close(out);
                out.push(failure.into());
            }
            AgentEvent::Extension(extension) => self.extend(&extension, out),
            event => {
                self.work(out);
                self.flush(out);
                self.note_tool(&event);
                self.show(|| Json::encode(&event).ok(), out);
            }
        }
    }

    /// Sends the text that waits.
    pub fn flush(&mut self, out: &mut Vec<Emission>) {
        self.flush_chunk(false, out);
    }

    /// The stream has ended without a terminal event.
    pub fn cut(&mut self, out: &mut Vec<Emission>) {
        self.close(out);
    }

    fn work(&mut self, out: &mut Vec<Emission>) {
        if !self.is_working {
            self.is_working = true;
            out.push(status(TaskState::Working, None).into());
        }
    }

    fn flush_chunk(&mut self, last: bool, out: &mut Vec<Emission>) {
        if self.text.is_empty() {
            return;
        }
        let text = std::mem::take(&mut self.text);
        let mut event = self.answer(text);
        event.last_chunk = last;
        out.push(Emission::merging(event));
    }

    /// Text with members of its own does not join other text.
    fn show_text(&mut self, text: Text, out: &mut Vec<Emission>) {
        let mut event = self.answer(text.delta());
        if let Ok(json) = Json::encode(&AgentEvent::Text(text)) {
            event.artifact.metadata = event_metadata(json);
        }
        out.push(event.into());
    }

    /// Text of the answer: its artifact, or more of it.
    fn answer(&mut self, text: impl Into<String>) -> TaskArtifactUpdateEvent {
        let append = self.answer_id.is_some();
        let id = match self.answer_id.clone() {
            Some(id) => id,
            None => self.next_id(),
        };
        let artifact = Artifact::text(id.clone(), text);
        self.answer_id = Some(id);
        let mut event = TaskArtifactUpdateEvent::new("", "", artifact);
        event.append = append;
        event
    }

    fn extend(&mut self, extension: &Extension, out: &mut Vec<Emission>) {
        // A view that does not decode is an event like any other that nobody knows.
        if let Some(Ok(artifact)) = extension.view::<views::Artifact>()
            && let Some(event) = self.artifact(artifact, extension)
        {
            self.work(out);
            self.flush(out);
            out.push(event.into());
            return;
        }
        if let Some(Ok(wish)) = extension.view::<AuthRequired>() {
            self.flush(out);
            let text = match wish.url {
                Some(url) => format!("{} {url}", wish.details),
                None => wish.details,
            };
            let mut event = status(TaskState::AuthRequired, Some(text));
            if self.shows_events {
                event.metadata = event_metadata(extension.json().clone());
            }
            out.push(event.into());
            // The next event says that the agent works again (ruling 20).
            self.is_working = false;
            return;
        }
        if let Some(Ok(wish)) = extension.view::<InputRequired>() {
            self.work(out);
            self.flush(out);
            self.question = Some(Message::agent_text(wish.question));
            self.show(|| Some(extension.json().clone()), out);
            return;
        }
        self.work(out);
        if let Some(Ok(boundary)) = extension.view::<FollowUp>() {
            self.close(out);
            self.push_data(boundary.data, out);
            self.answer_id = None;
            // The prompt of the next run is the answer.
            self.question = None;
        }
        self.flush(out);
        self.show(|| Some(extension.json().clone()), out);
    }

    fn complete(&mut self, completed: Completed, out: &mut Vec<Emission>) {
        self.close(out);
        // The data is copied only for those who asked.
        let shown = (self.shows_events)
            .then(|| Json::encode(&AgentEvent::Completed(completed.clone())).ok())
            .flatten();
        self.push_data(completed.into_data(), out);
        let mut end = match self.question.take() {
            Some(question) => status(TaskState::InputRequired, None).with_message(question),
            None => status(TaskState::Completed, None),
        };
        if let Some(json) = shown {
            end.metadata = event_metadata(json);
        }
        out.push(end.into());
    }

    fn push_data(&mut self, data: Option<Json>, out: &mut Vec<Emission>) {
        if let Some(data) = data {
            let part = Part::data(data).with_media_type("application/json");
            let artifact = Artifact::new(self.next_id(), [part]);
            out.push(TaskArtifactUpdateEvent::new("", "", artifact).last().into());
        }
    }

    /// Ends what is open: the text, whose last chunk this is, and tools that a cut has
    /// left dangling (ruling 10).
    fn close(&mut self, out: &mut Vec<Emission>) {
        self.flush_chunk(true, out);
        for id in std::mem::take(&mut self.open_tools) {
            let content = Json::encode("ended by the end of the turn").expect("a text");
            let ended = AgentEvent::tool_ended(id, true, content);
            self.show(|| Json::encode(&ended).ok(), out);
        }
    }

    fn note_tool(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::ToolStarted(tool) => self.open_tools.push(tool.id().to_owned()),
            AgentEvent::ToolEnded(tool) => self.open_tools.retain(|open| open != tool.id()),
            _ => {}
        }
    }

    fn show(&self, json: impl FnOnce() -> Option<Json>, out: &mut Vec<Emission>) {
        if self.shows_events
            && let Some(json) = json()
        {
            let shown = status(TaskState::Working, None).with_metadata(event_metadata(json));
            out.push(shown.into());
        }
    }

    /// An artifact that the agent makes beside its answer. `None` if its bytes are no
    /// base64.
    fn artifact(
        &mut self,
        view: views::Artifact,
        extension: &Extension,
    ) -> Option<TaskArtifactUpdateEvent> {
        let is_exact = !matches!(view.content, ArtifactContent::Data(_));
        let mut part = match view.content {
            ArtifactContent::Text(text) => Part::text(text),
            ArtifactContent::Raw(base64) => Part::raw(Part::decode_base64(&base64)?),
            ArtifactContent::Url(url) => Part::url(url),
            ArtifactContent::Data(data) => Part::data(data),
            // A content that came after this was written.
            _ => return None,
        };
        part.media_type = view.mime_type.unwrap_or_default();
        let mut artifact = Artifact::new(view.id, [part]);
        artifact.name = view.name.unwrap_or_default();
        if !self.named.contains(&artifact.artifact_id) {
            self.named.push(artifact.artifact_id.clone());
            self.artifacts += 1;
        }
        let mut event = TaskArtifactUpdateEvent::new("", "", artifact);
        event.append = view.append.unwrap_or(false);
        event.last_chunk = view.last.unwrap_or(false);
        if self.shows_events {
            let says_all = is_exact && artifact_event(&event).as_ref() == Some(extension);
            event.artifact.metadata = event_metadata(if says_all {
                Json::from_text("{}").expect("an object")
            } else {
                extension.json().clone()
            });
        }
        Some(event)
    }

    fn next_id(&mut self) -> String {
        self.artifacts += 1;
        format!("a-{}", self.artifacts)
    }
}

/// A status whose ids and time the server fills in.
fn status(state: TaskState, text: Option<String>) -> TaskStatusUpdateEvent {
    let status = TaskStatus {
        state,
        message: text.map(Message::agent_text),
        timestamp: None,
    };
    TaskStatusUpdateEvent::new("", "", status)
}
