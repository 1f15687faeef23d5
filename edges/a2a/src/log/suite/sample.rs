//! Updates to check with.

use crate::{
    log::{Chunk, Owner, TaskKey, Update},
    model::{
        Artifact, Message, Part, Role, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus,
        TaskStatusUpdateEvent, Timestamp,
    },
};

pub(super) fn key(id: &str) -> TaskKey {
    TaskKey::new(Owner::ANONYMOUS, id)
}

pub(super) const CONTEXT: &str = "c-1";

/// Whole seconds after some moment in 2026.
pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_unix_millis((1_780_000_000 + seconds) * 1_000)
}

pub(super) fn status(state: TaskState, seconds: i64) -> TaskStatus {
    TaskStatus::new(state, at(seconds))
}

pub(super) fn opened_in(id: &str, context: &str, seconds: i64) -> Update {
    let mut task = Task::new(id, context, status(TaskState::Submitted, seconds));
    task.history = vec![message(Role::User, "m-1", "hello")];
    task.into()
}

pub(super) fn opened(id: &str) -> Update {
    opened_in(id, CONTEXT, 0)
}

pub(super) fn message(role: Role, id: &str, text: &str) -> Message {
    let mut message = Message::agent_text(text);
    message.message_id = id.to_owned();
    message.role = role;
    message
}

pub(super) fn moved(id: &str, state: TaskState, seconds: i64) -> Update {
    TaskStatusUpdateEvent::new(id, CONTEXT, status(state, seconds)).into()
}

pub(super) fn said(id: &str, state: TaskState, seconds: i64, message: Message) -> Update {
    let status = status(state, seconds).with_message(message);
    TaskStatusUpdateEvent::new(id, CONTEXT, status).into()
}

pub(super) fn event(
    id: &str,
    artifact: &str,
    parts: Vec<Part>,
    append: bool,
) -> TaskArtifactUpdateEvent {
    let mut event = TaskArtifactUpdateEvent::new(id, CONTEXT, Artifact::new(artifact, parts));
    event.append = append;
    event
}

/// An artifact of one text.
pub(super) fn artifact(id: &str, artifact: &str, text: &str) -> Update {
    event(id, artifact, vec![Part::text(text)], false).into()
}

/// More text for an artifact.
pub(super) fn more(id: &str, artifact: &str, text: &str) -> Update {
    event(id, artifact, vec![Part::text(text)], true).into()
}

/// More text for an artifact, which joins what is there.
pub(super) fn joining(id: &str, artifact: &str, text: &str) -> Update {
    Update::Artifact(Chunk::merging(event(
        id,
        artifact,
        vec![Part::text(text)],
        true,
    )))
}
