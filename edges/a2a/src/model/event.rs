use super::{Artifact, Message, Metadata, Task, TaskStatus};

message! {
    /// A task has a new status.
    TaskStatusUpdateEvent {
        /// Which task.
        task_id: String = "taskId" | "task_id" as Id, required;
        /// The conversation that it belongs to.
        context_id: String = "contextId" | "context_id" as Id, required;
        /// The status.
        status: TaskStatus = "status", required;
        /// Data of extensions.
        metadata: Metadata = "metadata";
    }
}

impl TaskStatusUpdateEvent {
    /// The status of a task.
    #[must_use]
    pub fn new(
        task_id: impl Into<String>,
        context_id: impl Into<String>,
        status: TaskStatus,
    ) -> Self {
        Self {
            task_id: task_id.into(),
            context_id: context_id.into(),
            status,
            metadata: Metadata::new(),
        }
    }

    /// With a note of the agent.
    #[must_use]
    pub fn with_message(mut self, message: Message) -> Self {
        self.status.message = Some(message);
        self
    }

    /// With a note of the agent that is one text.
    #[must_use]
    pub fn with_text(self, text: impl Into<String>) -> Self {
        self.with_message(Message::agent_text(text))
    }

    /// With data of an extension.
    #[must_use]
    pub fn with_metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = metadata;
        self
    }
}

message! {
    /// A task has an artifact, or more of one.
    TaskArtifactUpdateEvent {
        /// Which task.
        task_id: String = "taskId" | "task_id" as Id, required;
        /// The conversation that it belongs to.
        context_id: String = "contextId" | "context_id" as Id, required;
        /// The artifact, or what is new of it.
        artifact: Artifact = "artifact", required;
        /// Whether the parts go behind those that were sent already.
        append: bool = "append";
        /// Whether this was the last of the artifact.
        last_chunk: bool = "lastChunk" | "last_chunk";
        /// Data of extensions.
        metadata: Metadata = "metadata";
    }
}

impl TaskArtifactUpdateEvent {
    /// A whole artifact of a task.
    #[must_use]
    pub fn new(
        task_id: impl Into<String>,
        context_id: impl Into<String>,
        artifact: Artifact,
    ) -> Self {
        Self {
            task_id: task_id.into(),
            context_id: context_id.into(),
            artifact,
            append: false,
            last_chunk: false,
            metadata: Metadata::new(),
        }
    }

    /// Its parts go behind those that were sent already.
    #[must_use]
    pub const fn appending(mut self) -> Self {
        self.append = true;
        self
    }

    /// It is the last of its artifact.
    #[must_use]
    pub const fn last(mut self) -> Self {
        self.last_chunk = true;
        self
    }
}

oneof! {
    /// One frame of a stream, and the body of a webhook.
    StreamResponse: "task, message, statusUpdate, artifactUpdate" {
        /// The task as it stands.
        Task(Task) = "task";
        /// The answer, where there is no task.
        Message(Message) = "message";
        /// A new status.
        StatusUpdate(TaskStatusUpdateEvent) = "statusUpdate" | "status_update";
        /// An artifact, or more of one.
        ArtifactUpdate(TaskArtifactUpdateEvent) = "artifactUpdate" | "artifact_update";
    }
}

oneof! {
    /// The answer to `SendMessage`.
    SendMessageResponse: "task, message" {
        /// The task that the message opened or continued.
        Task(Task) = "task";
        /// The answer, where there is no task.
        Message(Message) = "message";
    }
}
