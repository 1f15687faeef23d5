use super::{Artifact, Message, Metadata, TaskState, Timestamp};

message! {
    /// A unit of work.
    Task {
        /// Made by the server.
        id: String = "id" as Id, required;
        /// The conversation that it belongs to.
        context_id: String = "contextId" | "context_id" as Id;
        /// Where it stands.
        status: TaskStatus = "status", required;
        /// What came out so far.
        artifacts: Vec<Artifact> = "artifacts";
        /// What was said, oldest first.
        history: Vec<Message> = "history";
        /// Data of extensions.
        metadata: Metadata = "metadata";
    }
}

impl Task {
    /// A task that begins.
    #[must_use]
    pub fn new(id: impl Into<String>, context_id: impl Into<String>, status: TaskStatus) -> Self {
        Self {
            id: id.into(),
            context_id: context_id.into(),
            status,
            ..Self::blank()
        }
    }

    /// Keeps at most the last `length` messages of the history. `None` keeps all
    /// (A2A-OP-35).
    pub fn limit_history(&mut self, length: Option<usize>) {
        let surplus = length.map_or(0, |length| self.history.len().saturating_sub(length));
        self.history.drain(..surplus);
    }
}

message! {
    /// Where a task stands.
    TaskStatus {
        /// What the task does.
        state: TaskState = "state", required;
        /// The agent's note on it.
        message: Option<Message> = "message";
        /// Since when. Servers always set it.
        timestamp: Option<Timestamp> = "timestamp";
    }
}

impl TaskStatus {
    /// A state since a moment.
    #[must_use]
    pub const fn new(state: TaskState, timestamp: Timestamp) -> Self {
        Self {
            state,
            message: None,
            timestamp: Some(timestamp),
        }
    }

    /// With a note.
    #[must_use]
    pub fn with_message(mut self, message: Message) -> Self {
        self.message = Some(message);
        self
    }
}
