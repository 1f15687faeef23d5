//! The eleven operations.

use super::{connection::Client, error::CallError, events::EventStream, transport::Transport};
use crate::model::{
    AgentCard, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest,
    ListTaskPushNotificationConfigsRequest, ListTaskPushNotificationConfigsResponse,
    ListTasksRequest, ListTasksResponse, Operation, SendMessageRequest, SendMessageResponse,
    SubscribeToTaskRequest, Task, TaskPushNotificationConfig,
};

impl<T: Transport> Client<T> {
    /// Sends a message and waits for its task or its answer.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn send_message(
        &self,
        request: &SendMessageRequest,
    ) -> Result<SendMessageResponse, CallError> {
        self.call(Operation::SendMessage, request, &request.tenant)
            .await
    }

    /// Sends a message and follows what happens. A refusal is an error here already.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn send_streaming_message(
        &self,
        request: &SendMessageRequest,
    ) -> Result<EventStream, CallError> {
        self.stream(
            Operation::SendStreamingMessage,
            request,
            &request.tenant,
            None,
        )
        .await
    }

    /// Reads a task.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn get_task(&self, request: &GetTaskRequest) -> Result<Task, CallError> {
        self.call(Operation::GetTask, request, &request.tenant)
            .await
    }

    /// A page of the caller's tasks.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn list_tasks(
        &self,
        request: &ListTasksRequest,
    ) -> Result<ListTasksResponse, CallError> {
        self.call(Operation::ListTasks, request, &request.tenant)
            .await
    }

    /// Asks a task to stop.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn cancel_task(&self, request: &CancelTaskRequest) -> Result<Task, CallError> {
        self.call(Operation::CancelTask, request, &request.tenant)
            .await
    }

    /// Joins a running task: the task as it is, then what happens. With the id of an event, the
    /// first frame is the task as of that event, and everything after follows, where the server
    /// can.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn subscribe_to_task(
        &self,
        request: &SubscribeToTaskRequest,
        last_event_id: Option<&str>,
    ) -> Result<EventStream, CallError> {
        let stream = self
            .stream(
                Operation::SubscribeToTask,
                request,
                &request.tenant,
                last_event_id,
            )
            .await?;
        Ok(stream.of_task(&request.id))
    }

    /// Leaves a webhook for a task.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn create_push_config(
        &self,
        config: &TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig, CallError> {
        let operation = Operation::CreateTaskPushNotificationConfig;
        self.call(operation, config, &config.tenant).await
    }

    /// Reads one webhook of a task.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn push_config(
        &self,
        request: &GetTaskPushNotificationConfigRequest,
    ) -> Result<TaskPushNotificationConfig, CallError> {
        let operation = Operation::GetTaskPushNotificationConfig;
        self.call(operation, request, &request.tenant).await
    }

    /// Reads the webhooks of a task.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn list_push_configs(
        &self,
        request: &ListTaskPushNotificationConfigsRequest,
    ) -> Result<ListTaskPushNotificationConfigsResponse, CallError> {
        let operation = Operation::ListTaskPushNotificationConfigs;
        self.call(operation, request, &request.tenant).await
    }

    /// Removes a webhook; one that is gone already too.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn delete_push_config(
        &self,
        request: &DeleteTaskPushNotificationConfigRequest,
    ) -> Result<(), CallError> {
        self.delete(request, &request.tenant).await
    }

    /// Reads the card for those who authenticate.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn extended_card(
        &self,
        request: &GetExtendedAgentCardRequest,
    ) -> Result<AgentCard, CallError> {
        let operation = Operation::GetExtendedAgentCard;
        self.call(operation, request, &request.tenant).await
    }

    /// The same as JSON text, which over the bindings of JSON is as it was received.
    pub(super) async fn extended_card_text(
        &self,
        request: &GetExtendedAgentCardRequest,
    ) -> Result<String, CallError> {
        let operation = Operation::GetExtendedAgentCard;
        self.call_text::<AgentCard>(operation, request, &request.tenant)
            .await
    }
}
