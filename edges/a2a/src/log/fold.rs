#[cfg(feature = "server")]
use super::Record;
use super::{Chunk, Update};
use crate::model::{
    Artifact, Part, PartContent, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent,
};

/// Brings a view of a task up to date: the one place where updates become a task, for
/// the logs of a server and for the view of a client (A2A-OP-42, A2A-OP-46..48).
///
/// Whether an update is allowed is not judged here, so an append to an artifact that is
/// not there creates it, as a client has to; [`Head::admit`](super::Head::admit) refuses
/// it before a server comes here.
pub fn apply(task: &mut Task, update: Update) {
    match update {
        Update::Opened(opened) => *task = *opened,
        Update::Status(event) => apply_status(task, event),
        Update::Artifact(chunk) => apply_chunk(task, chunk),
        Update::Message(message) => {
            // The answer comes after the question, which the status still holds (EX-8).
            task.history.extend(task.status.message.take());
            task.history.push(message);
        }
    }
}

/// The new status replaces the old one, whose message becomes history (A2A-OP-42).
fn apply_status(task: &mut Task, event: TaskStatusUpdateEvent) {
    let previous = std::mem::replace(&mut task.status, event.status);
    task.history.extend(previous.message);
    task.metadata.merge(event.metadata);
}

fn apply_chunk(task: &mut Task, chunk: Chunk) {
    let merges = chunk.merges();
    let TaskArtifactUpdateEvent {
        artifact, append, ..
    } = chunk.into_event();
    let known = task
        .artifacts
        .iter_mut()
        .find(|known| known.artifact_id == artifact.artifact_id);
    match known {
        Some(known) if append => extend(known, artifact, merges),
        Some(known) => *known = artifact,
        None => task.artifacts.push(artifact),
    }
}

/// Adds what is new in `more` (A2A-OP-47).
fn extend(known: &mut Artifact, more: Artifact, merges: bool) {
    for part in more.parts {
        match (
            known.parts.last_mut().and_then(plain_text_mut),
            part.as_plain_text(),
        ) {
            (Some(text), Some(more)) if merges => text.push_str(more),
            _ => known.parts.push(part),
        }
    }
    known.metadata.merge(more.metadata);
    if known.name.is_empty() {
        known.name = more.name;
    }
    if known.description.is_empty() {
        known.description = more.description;
    }
    if known.extensions.is_empty() {
        known.extensions = more.extensions;
    }
}

/// Folds records onto what came before them; onto nothing if they are a whole log.
///
/// # Errors
/// When a record does not decode, or a log does not begin with its task: a damaged store.
#[cfg(feature = "server")]
pub fn fold(
    base: Option<Task>,
    records: impl IntoIterator<Item = Record>,
) -> Result<Option<Task>, serde_json::Error> {
    let mut view = base;
    for record in records {
        match (&mut view, record.update()?) {
            (Some(task), update) => apply(task, update),
            (None, Update::Opened(task)) => view = Some(*task),
            (None, _) => {
                return Err(serde::de::Error::custom(
                    "the log does not begin with its task",
                ));
            }
        }
    }
    Ok(view)
}

/// The text of a part that is nothing but text.
fn plain_text_mut(part: &mut Part) -> Option<&mut String> {
    part.as_plain_text()?;
    match &mut part.content {
        PartContent::Text(text) => Some(text),
        _ => None,
    }
}
