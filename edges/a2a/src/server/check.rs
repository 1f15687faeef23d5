//! Every check before an operation but that of the version, in the one order of A2A-OP-11:
//! capability, required extensions, tenant, task of this owner, context, state, content types.

use portcullis::{Peer, Principal, TraceContext};
use portcullis_session::RESERVED_PREFIX;

use super::{Caller, Operation, Request, Tenants, media_type};
use crate::{
    log::{Owner, Snapshot, TaskKey},
    model::{AgentCard, Error, ErrorKind, Message, SendMessageRequest, TaskState},
    server::core::Core,
};

/// A caller who may ask for this.
#[derive(Clone)]
pub(super) struct Standing {
    pub(super) owner: Owner,
    pub(super) tenant: Option<String>,
    pub(super) principal: Option<Principal>,
    /// The extensions that are active.
    pub(super) extensions: Vec<String>,
    pub(super) trace: Option<TraceContext>,
    pub(super) peer: Option<Peer>,
}

/// What can be checked without looking at any task.
pub(super) fn standing(
    card: &AgentCard,
    has_extended_card: bool,
    tenants: Tenants,
    name: Option<&str>,
    caller: &Caller,
    request: &Request,
) -> Result<Standing, Error> {
    let operation = request.operation();
    capability(card, has_extended_card, operation)?;
    inline_webhook(card, request)?;
    let extensions = extensions(card, caller)?;
    let tenant = tenant(card, tenants, name, caller, request)?;
    let owner = Owner::new(tenant.as_deref(), caller.principal());
    Ok(Standing {
        owner: name.map_or(owner.clone(), |name| owner.in_namespace(name)),
        tenant,
        principal: caller.principal().cloned(),
        extensions,
        trace: caller.trace().cloned(),
        peer: caller.peer(),
    })
}

/// Optional operations that the card does not declare (A2A-OP-4..6).
fn capability(
    card: &AgentCard,
    has_extended_card: bool,
    operation: Operation,
) -> Result<(), Error> {
    let capabilities = &card.capabilities;
    match operation {
        Operation::SendMessage
        | Operation::GetTask
        | Operation::ListTasks
        | Operation::CancelTask => Ok(()),
        Operation::SendStreamingMessage | Operation::SubscribeToTask => {
            if capabilities.streaming == Some(true) {
                Ok(())
            } else {
                Err(Error::unsupported_method(operation.as_str()))
            }
        }
        Operation::CreateTaskPushNotificationConfig
        | Operation::GetTaskPushNotificationConfig
        | Operation::ListTaskPushNotificationConfigs
        | Operation::DeleteTaskPushNotificationConfig => {
            if capabilities.push_notifications == Some(true) {
                Ok(())
            } else {
                Err(Error::new(ErrorKind::PushNotificationNotSupported))
            }
        }
        Operation::GetExtendedAgentCard => {
            if capabilities.extended_agent_card != Some(true) {
                Err(Error::unsupported_method(operation.as_str()))
            } else if has_extended_card {
                Ok(())
            } else {
                Err(Error::new(ErrorKind::ExtendedAgentCardNotConfigured))
            }
        }
    }
}

/// A webhook that comes with a message needs the capability too (A2A-OP-53).
fn inline_webhook(card: &AgentCard, request: &Request) -> Result<(), Error> {
    let (Request::SendMessage(send) | Request::SendStreamingMessage(send)) = request else {
        return Ok(());
    };
    let asks = send
        .configuration
        .as_ref()
        .is_some_and(|wishes| wishes.task_push_notification_config.is_some());
    if asks && card.capabilities.push_notifications != Some(true) {
        return Err(Error::new(ErrorKind::PushNotificationNotSupported));
    }
    Ok(())
}

/// The extensions that are active, if all that are required are among them (ruling 19).
fn extensions(card: &AgentCard, caller: &Caller) -> Result<Vec<String>, Error> {
    let asked = caller.extensions();
    let missing: Vec<&str> = card
        .extensions()
        .filter(|extension| extension.required && !asked.contains(&extension.uri))
        .map(|extension| extension.uri.as_str())
        .collect();
    if missing.is_empty() {
        Ok(active(card, caller))
    } else {
        Err(Error::new(ErrorKind::ExtensionSupportRequired).with("extensions", missing.join(",")))
    }
}

/// Those that the caller asks for and the card declares, in the caller's order.
pub(super) fn active(card: &AgentCard, caller: &Caller) -> Vec<String> {
    let declared = |uri: &str| card.extensions().any(|extension| extension.uri == uri);
    let mut active: Vec<String> = Vec::new();
    for uri in caller.extensions() {
        if declared(uri) && !active.contains(uri) {
            active.push(uri.clone());
        }
    }
    active
}

