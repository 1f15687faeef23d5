use tonic::{Request, Response, Status, metadata::MetadataValue};

use super::{deadline::Deadline, events::Events};
use crate::{
    binding::http::addressing,
    model::{self, Error, Operation},
    proto::{
        Proto, Text,
        a2a::{self, a2a_service_server::A2aService},
        json, status_of,
    },
    server::{self, Answer, Caller, Server},
    wire::EXTENSIONS,
};

/// The operations as methods of the service. Who calls, and until when, is in the extensions of a
/// request.
#[derive(Clone)]
pub(super) struct Methods {
    server: Server,
}

impl Methods {
    pub(super) const fn new(server: Server) -> Self {
        Self { server }
    }

    /// Calls an operation, and says which extensions are active (A2A-EXT-7).
    async fn call<T: Text, R>(
        &self,
        operation: Operation,
        request: Request<T>,
        answer: impl FnOnce(server::Response, Deadline) -> Option<R>,
    ) -> Result<Response<R>, Status> {
        // Who is not known speaks no version, and is refused.
        let mut caller: Caller = request.extensions().get().cloned().unwrap_or_default();
        let deadline = request.extensions().get().copied();
        let params = json(&request.into_inner());
        if let Ok(params) = &params {
            caller = addressing(&self.server, caller, params);
        }
        let answered = self
            .server
            .handle_with(&caller, |bounds| {
                model::Request::decode(operation, &params?, bounds)
            })
            .await
            .map_err(|error| status_of(&error))?;
        let answer =
            answer(answered, deadline.unwrap_or_else(Deadline::never)).ok_or_else(|| {
                tracing::error!(%operation, "the server answered another operation");
                status_of(&Error::internal("the answer is of another operation"))
            })?;
        let mut response = Response::new(answer);
        let active = self.server.active_extensions(&caller).join(",");
        if let Ok(active) = MetadataValue::try_from(active)
            && !active.is_empty()
        {
            response.metadata_mut().insert(EXTENSIONS.as_str(), active);
        }
        Ok(response)
    }

    async fn stream<T: Text>(
        &self,
        operation: Operation,
        request: Request<T>,
    ) -> Result<Response<Events>, Status> {
        self.call(operation, request, |answered, deadline| match answered {
            server::Response::Stream(frames) => Some(Events::new(frames, deadline)),
            server::Response::Answer(_) => None,
        })
        .await
    }
}

/// Methods that answer once.
macro_rules! answering {
    ($($method:ident: $operation:ident($request:ident) -> $answer:ty = $pattern:pat => $value:expr;)*) => {
        #[tonic::async_trait]
        impl A2aService for Methods {
            $(
                async fn $method(
                    &self,
                    request: Request<a2a::$request>,
                ) -> Result<Response<$answer>, Status> {
                    self.call(Operation::$operation, request, |answered, _| match answered {
                        server::Response::Answer(answer) => match *answer {
                            $pattern => Some($value),
                            _ => None,
                        },
                        server::Response::Stream(_) => None,
                    })
                    .await
                }
            )*

            type SendStreamingMessageStream = Events;

            async fn send_streaming_message(
                &self,
                request: Request<a2a::SendMessageRequest>,
            ) -> Result<Response<Events>, Status> {
                self.stream(Operation::SendStreamingMessage, request).await
            }

            type SubscribeToTaskStream = Events;

            async fn subscribe_to_task(
                &self,
                request: Request<a2a::SubscribeToTaskRequest>,
            ) -> Result<Response<Events>, Status> {
                self.stream(Operation::SubscribeToTask, request).await
            }
        }
    };
}

answering! {
    send_message: SendMessage(SendMessageRequest) -> a2a::SendMessageResponse
        = Answer::Sent(sent) => sent.proto();
    get_task: GetTask(GetTaskRequest) -> a2a::Task
        = Answer::Task(task) => task.proto();
    list_tasks: ListTasks(ListTasksRequest) -> a2a::ListTasksResponse
        = Answer::Tasks(tasks) => tasks.proto();
    cancel_task: CancelTask(CancelTaskRequest) -> a2a::Task
        = Answer::Task(task) => task.proto();
    create_task_push_notification_config:
        CreateTaskPushNotificationConfig(TaskPushNotificationConfig)
        -> a2a::TaskPushNotificationConfig
        = Answer::PushConfig(config) => config.proto();
    get_task_push_notification_config:
        GetTaskPushNotificationConfig(GetTaskPushNotificationConfigRequest)
        -> a2a::TaskPushNotificationConfig
        = Answer::PushConfig(config) => config.proto();
    list_task_push_notification_configs:
        ListTaskPushNotificationConfigs(ListTaskPushNotificationConfigsRequest)
        -> a2a::ListTaskPushNotificationConfigsResponse
        = Answer::PushConfigs(configs) => configs.proto();
    delete_task_push_notification_config:
        DeleteTaskPushNotificationConfig(DeleteTaskPushNotificationConfigRequest)
        -> ()
        = Answer::Deleted => ();
    get_extended_agent_card: GetExtendedAgentCard(GetExtendedAgentCardRequest) -> a2a::AgentCard
        = Answer::Card(card) => card.proto();
}
