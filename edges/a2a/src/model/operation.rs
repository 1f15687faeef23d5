use std::fmt;

use super::{
    Bounds, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, Error,
    GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest,
    ListTaskPushNotificationConfigsRequest, ListTasksRequest, SendMessageRequest,
    SubscribeToTaskRequest, TaskPushNotificationConfig, decode_request_within,
};

macro_rules! operations {
    ($($(#[$meta:meta])* $name:ident($request:ty)),* $(,)?) => {
        /// One of the eleven operations.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(clippy::exhaustive_enums, reason = "a test that misses one must not compile")]
        pub enum Operation {
            $($(#[$meta])* $name,)*
        }

        impl Operation {
            /// All eleven.
            pub const ALL: [Self; 11] = [$(Self::$name,)*];

            /// The name, which is the method of JSON-RPC and gRPC.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)*
                }
            }

            /// The operation with this name. Case matters.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|operation| operation.as_str() == name)
            }
        }

        /// What an operation takes.
        #[derive(Clone, Debug, PartialEq)]
        #[expect(clippy::exhaustive_enums, reason = "a test that misses one must not compile")]
        pub enum Request {
            $($(#[$meta])* $name($request),)*
        }

        impl Request {
            /// Which operation it is for.
            #[must_use]
            pub const fn operation(&self) -> Operation {
                match self {
                    $(Self::$name(_) => Operation::$name,)*
                }
            }

            /// The tenant that the body names; empty if none.
            #[must_use]
            pub fn tenant(&self) -> &str {
                match self {
                    $(Self::$name(request) => &request.tenant,)*
                }
            }

            /// Reads the parameters of an operation, strictly.
            ///
            /// # Errors
            /// `InvalidParams` with every fault that was found.
            pub fn decode(
                operation: Operation,
                params: &str,
                bounds: &Bounds,
            ) -> Result<Self, Error> {
                let request = match operation {
                    $(Operation::$name => Self::$name(decode_request_within(params, bounds)?),)*
                };
                request.with_its_task()
            }
        }
    };
}

operations! {
    /// Sends a message; one answer.
    SendMessage(SendMessageRequest),
    /// Sends a message; a stream.
    SendStreamingMessage(SendMessageRequest),
    /// Reads a task.
    GetTask(GetTaskRequest),
    /// Reads a page of tasks.
    ListTasks(ListTasksRequest),
    /// Stops a task.
    CancelTask(CancelTaskRequest),
    /// Joins a running task.
    SubscribeToTask(SubscribeToTaskRequest),
    /// Leaves a webhook.
    CreateTaskPushNotificationConfig(TaskPushNotificationConfig),
    /// Reads one webhook.
    GetTaskPushNotificationConfig(GetTaskPushNotificationConfigRequest),
    /// Reads the webhooks of a task.
    ListTaskPushNotificationConfigs(ListTaskPushNotificationConfigsRequest),
    /// Removes a webhook.
    DeleteTaskPushNotificationConfig(DeleteTaskPushNotificationConfigRequest),
    /// Reads the card for those who authenticate.
    GetExtendedAgentCard(GetExtendedAgentCardRequest),
}

impl Request {
    /// A webhook that comes with a message is of the task of the message; one that comes alone has to
    /// say whose it is (A2A-OP-97).
    fn with_its_task(self) -> Result<Self, Error> {
        match self {
            Self::CreateTaskPushNotificationConfig(config) if config.task_id.is_empty() => {
                Err(Error::invalid_param("taskId", "required"))
            }
            request => Ok(request),
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
