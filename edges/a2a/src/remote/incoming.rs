use std::collections::HashMap;

use portcullis::{
    AgentEvent, Completed, Failure, Json,
    views::{AuthRequired, InputRequired},
};

use super::{
    Context,
    failure::{breach, of_state},
    progress::Progress,
};
use crate::{
    agent_events::{EVENT, EVENTS_EXTENSION, artifact_event, artifact_view, member},
    model::{
        Artifact, Message, Metadata, PartContent, StreamResponse, Task, TaskArtifactUpdateEvent,
        TaskState, TaskStatus,
    },
};

/// From the frames of a server to the events of a turn. Pure: it knows no connection.
pub(super) struct Incoming {
    /// The other end speaks our extension.
    shows_events: bool,
    continues: bool,
    /// Artifacts of earlier turns.
    known: usize,
    pub(super) context: Context,
    artifacts: HashMap<String, Progress>,
    /// The artifact or status that the text so far belongs to.
    speaker: Option<String>,
    said: Progress,
    ends_line: bool,
    /// Data that may be the result.
    data: Option<AgentEvent>,
    result: Option<Json>,
    asked: bool,
    waits: bool,
}

/// How a turn ended.
pub(super) enum Ended {
    Completed(Completed),
    Failed(Failure),
}

impl Incoming {
    pub(super) fn new(before: Context) -> Self {
        Self {
            shows_events: false,
            continues: before.task_id.is_some(),
            known: before.artifacts,
            context: Context {
                task_id: None,
                ..before
            },
            artifacts: HashMap::new(),
            speaker: None,
            said: Progress::default(),
            ends_line: true,
            data: None,
            result: None,
            asked: false,
            waits: false,
        }
    }

    pub(super) fn take(
        &mut self,
        response: StreamResponse,
        out: &mut Vec<AgentEvent>,
    ) -> Option<Ended> {
        match response {
            StreamResponse::Message(message) => {
                self.note_context(&message.context_id);
                let artifact = Artifact::new("answer", message.parts);
                let update = TaskArtifactUpdateEvent::new("", "", artifact);
                self.update(&update, out)
                    .or_else(|| Some(self.complete(&Metadata::new())))
            }
            StreamResponse::Task(task) => self.task(task, out),
            StreamResponse::StatusUpdate(event) => {
                self.note_context(&event.context_id);
                self.status(&event.task_id, &event.status, &event.metadata, out)
            }
            StreamResponse::ArtifactUpdate(event) => {
                self.note_context(&event.context_id);
                self.update(&event, out)
            }
        }
    }

    /// The stream is over, and well.
    pub(super) fn end(&mut self) -> Ended {
        if self.waits {
            return self.complete(&Metadata::new());
        }
        Ended::Failed(breach("ended without a result"))
    }

    fn note_context(&mut self, id: &str) {
        if !id.is_empty() && self.context.context_id.as_deref() != Some(id) {
            self.context.context_id = Some(id.to_owned());
        }
    }

    fn task(&mut self, task: Task, out: &mut Vec<AgentEvent>) -> Option<Ended> {
        self.note_context(&task.context_id);
        self.shows_events |= task.metadata.get(EVENTS_EXTENSION).is_some();
        let known = std::mem::take(&mut self.known);
        for (index, artifact) in task.artifacts.into_iter().enumerate() {
            if index < known {
                let progress = self.artifacts.entry(artifact.artifact_id).or_default();
                for part in &artifact.parts {
                    match part.as_text() {
                        Some(text) => progress.push(text),
                        None => progress.parts += 1,
                    }
                }
                self.context.artifacts = self.artifacts.len();
                continue;
            }
            let update = TaskArtifactUpdateEvent::new("", "", artifact);
            if let Some(ended) = self.update(&update, out) {
                return Some(ended);
            }
        }
        if std::mem::take(&mut self.continues) && task.status.state.is_interrupted() {
            // What it waited for before this turn, unless nothing follows.
            self.wait(&task.id);
            return None;
        }
        self.status(&task.id, &task.status, &task.metadata, out)
    }

