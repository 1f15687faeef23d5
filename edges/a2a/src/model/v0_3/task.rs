use serde::{Serialize, Serializer, ser::SerializeMap};

use super::{Form, Written, state::state_name};
use crate::model::{Task, TaskStatus};

impl Serialize for Written<'_, Task> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (form, task) = (self.form, self.value);
        let mut object = serializer.serialize_map(None)?;
        if form == Form::JsonRpc {
            object.serialize_entry("kind", "task")?;
        }
        object.serialize_entry("id", &task.id)?;
        object.serialize_entry("contextId", &task.context_id)?;
        object.serialize_entry("status", &form.write(&task.status))?;
        if !task.artifacts.is_empty() {
            object.serialize_entry("artifacts", &form.write(&*task.artifacts))?;
        }
        if !task.history.is_empty() {
            object.serialize_entry("history", &form.write(&*task.history))?;
        }
        if !task.metadata.is_empty() {
            object.serialize_entry("metadata", &task.metadata)?;
        }
        object.end()
    }
}

impl Serialize for Written<'_, TaskStatus> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (form, status) = (self.form, self.value);
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("state", state_name(form, status.state))?;
        if let Some(message) = &status.message {
            object.serialize_entry("message", &form.write(message))?;
        }
        if let Some(timestamp) = &status.timestamp {
            object.serialize_entry("timestamp", timestamp)?;
        }
        object.end()
    }
}
