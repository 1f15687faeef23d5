use crate::model::{Message, Metadata, Role, TaskPushNotificationConfig, decode::Context};

message! {
    /// Sends a message, for one answer or a stream.
    SendMessageRequest {
        /// On whose behalf.
        tenant: String = "tenant" as Id;
        /// The message.
        message: Message = "message", required;
        /// How to answer.
        configuration: Option<SendMessageConfiguration> = "configuration";
        /// For the agent and for extensions.
        metadata: Metadata = "metadata";
    }
    check from_a_user;
}

impl SendMessageRequest {
    /// Sends a message, to be answered as the server does by default.
    #[must_use]
    pub fn new(message: Message) -> Self {
        Self {
            message,
            ..Self::blank()
        }
    }

    /// With wishes for the answer.
    #[must_use]
    pub fn with_configuration(mut self, configuration: SendMessageConfiguration) -> Self {
        self.configuration = Some(configuration);
        self
    }

    /// How much history the answer may carry.
    #[must_use]
    pub fn history_length(&self) -> Option<i32> {
        self.configuration.as_ref()?.history_length
    }

    /// Whether to answer as soon as there is a task.
    #[must_use]
    pub fn returns_immediately(&self) -> bool {
        self.configuration
            .as_ref()
            .is_some_and(|configuration| configuration.return_immediately)
    }
}

/// Clients are users (A2A-OP-51).
fn from_a_user(request: &SendMessageRequest, cx: &mut Context) {
    if cx.is_strict() && request.message.role == Role::Agent {
        cx.within("message", |cx| {
            cx.within("role", |cx| cx.violation("must be ROLE_USER"));
        });
    }
}

message! {
    /// Wishes for the answer to a message.
    SendMessageConfiguration {
        /// Media types that the caller can read.
        accepted_output_modes: Vec<String> = "acceptedOutputModes" | "accepted_output_modes";
        /// A webhook for the task.
        task_push_notification_config: Option<TaskPushNotificationConfig> =
            "taskPushNotificationConfig" | "task_push_notification_config";
        /// At most so many messages of the history.
        history_length: Option<i32> = "historyLength" | "history_length" as Length;
        /// Answer as soon as there is a task.
        return_immediately: bool = "returnImmediately" | "return_immediately";
    }
}

impl SendMessageConfiguration {
    /// No wishes.
    #[must_use]
    pub fn new() -> Self {
        Self::blank()
    }

    /// At most so many messages of the history.
    #[must_use]
    pub const fn with_history_length(mut self, length: i32) -> Self {
        self.history_length = Some(length);
        self
    }

    /// Answer as soon as there is a task.
    #[must_use]
    pub const fn returning_immediately(mut self) -> Self {
        self.return_immediately = true;
        self
    }
}

impl Default for SendMessageConfiguration {
    fn default() -> Self {
        Self::new()
    }
}
