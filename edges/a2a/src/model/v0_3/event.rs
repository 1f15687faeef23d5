use serde::{Serialize, Serializer, ser::SerializeMap};

use super::{Form, Written};
use crate::model::{
    SendMessageResponse, StreamResponse, TaskArtifactUpdateEvent, TaskState, TaskStatusUpdateEvent,
};

/// Bare in JSON-RPC, with the name of what it is in HTTP+JSON.
macro_rules! bare_or_named {
    ($type:ident: $($variant:ident = $name:literal),*) => {
        impl Serialize for Written<'_, $type> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let form = self.form;
                match (form, self.value) {
                    $(
                        (Form::JsonRpc, $type::$variant(value)) => {
                            form.write(value).serialize(serializer)
                        }
                        (Form::Proto, $type::$variant(value)) => {
                            serializer.collect_map([($name, form.write(value))])
                        }
                    )*
                }
            }
        }
    };
}

bare_or_named!(SendMessageResponse: Task = "task", Message = "message");
bare_or_named!(
    StreamResponse: Task = "task", Message = "message", StatusUpdate = "statusUpdate",
    ArtifactUpdate = "artifactUpdate"
);

/// Whether nothing comes after a frame: it says so in `final` (A2A-COMPAT-4).
pub(crate) const fn ends_stream(frame: &StreamResponse) -> bool {
    match frame {
        StreamResponse::StatusUpdate(update) => is_final(update.status.state),
        _ => false,
    }
}

const fn is_final(state: TaskState) -> bool {
    state.is_terminal() || matches!(state, TaskState::InputRequired)
}

impl Serialize for Written<'_, TaskStatusUpdateEvent> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (form, event) = (self.form, self.value);
        let mut object = serializer.serialize_map(None)?;
        if form == Form::JsonRpc {
            object.serialize_entry("kind", "status-update")?;
        }
        object.serialize_entry("taskId", &event.task_id)?;
        object.serialize_entry("contextId", &event.context_id)?;
        object.serialize_entry("status", &form.write(&event.status))?;
        object.serialize_entry("final", &is_final(event.status.state))?;
        if !event.metadata.is_empty() {
            object.serialize_entry("metadata", &event.metadata)?;
        }
        object.end()
    }
}

impl Serialize for Written<'_, TaskArtifactUpdateEvent> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (form, event) = (self.form, self.value);
        let mut object = serializer.serialize_map(None)?;
        if form == Form::JsonRpc {
            object.serialize_entry("kind", "artifact-update")?;
        }
        object.serialize_entry("taskId", &event.task_id)?;
        object.serialize_entry("contextId", &event.context_id)?;
        object.serialize_entry("artifact", &form.write(&event.artifact))?;
        if event.append {
            object.serialize_entry("append", &true)?;
        }
        if event.last_chunk {
            object.serialize_entry("lastChunk", &true)?;
        }
        if !event.metadata.is_empty() {
            object.serialize_entry("metadata", &event.metadata)?;
        }
        object.end()
    }
}
