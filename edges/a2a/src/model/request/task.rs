use crate::model::Metadata;

message! {
    /// Reads a task.
    GetTaskRequest {
        /// On whose behalf.
        tenant: String = "tenant" as Id;
        /// Which task.
        id: String = "id" as Id, required;
        /// At most so many messages of the history.
        history_length: Option<i32> = "historyLength" | "history_length" as Length;
    }
}

impl GetTaskRequest {
    /// For a task.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            ..Self::blank()
        }
    }
}

message! {
    /// Asks a task to stop.
    CancelTaskRequest {
        /// On whose behalf.
        tenant: String = "tenant" as Id;
        /// Which task.
        id: String = "id" as Id, required;
        /// For the agent and for extensions.
        metadata: Metadata = "metadata";
    }
}

impl CancelTaskRequest {
    /// For a task.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            ..Self::blank()
        }
    }
}

message! {
    /// Joins a running task.
    SubscribeToTaskRequest {
        /// On whose behalf.
        tenant: String = "tenant" as Id;
        /// Which task.
        id: String = "id" as Id, required;
    }
}

impl SubscribeToTaskRequest {
    /// For a task.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            ..Self::blank()
        }
    }
}
