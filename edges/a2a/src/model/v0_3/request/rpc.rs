use super::{configuration::RpcConfiguration, message::RpcMessage, webhook::Webhook};
use crate::model::{
    Bounds, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, Error,
    GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest,
    ListTaskPushNotificationConfigsRequest, Metadata, Operation, Request, SendMessageRequest,
    SubscribeToTaskRequest, decode_request_within,
};

/// Reads the `params` of JSON-RPC. To read a webhook without a word on which one is a request with
/// an empty id.
///
/// # Errors
/// `InvalidParams` with every fault that was found.
pub(crate) fn decode_params(
    operation: Operation,
    params: &str,
    bounds: &Bounds,
) -> Result<Request, Error> {
    Ok(match operation {
        Operation::SendMessage => {
            let params: SendParams = decode_request_within(params, bounds)?;
            Request::SendMessage(params.into())
        }
        Operation::SendStreamingMessage => {
            let params: SendParams = decode_request_within(params, bounds)?;
            Request::SendStreamingMessage(params.into())
        }
        Operation::GetTask => {
            let params: TaskParams = decode_request_within(params, bounds)?;
            let mut request = GetTaskRequest::new(params.id);
            request.history_length = params.history_length;
            Request::GetTask(request)
        }
        Operation::CancelTask => {
            let params: TaskParams = decode_request_within(params, bounds)?;
            let mut request = CancelTaskRequest::new(params.id);
            request.metadata = params.metadata;
            Request::CancelTask(request)
        }
        Operation::SubscribeToTask => {
            let params: TaskParams = decode_request_within(params, bounds)?;
            Request::SubscribeToTask(SubscribeToTaskRequest::new(params.id))
        }
        Operation::CreateTaskPushNotificationConfig => {
            let params: SetWebhook = decode_request_within(params, bounds)?;
            let mut config = params.webhook.of_task(&params.task_id);
            if config.id.is_empty() {
                // Who sets another one without a name means to replace it.
                config.id = params.task_id;
            }
            Request::CreateTaskPushNotificationConfig(config)
        }
        Operation::GetTaskPushNotificationConfig => {
            let params: OneWebhook = decode_request_within(params, bounds)?;
            Request::GetTaskPushNotificationConfig(GetTaskPushNotificationConfigRequest::new(
                params.id,
                params.webhook_id,
            ))
        }
        Operation::ListTaskPushNotificationConfigs => {
            let params: TaskParams = decode_request_within(params, bounds)?;
            Request::ListTaskPushNotificationConfigs(ListTaskPushNotificationConfigsRequest::new(
                params.id,
            ))
        }
        Operation::DeleteTaskPushNotificationConfig => {
            let params: ThatWebhook = decode_request_within(params, bounds)?;
            Request::DeleteTaskPushNotificationConfig(DeleteTaskPushNotificationConfigRequest::new(
                params.id,
                params.webhook_id,
            ))
        }
        Operation::GetExtendedAgentCard => {
            Request::GetExtendedAgentCard(GetExtendedAgentCardRequest::new())
        }
        Operation::ListTasks => unreachable!("no method of 0.3 means it"),
    })
}

message! {
    /// Of `message/send` and `message/stream`.
    received SendParams {
        message: RpcMessage = "message", required;
        configuration: Option<RpcConfiguration> = "configuration";
        metadata: Metadata = "metadata";
    }
}

impl From<SendParams> for SendMessageRequest {
    fn from(params: SendParams) -> Self {
        let mut request = Self::new(params.message.into());
        request.configuration = params.configuration.map(Into::into);
        request.metadata = params.metadata;
        request
    }
}

message! {
    /// Of whatever is about a task.
    received TaskParams {
        id: String = "id" as Id, required;
        history_length: Option<i32> = "historyLength" | "history_length" as Length;
        metadata: Metadata = "metadata";
    }
}

message! {
    /// Of `tasks/pushNotificationConfig/set`.
    received SetWebhook {
        task_id: String = "taskId" | "task_id" as Id, required;
        webhook: Webhook = "pushNotificationConfig" | "push_notification_config", required;
    }
}

message! {
    /// Of `tasks/pushNotificationConfig/get`.
    received OneWebhook {
        id: String = "id" as Id, required;
        webhook_id: String = "pushNotificationConfigId" | "push_notification_config_id" as Id;
    }
}

message! {
    /// Of `tasks/pushNotificationConfig/delete`.
    received ThatWebhook {
        id: String = "id" as Id, required;
        webhook_id: String =
            "pushNotificationConfigId" | "push_notification_config_id" as Id, required;
    }
}
