//! The extension that lets the events of an agent survive A2A: what both ends know of it.

use portcullis::{
    Extension, Extra, ExtraMut, Json, Scope,
    views::{self, ArtifactContent},
};

use crate::model::{Artifact, Metadata, Part, PartContent, TaskArtifactUpdateEvent};

macro_rules! uri {
    () => {
        "https://github.com/portcullis-rs/portcullis/extensions/agent-events/v1"
    };
}

/// The extension that shows callers what an agent does beside answering, and tells the agent how it
/// is asked.
///
/// Every `Server::agent` declares it, and every `RemoteAgent` asks for it. For a task that was
/// opened with it active, under this URI and a slash:
///
/// | member | of | says |
/// |---|---|---|
/// | `event` | a WORKING or AUTH_REQUIRED status | an event that is no part of the answer: `thinking`, `tool_started`, `tool_ended`, `retrying`, `usage`, `input_required`, `auth_required`, and whatever the agent has of its own |
/// | `event` | a COMPLETED or INPUT_REQUIRED status | the `completed` event |
/// | `event` | an artifact | the `artifact` event that it is, or `{}` where the artifact itself says all of it; a `text` event that has more than its text |
/// | `failure` | the status of a turn that failed | `code`, `retryable`, `retryAfterMs` and what else the failure has; its text is the message |
/// | `scope` | the request | the wire form of the scope: deadline, output schema, constraints. It can only narrow what the agent may do: session, source, principal and tenant are not taken from it |
/// | `prompt` | the message | members of the prompt beside text and images |
///
/// All are JSON objects. gRPC has values that are not JSON's, numbers above all, so there each is a
/// string that holds the text of the object.
///
/// The task says in its metadata, under the bare URI, that the extension is active. It is fixed when
/// the task is opened, so that every watcher sees the same. A finished task of this kind can be
/// subscribed to with a `Last-Event-ID`: what came after it is sent again.
pub const EVENTS_EXTENSION: &str = uri!();

pub(crate) const EVENT: &str = concat!(uri!(), "/event");
pub(crate) const FAILURE: &str = concat!(uri!(), "/failure");
pub(crate) const SCOPE: &str = concat!(uri!(), "/scope");
pub(crate) const PROMPT: &str = concat!(uri!(), "/prompt");

/// Whether the value of a name is an object that has to keep its text.
#[cfg(feature = "grpc")]
pub(crate) fn keeps_text(name: &str) -> bool {
    [EVENT, FAILURE, SCOPE, PROMPT].contains(&name)
}

/// The object under one of the names, whichever form it came in.
pub(crate) fn member(metadata: &Metadata, name: &str) -> Option<Json> {
    let value = metadata.get(name)?;
    if !value.as_str().starts_with('"') {
        return Some(value.clone());
    }
    Json::from_text(value.decode::<String>().ok()?).ok()
}

/// Puts into a scope what binds a turn in another one: deadline, output schema, constraints, and members
/// that nobody knows. Nothing that gives it a name or a right.
pub(crate) fn bind(mut scope: Scope, other: &Scope) -> Scope {
    scope.set_deadline(other.deadline());
    if let Some(schema) = other.output_schema() {
        scope = scope.with_output_schema(schema.clone());
    }
    copy(other.constraints_extra(), scope.constraints_extra_mut());
    copy(other.extra(), scope.extra_mut());
    scope
}

fn copy(members: &Extra, mut to: ExtraMut<'_>) {
    for (name, text) in members.iter() {
        if let Ok(value) = Json::from_text(text) {
            let _known = to.insert(&name, &value);
        }
    }
}

/// The `artifact` event that an update says by itself, if it has one part.
pub(crate) fn artifact_event(update: &TaskArtifactUpdateEvent) -> Option<Extension> {
    let [part] = &update.artifact.parts[..] else {
        return None;
    };
    let mut view = artifact_view(&update.artifact, part);
    view.append = update.append.then_some(true);
    view.last = update.last_chunk.then_some(true);
    Some(view.into())
}

/// A part of an artifact as an artifact of its own.
pub(crate) fn artifact_view(artifact: &Artifact, part: &Part) -> views::Artifact {
    let content = match &part.content {
        PartContent::Text(text) => ArtifactContent::Text(text.clone()),
        PartContent::Raw(bytes) => ArtifactContent::Raw(Part::encode_base64(bytes)),
        PartContent::Url(url) => ArtifactContent::Url(url.clone()),
        PartContent::Data(data) => ArtifactContent::Data(data.clone()),
    };
    let given = |text: &String| (!text.is_empty()).then(|| text.clone());
    let mut view = views::Artifact::new(&*artifact.artifact_id, content);
    view.name = given(&artifact.name).or_else(|| given(&part.filename));
    view.mime_type = given(&part.media_type);
    view
}
