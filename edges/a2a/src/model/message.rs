use super::{Metadata, Part, Role};

message! {
    /// Something said, by either side.
    Message {
        /// Made by whoever sends the message.
        message_id: String = "messageId" | "message_id" as Id, required;
        /// The conversation that it belongs to.
        context_id: String = "contextId" | "context_id" as Id;
        /// The task that it belongs to.
        task_id: String = "taskId" | "task_id" as Id;
        /// Who wrote it.
        role: Role = "role", required;
        /// What it says: at least one part.
        parts: Vec<Part> = "parts", required;
        /// Data of extensions, named by their URIs.
        metadata: Metadata = "metadata";
        /// The URIs of the extensions that this message uses.
        extensions: Vec<String> = "extensions";
        /// Tasks that it refers to.
        reference_task_ids: Vec<String> = "referenceTaskIds" | "reference_task_ids" as Id;
    }
}

impl Message {
    /// A message of a client.
    #[must_use]
    pub fn user(message_id: impl Into<String>, parts: impl IntoIterator<Item = Part>) -> Self {
        Self {
            message_id: message_id.into(),
            role: Role::User,
            parts: parts.into_iter().collect(),
            ..Self::blank()
        }
    }

    /// A message of an agent. Ids that are left empty are filled in by the server.
    #[must_use]
    pub fn agent(parts: impl IntoIterator<Item = Part>) -> Self {
        Self {
            role: Role::Agent,
            parts: parts.into_iter().collect(),
            ..Self::blank()
        }
    }

    /// A message of an agent that is one text.
    #[must_use]
    pub fn agent_text(text: impl Into<String>) -> Self {
        Self::agent([Part::text(text)])
    }

    /// Its text parts, joined.
    #[must_use]
    pub fn text(&self) -> String {
        self.parts.iter().filter_map(Part::as_text).collect()
    }
}
