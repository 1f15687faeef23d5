use super::{Answer, Frames};
use crate::{
    model::{
        Error, ErrorKind, GetTaskRequest, ListTaskPushNotificationConfigsRequest, Request,
        TaskState, v0_3::Form,
    },
    server::{self, Caller, Response, Server},
};

/// What a call of 0.3 is answered with.
pub(in crate::binding) enum Answered {
    Once(Answer),
    Stream(Frames),
}

/// Performs a call of 0.3.
///
/// # Errors
/// As [`Server::call`].
pub(in crate::binding) async fn perform(
    server: &Server,
    caller: &Caller,
    form: Form,
    request: Request,
) -> Result<Answered, Error> {
    let response = match request {
        Request::SubscribeToTask(request) => {
            let id = request.id.clone();
            match server.call(caller, Request::SubscribeToTask(request)).await {
                Err(error) if is_over(&error) => return finished(server, caller, form, id).await,
                answered => answered,
            }
        }
        Request::GetExtendedAgentCard(request) => {
            let request = Request::GetExtendedAgentCard(request);
            server
                .call(caller, request)
                .await
                .map_err(|error| match error.kind() {
                    // There, not to have one is not to have configured one.
                    ErrorKind::UnsupportedOperation => {
                        ErrorKind::ExtendedAgentCardNotConfigured.into()
                    }
                    _ => error,
                })
        }
        Request::GetTaskPushNotificationConfig(request) if request.id.is_empty() => {
            oldest_webhook(server, caller, request.task_id).await
        }
        request => server.call(caller, request).await,
    };
    Ok(match response? {
        Response::Answer(answer) => Answered::Once(Answer::new(form, answer)),
        Response::Stream(frames) => Answered::Stream(Frames::new(form, frames)),
    })
}

/// Whether a task was not watched since it is over.
fn is_over(error: &Error) -> bool {
    error.kind() == ErrorKind::UnsupportedOperation
        && error.metadata().any(|(name, value)| {
            name == "state" && TaskState::from_name(value).is_some_and(TaskState::is_terminal)
        })
}

/// There a task that is over is shown, and the stream ends (T-36).
async fn finished(
    server: &Server,
    caller: &Caller,
    form: Form,
    id: String,
) -> Result<Answered, Error> {
    let request = Request::GetTask(GetTaskRequest::new(id));
    match answer(server.call(caller, request).await?) {
        Some(server::Answer::Task(task)) => Ok(Answered::Stream(Frames::of_task(form, task))),
        _ => Err(ErrorKind::Internal.into()),
    }
}

/// The webhook of a task, without a word on which one.
async fn oldest_webhook(
    server: &Server,
    caller: &Caller,
    task_id: String,
) -> Result<Response, Error> {
    let request = ListTaskPushNotificationConfigsRequest::new(&*task_id);
    let request = Request::ListTaskPushNotificationConfigs(request);
    let oldest = match answer(server.call(caller, request).await?) {
        Some(server::Answer::PushConfigs(page)) => page.configs.into_iter().next(),
        _ => None,
    };
    let config = oldest.ok_or_else(|| Error::push_config_not_found(task_id, ""))?;
    Ok(server::Answer::PushConfig(config).into())
}

fn answer(response: Response) -> Option<server::Answer> {
    match response {
        Response::Answer(answer) => Some(*answer),
        Response::Stream(_) => None,
    }
}
