use http::Method;

use crate::model::Operation;

/// Where operations are in the HTTP+JSON binding: a path below the interface (A2A-REST-1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Send,
    Stream,
    Tasks,
    Cancel,
    Subscribe,
    Task,
    Configs,
    Config,
    ExtendedCard,
}

/// A piece of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    Literal(&'static str),
    /// The value of a member of the request.
    Member(&'static str),
    /// The same with something behind it that is no part of the value.
    MemberThen(&'static str, &'static str),
}

/// A method of HTTP that some operation has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    Post,
    Delete,
}

impl Place {
    /// Those with a suffix come before those that would take it for a part of an id (O-R04).
    #[cfg(feature = "rest")]
    pub(crate) const ALL: [Self; 9] = [
        Self::Send,
        Self::Stream,
        Self::Tasks,
        Self::Cancel,
        Self::Subscribe,
        Self::Task,
        Self::Configs,
        Self::Config,
        Self::ExtendedCard,
    ];

    pub(crate) const fn of(operation: Operation) -> Self {
        match operation {
            Operation::SendMessage => Self::Send,
            Operation::SendStreamingMessage => Self::Stream,
            Operation::GetTask => Self::Task,
            Operation::ListTasks => Self::Tasks,
            Operation::CancelTask => Self::Cancel,
            Operation::SubscribeToTask => Self::Subscribe,
            Operation::CreateTaskPushNotificationConfig
            | Operation::ListTaskPushNotificationConfigs => Self::Configs,
            Operation::GetTaskPushNotificationConfig
            | Operation::DeleteTaskPushNotificationConfig => Self::Config,
            Operation::GetExtendedAgentCard => Self::ExtendedCard,
        }
    }

    pub(crate) const fn segments(self) -> &'static [Segment] {
        use Segment::{Literal, Member, MemberThen};

        match self {
            Self::Send => &[Literal("message:send")],
            Self::Stream => &[Literal("message:stream")],
            Self::Tasks => &[Literal("tasks")],
            Self::Cancel => &[Literal("tasks"), MemberThen("id", ":cancel")],
            Self::Subscribe => &[Literal("tasks"), MemberThen("id", ":subscribe")],
            Self::Task => &[Literal("tasks"), Member("id")],
            Self::Configs => &[
                Literal("tasks"),
                Member("taskId"),
                Literal("pushNotificationConfigs"),
            ],
            Self::Config => &[
                Literal("tasks"),
                Member("taskId"),
                Literal("pushNotificationConfigs"),
                Member("id"),
            ],
            Self::ExtendedCard => &[Literal("extendedAgentCard")],
        }
    }
}

impl Verb {
    /// The verbs of an operation; a client sends the first (A2A-REST-3).
    pub(crate) const fn of(operation: Operation) -> &'static [Self] {
        match operation {
            Operation::SendMessage
            | Operation::SendStreamingMessage
            | Operation::CancelTask
            | Operation::CreateTaskPushNotificationConfig => &[Self::Post],
            Operation::SubscribeToTask => &[Self::Post, Self::Get],
            Operation::GetTask
            | Operation::ListTasks
            | Operation::GetTaskPushNotificationConfig
            | Operation::ListTaskPushNotificationConfigs
            | Operation::GetExtendedAgentCard => &[Self::Get],
            Operation::DeleteTaskPushNotificationConfig => &[Self::Delete],
        }
    }

    pub(crate) const fn method(self) -> Method {
        match self {
            Self::Get => Method::GET,
            Self::Post => Method::POST,
            Self::Delete => Method::DELETE,
        }
    }
}
