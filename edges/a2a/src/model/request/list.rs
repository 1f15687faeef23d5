use crate::model::{Task, TaskState, Timestamp};

message! {
    /// Asks for a page of the caller's tasks.
    ListTasksRequest {
        /// On whose behalf.
        tenant: String = "tenant" as Id;
        /// Only tasks of this conversation; all if empty.
        context_id: String = "contextId" | "context_id" as Id;
        /// Only tasks in this state; all if [`TaskState::Unknown`].
        status: TaskState = "status";
        /// How many at most, from 1 to 100.
        page_size: Option<i32> = "pageSize" | "page_size" as PageSize;
        /// Where to go on.
        page_token: String = "pageToken" | "page_token" as PageToken;
        /// At most so many messages of each history.
        history_length: Option<i32> = "historyLength" | "history_length" as Length;
        /// Only tasks whose status is of this moment or later.
        status_timestamp_after: Option<Timestamp> =
            "statusTimestampAfter" | "status_timestamp_after";
        /// Whether the tasks come with their artifacts.
        include_artifacts: Option<bool> = "includeArtifacts" | "include_artifacts";
    }
}

impl ListTasksRequest {
    /// For all tasks.
    #[must_use]
    pub fn new() -> Self {
        Self::blank()
    }
}

impl Default for ListTasksRequest {
    fn default() -> Self {
        Self::new()
    }
}

message! {
    /// A page of tasks. All four members are always written (T-12).
    ListTasksResponse {
        /// The tasks, newest status first.
        tasks: Vec<Task> = "tasks", written;
        /// Where to go on; empty on the last page.
        next_page_token: String = "nextPageToken" | "next_page_token", written;
        /// The page size that was used.
        page_size: i32 = "pageSize" | "page_size", written;
        /// How many tasks match, over all pages.
        total_size: i32 = "totalSize" | "total_size", written;
    }
}

impl ListTasksResponse {
    /// An empty page.
    #[must_use]
    pub fn new() -> Self {
        Self::blank()
    }
}

impl Default for ListTasksResponse {
    fn default() -> Self {
        Self::new()
    }
}
