use serde::{Serialize, Serializer, ser::SerializeMap};

use super::Frames;
use crate::model::{
    AgentCard, ListTaskPushNotificationConfigsResponse, ListTasksResponse, SendMessageResponse,
    Task, TaskPushNotificationConfig,
};

/// What an operation answers with: one answer, or a stream.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "an operation answers once or streams"
)]
pub enum Response {
    /// Of the operations that answer once.
    Answer(Box<Answer>),
    /// Of the two operations that stream.
    Stream(Frames),
}

impl From<Answer> for Response {
    fn from(answer: Answer) -> Self {
        Self::Answer(Box::new(answer))
    }
}

/// An answer in one piece. It serialises to the `result` of JSON-RPC, which is the body
/// of HTTP+JSON (A2A-RPC-15).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Answer {
    /// Of `SendMessage`.
    Sent(SendMessageResponse),
    /// Of `GetTask` and `CancelTask`: the task itself (O-W09).
    Task(Task),
    /// Of `ListTasks`.
    Tasks(ListTasksResponse),
    /// Of `GetExtendedAgentCard`.
    Card(AgentCard),
    /// Of `CreateTaskPushNotificationConfig` and `GetTaskPushNotificationConfig`.
    PushConfig(TaskPushNotificationConfig),
    /// Of `ListTaskPushNotificationConfigs`.
    PushConfigs(ListTaskPushNotificationConfigsResponse),
    /// Of `DeleteTaskPushNotificationConfig`: an empty object (A2A-RPC-16).
    Deleted,
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Sent(sent) => sent.serialize(serializer),
            Self::Task(task) => task.serialize(serializer),
            Self::Tasks(tasks) => tasks.serialize(serializer),
            Self::Card(card) => card.serialize(serializer),
            Self::PushConfig(config) => config.serialize(serializer),
            Self::PushConfigs(configs) => configs.serialize(serializer),
            Self::Deleted => serializer.serialize_map(Some(0))?.end(),
        }
    }
}