/// The tenant, which address and body may both name but not differently. That of the agent's own name
/// is none: so it is addressed among several. One that nobody has heard of has no tasks (A2A-OP-10).
fn tenant(
    card: &AgentCard,
    tenants: Tenants,
    name: Option<&str>,
    caller: &Caller,
    request: &Request,
) -> Result<Option<String>, Error> {
    let of_body = request.tenant();
    let tenant = match caller.tenant() {
        Some(tenant) if of_body.is_empty() || of_body == tenant => tenant,
        Some(_) => {
            let description = "does not match the tenant of the address";
            return Err(Error::invalid_param("tenant", description));
        }
        None => of_body,
    };
    if tenant.is_empty() || name == Some(tenant) {
        return Ok(None);
    }
    if tenant.contains(char::is_control) {
        let description = "must not hold control characters";
        return Err(Error::invalid_param("tenant", description));
    }
    let known = match tenants {
        Tenants::Any => true,
        Tenants::OfCard => card
            .supported_interfaces
            .iter()
            .any(|interface| interface.tenant == tenant),
    };
    if known {
        return Ok(Some(tenant.to_owned()));
    }
    Err(match task_of(request) {
        Some(id) => Error::task_not_found(id),
        None => Error::invalid_param("tenant", "unknown tenant"),
    })
}

/// The task that a request names.
fn task_of(request: &Request) -> Option<&str> {
    let id = match request {
        Request::SendMessage(request) | Request::SendStreamingMessage(request) => {
            &request.message.task_id
        }
        Request::GetTask(request) => &request.id,
        Request::CancelTask(request) => &request.id,
        Request::SubscribeToTask(request) => &request.id,
        Request::CreateTaskPushNotificationConfig(config) => &config.task_id,
        Request::GetTaskPushNotificationConfig(request) => &request.task_id,
        Request::ListTaskPushNotificationConfigs(request) => &request.task_id,
        Request::DeleteTaskPushNotificationConfig(request) => &request.task_id,
        Request::ListTasks(_) | Request::GetExtendedAgentCard(_) => return None,
    };
    Some(id.as_str()).filter(|id| !id.is_empty())
}

/// The task of this owner. Absent and foreign are the same answer, found the same way
/// (A2A-OP-3, A2A-SEC-7).
pub(super) async fn task(
    core: &Core,
    owner: &Owner,
    id: &str,
) -> Result<(TaskKey, Snapshot), Error> {
    let key = TaskKey::new(owner.clone(), id);
    match core.log.snapshot(&key).await {
        Ok(Some(snapshot)) => Ok((key, snapshot)),
        Ok(None) => Err(Error::task_not_found(id)),
        Err(error) => Err(internal(core, error)),
    }
}

/// A fault of the server: the cause goes to the log, the caller reads the prescribed text
/// and what finds the cause there (O-A03, A2A-RPC-26, A2A-SEC-17).
pub(super) fn internal(
    core: &Core,
    error: impl std::error::Error + Send + Sync + 'static,
) -> Error {
    let reference = core.ids.next(super::IdKind::Reference);
    tracing::error!(
        %error,
        source = error.source().map(tracing::field::display),
        %reference,
        "an operation failed"
    );
    Error::internal(error).with_reference(reference)
}

/// A message to a task says nothing of its context, or the right one (A2A-OP-20).
pub(super) fn context_of_task(message: &Message, snapshot: &Snapshot) -> Result<(), Error> {
    if message.context_id.is_empty() || message.context_id == snapshot.task().context_id {
        return Ok(());
    }
    let description = "does not match the context of the task";
    Err(Error::invalid_param("message.contextId", description))
}

/// Where the context id is the session, it must not look like the session of somebody who
/// is known (ruling 18).
pub(super) fn context_of_new_task(message: &Message, standing: &Standing) -> Result<(), Error> {
    let is_bare = standing.owner == Owner::ANONYMOUS;
    if is_bare && message.context_id.starts_with(RESERVED_PREFIX) {
        let description = "begins with a reserved prefix";
        return Err(Error::invalid_param("message.contextId", description));
    }
    Ok(())
}

/// A task that is over takes nothing more (A2A-OP-24, A2A-OP-92).
pub(super) fn not_over(snapshot: &Snapshot, message: &'static str) -> Result<(), Error> {
    let state = snapshot.task().status.state;
    if state.is_terminal() {
        return Err(refusal_of_state(
            ErrorKind::UnsupportedOperation,
            message,
            &snapshot.task().id,
            state,
        ));
    }
    Ok(())
}

/// A refusal that says in which state a task is.
pub(super) fn refusal_of_state(
    kind: ErrorKind,
    message: &'static str,
    task_id: &str,
    state: TaskState,
) -> Error {
    Error::with_message(kind, message)
        .with("taskId", task_id)
        .with("state", state.as_str())
}

/// What the message holds and what the caller can read (A2A-OP-38, A2A-OP-39).
pub(super) fn content(card: &AgentCard, request: &SendMessageRequest) -> Result<(), Error> {
    media_type::check_parts(card, &request.message)?;
    let accepted = request
        .configuration
        .as_ref()
        .map_or(&[][..], |wishes| &wishes.accepted_output_modes);
    media_type::check_output(card, accepted)
}
