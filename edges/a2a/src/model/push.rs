use std::fmt;

message! {
    /// A webhook for the updates of a task: what `CreateTaskPushNotificationConfig` takes
    /// and returns. `Debug` shows none of its secrets, and of its address the host only.
    secret TaskPushNotificationConfig {
        /// On whose behalf.
        tenant: String = "tenant" as Id;
        /// Assigned by the server when empty.
        id: String = "id" as Id;
        /// Which task.
        task_id: String = "taskId" | "task_id" as Id;
        /// Where to post.
        url: String = "url" as WebhookUrl, required;
        /// An opaque secret that is sent along.
        token: String = "token";
        /// How to authenticate there.
        authentication: Option<AuthenticationInfo> = "authentication";
    }
}

impl TaskPushNotificationConfig {
    /// A webhook for a task.
    #[must_use]
    pub fn new(task_id: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            task_id: task_id.into(),
            url: url.into(),
            ..Self::blank()
        }
    }

    /// The same without its secrets, as it is shown (A2A-OP-99).
    #[must_use]
    pub fn redacted(mut self) -> Self {
        self.token.clear();
        if let Some(authentication) = &mut self.authentication {
            authentication.credentials.clear();
        }
        self
    }
}

message! {
    /// How to authenticate at a webhook. `Debug` does not show the credentials.
    secret AuthenticationInfo {
        /// The name of an HTTP authentication scheme.
        scheme: String = "scheme", required;
        /// The credentials for it.
        credentials: String = "credentials";
    }
}

impl fmt::Debug for TaskPushNotificationConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The path and the query of a webhook are secrets often enough.
        let end = self.url.find("://").map_or(0, |scheme| scheme + 3);
        let host = self.url[end..]
            .find(['/', '?'])
            .map_or(&*self.url, |path| &self.url[..end + path]);
        f.debug_struct("TaskPushNotificationConfig")
            .field("tenant", &self.tenant)
            .field("id", &self.id)
            .field("task_id", &self.task_id)
            .field("url", &host)
            .field("authentication", &self.authentication)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for AuthenticationInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthenticationInfo")
            .field("scheme", &self.scheme)
            .finish_non_exhaustive()
    }
}

impl AuthenticationInfo {
    /// Credentials for a scheme.
    #[must_use]
    pub fn new(scheme: impl Into<String>, credentials: impl Into<String>) -> Self {
        Self {
            scheme: scheme.into(),
            credentials: credentials.into(),
        }
    }
}

message! {
    /// Reads one registration.
    GetTaskPushNotificationConfigRequest {
        /// On whose behalf.
        tenant: String = "tenant" as Id;
        /// Which task.
        task_id: String = "taskId" | "task_id" as Id, required;
        /// Which registration.
        id: String = "id" as Id, required;
    }
}

impl GetTaskPushNotificationConfigRequest {
    /// For a registration of a task.
    #[must_use]
    pub fn new(task_id: impl Into<String>, id: impl Into<String>) -> Self {
        Self {
            task_id: task_id.into(),
            id: id.into(),
            ..Self::blank()
        }
    }
}

message! {
    /// Removes a registration.
    DeleteTaskPushNotificationConfigRequest {
        /// On whose behalf.
        tenant: String = "tenant" as Id;
        /// Which task.
        task_id: String = "taskId" | "task_id" as Id, required;
        /// Which registration.
        id: String = "id" as Id, required;
    }
}

impl DeleteTaskPushNotificationConfigRequest {
    /// For a registration of a task.
    #[must_use]
    pub fn new(task_id: impl Into<String>, id: impl Into<String>) -> Self {
        Self {
            task_id: task_id.into(),
            id: id.into(),
            ..Self::blank()
        }
    }
}

message! {
    /// Reads every registration of a task.
    ListTaskPushNotificationConfigsRequest {
        /// Which task.
        task_id: String = "taskId" | "task_id" as Id, required;
        /// How many at most; 0 for all.
        page_size: i32 = "pageSize" | "page_size";
        /// Where to go on.
        page_token: String = "pageToken" | "page_token" as PageToken;
        /// On whose behalf.
        tenant: String = "tenant" as Id;
    }
}

impl ListTaskPushNotificationConfigsRequest {
    /// For the registrations of a task.
    #[must_use]
    pub fn new(task_id: impl Into<String>) -> Self {
        Self {
            task_id: task_id.into(),
            ..Self::blank()
        }
    }
}

message! {
    /// The registrations of a task.
    ListTaskPushNotificationConfigsResponse {
        /// The registrations.
        configs: Vec<TaskPushNotificationConfig> = "configs", written;
        /// Where to go on; empty at the end.
        next_page_token: String = "nextPageToken" | "next_page_token" as PageToken;
    }
}

impl ListTaskPushNotificationConfigsResponse {
    /// A page of registrations.
    #[must_use]
    pub fn new(configs: Vec<TaskPushNotificationConfig>) -> Self {
        Self {
            configs,
            ..Self::blank()
        }
    }
}
