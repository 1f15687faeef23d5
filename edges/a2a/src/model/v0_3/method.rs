use crate::model::Operation;

/// The operation that a method of version 0.3 means. It has no list of tasks.
pub(crate) fn operation(method: &str) -> Option<Operation> {
    Operation::ALL
        .into_iter()
        .find(|operation| self::method(*operation) == Some(method))
}

/// The method of version 0.3 that an operation is.
pub(crate) const fn method(operation: Operation) -> Option<&'static str> {
    Some(match operation {
        Operation::SendMessage => "message/send",
        Operation::SendStreamingMessage => "message/stream",
        Operation::GetTask => "tasks/get",
        Operation::ListTasks => return None,
        Operation::CancelTask => "tasks/cancel",
        Operation::SubscribeToTask => "tasks/resubscribe",
        Operation::CreateTaskPushNotificationConfig => "tasks/pushNotificationConfig/set",
        Operation::GetTaskPushNotificationConfig => "tasks/pushNotificationConfig/get",
        Operation::ListTaskPushNotificationConfigs => "tasks/pushNotificationConfig/list",
        Operation::DeleteTaskPushNotificationConfig => "tasks/pushNotificationConfig/delete",
        Operation::GetExtendedAgentCard => "agent/getAuthenticatedExtendedCard",
    })
}