    fn status(
        &mut self,
        task_id: &str,
        status: &TaskStatus,
        metadata: &Metadata,
        out: &mut Vec<AgentEvent>,
    ) -> Option<Ended> {
        let message = status.message.as_ref();
        self.continues = false;
        self.waits = false;
        self.context.task_id = None;
        match status.state {
            TaskState::Completed => {
                self.speak(message, out);
                Some(self.complete(metadata))
            }
            TaskState::Failed | TaskState::Rejected | TaskState::Canceled => {
                Some(Ended::Failed(of_state(status.state, message, metadata)))
            }
            TaskState::InputRequired => {
                self.wait(task_id);
                if !self.asked {
                    let question = message.map(Message::text).unwrap_or_default();
                    out.push(InputRequired::new(question).into());
                }
                Some(self.complete(metadata))
            }
            TaskState::AuthRequired => {
                self.wait(task_id);
                let told = self.event_in(metadata);
                out.push(told.unwrap_or_else(|| {
                    let details = message.map(Message::text).unwrap_or_default();
                    AuthRequired::new(details).into()
                }));
                None
            }
            _ => {
                if let Some(event) = self.event_in(metadata) {
                    self.asked |= event.type_name() == "input_required";
                    if event.type_name() == "follow_up" {
                        self.asked = false;
                        self.data = None;
                    }
                    if !event.is_terminal() {
                        out.push(event);
                    }
                } else {
                    self.speak(message, out);
                }
                None
            }
        }
    }

    /// The task waits for the next turn.
    fn wait(&mut self, task_id: &str) {
        self.waits = true;
        self.context.task_id = Some(task_id.to_owned());
        self.context.artifacts = self.artifacts.len();
    }

    fn event_in(&mut self, metadata: &Metadata) -> Option<AgentEvent> {
        let json = member(metadata, EVENT)?;
        match AgentEvent::from_json(json.as_str()) {
            Ok(event) => Some(event),
            Err(error) => {
                tracing::debug!(%error, "an event of a remote agent cannot be read");
                None
            }
        }
    }

    fn complete(&mut self, metadata: &Metadata) -> Ended {
        if let Some(AgentEvent::Completed(completed)) = self.event_in(metadata) {
            return Ended::Completed(completed);
        }
        Ended::Completed(
            self.result
                .take()
                .map_or_else(Completed::new, Completed::with_data),
        )
    }

    fn update(
        &mut self,
        event: &TaskArtifactUpdateEvent,
        out: &mut Vec<AgentEvent>,
    ) -> Option<Ended> {
        let artifact = &event.artifact;
        let is_new = !self.artifacts.contains_key(&artifact.artifact_id);
        if is_new && self.artifacts.len() >= ARTIFACTS {
            return Some(Ended::Failed(breach("made too many artifacts")));
        }
        let id = artifact.artifact_id.clone();
        let mut progress = self.artifacts.get(&id).copied().unwrap_or_default();
        if let Some(json) = member(&artifact.metadata, EVENT) {
            let told = match AgentEvent::from_json(json.as_str()) {
                Ok(event) => Some(event),
                Err(_) => artifact_event(event).map(AgentEvent::from),
            };
            out.extend(told.filter(|told| !told.is_terminal()));
            self.artifacts.insert(id, progress);
            return None;
        }
        let mut parts = 0;
        let mut whole = String::new();
        for part in &artifact.parts {
            match &part.content {
                PartContent::Text(text) if part.filename.is_empty() => {
                    if event.append {
                        progress.push(text);
                        self.say(&id, text, out);
                    } else {
                        whole.push_str(text);
                    }
                }
                content => {
                    parts += 1;
                    if !event.append && parts <= progress.parts {
                        continue;
                    }
                    let mut view = artifact_view(artifact, part);
                    view.append = event.append.then_some(true);
                    view.last = event.last_chunk.then_some(true);
                    match content {
                        // With the extension it comes again where it belongs.
                        PartContent::Data(_) if self.shows_events => {}
                        PartContent::Data(data) => {
                            self.result = Some(data.clone());
                            out.extend(self.data.replace(view.into()));
                        }
                        _ => out.push(view.into()),
                    }
                }
            }
        }
        if event.append {
            progress.parts += parts;
        } else {
            progress.parts = parts;
            let more = progress.new_in(&whole).to_owned();
            self.say(&id, &more, out);
        }
        self.artifacts.insert(id, progress);
        None
    }

    /// What a status says, unless an artifact has said it.
    fn speak(&mut self, message: Option<&Message>, out: &mut Vec<AgentEvent>) {
        let Some(message) = message else {
            return;
        };
        let text = message.text();
        let is_known = self.said.is(&text) || self.artifacts.values().any(|said| said.is(&text));
        if !is_known {
            let speaker = format!("status {}", message.message_id);
            self.say(&speaker, &text, out);
        }
    }

    fn say(&mut self, speaker: &str, text: &str, out: &mut Vec<AgentEvent>) {
        if text.is_empty() {
            return;
        }
        let is_other = self.speaker.as_deref() != Some(speaker);
        if is_other && !self.shows_events && !self.ends_line {
            out.push(AgentEvent::text("\n"));
        }
        if is_other {
            self.speaker = Some(speaker.to_owned());
        }
        self.said.push(text);
        self.ends_line = text.ends_with('\n');
        out.push(AgentEvent::text(text));
    }
}

/// How many artifacts a turn may have.
const ARTIFACTS: usize = 1 << 12;
