use serde::{Serialize, Serializer, ser::SerializeMap};

use super::{Form, Written, state::role_name};
use crate::model::Message;

impl Serialize for Written<'_, Message> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (form, message) = (self.form, self.value);
        let mut object = serializer.serialize_map(None)?;
        if form == Form::JsonRpc {
            object.serialize_entry("kind", "message")?;
        }
        object.serialize_entry("messageId", &message.message_id)?;
        if !message.context_id.is_empty() {
            object.serialize_entry("contextId", &message.context_id)?;
        }
        if !message.task_id.is_empty() {
            object.serialize_entry("taskId", &message.task_id)?;
        }
        object.serialize_entry("role", role_name(form, message.role))?;
        let parts = match form {
            Form::JsonRpc => "parts",
            Form::Proto => "content",
        };
        object.serialize_entry(parts, &form.write(&*message.parts))?;
        if !message.metadata.is_empty() {
            object.serialize_entry("metadata", &message.metadata)?;
        }
        if !message.extensions.is_empty() {
            object.serialize_entry("extensions", &message.extensions)?;
        }
        // The proto file of 0.3 has no such field, and strict readers of it refuse the message.
        if form == Form::JsonRpc && !message.reference_task_ids.is_empty() {
            object.serialize_entry("referenceTaskIds", &message.reference_task_ids)?;
        }
        object.end()
    }
}
