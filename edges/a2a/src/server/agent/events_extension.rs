use portcullis::{Failure, Json};
use serde::Serialize;

use crate::model::Metadata;

/// The extension that shows callers what an agent does beside answering.
///
/// Every [`Server::agent`](crate::server::Server::agent) declares it. For a task that was
/// opened with it active:
///
/// - Events that are no part of the answer (`thinking`, `tool_started`, `tool_ended`,
///   `retrying`, `usage`, and whatever the agent has of its own) come as a WORKING status
///   whose metadata has the event under this URI and `/event`.
/// - The status of a turn that failed has `code`, `retryable` and `retryAfterMs` under
///   this URI and `/failure`.
/// - A finished task can be subscribed to with a `Last-Event-ID`: what came after it is
///   sent again.
///
/// The task says so in its metadata, under this URI. It is fixed when the task is opened,
/// so that every watcher sees the same.
pub const EVENTS_EXTENSION: &str =
    "https://github.com/portcullis-rs/portcullis/extensions/agent-events/v1";

/// The event of an agent, as metadata of a status.
pub(super) fn event_metadata(event: Json) -> Metadata {
    Metadata::new().with(format!("{EVENTS_EXTENSION}/event"), event)
}

/// How a turn failed, as metadata of a status.
pub(in crate::server) fn failure_metadata(failure: &Failure) -> Metadata {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Shown<'a> {
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<&'a str>,
        retryable: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        retry_after_ms: Option<u64>,
    }

    let shown = Shown {
        code: failure.code().map(portcullis::FailureCode::as_str),
        retryable: failure.is_retryable(),
        retry_after_ms: failure
            .after()
            .map(|after| u64::try_from(after.as_millis()).unwrap_or(u64::MAX)),
    };
    let shown = Json::encode(&shown).expect("a text, a flag and a number");
    Metadata::new().with(format!("{EVENTS_EXTENSION}/failure"), shown)
}

/// What a task says that was opened with the extension active.
pub(in crate::server) fn task_metadata() -> Metadata {
    let active = Json::encode(&true).expect("a flag");
    Metadata::new().with(EVENTS_EXTENSION, active)
}
