use std::time::Instant;

use portcullis::{Failure, Json, Scope};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::{
    agent_events::{EVENT, EVENTS_EXTENSION, FAILURE, PROMPT, SCOPE, bind, member},
    model::Metadata,
};

/// The event of an agent, as metadata of a status or an artifact.
pub(super) fn event_metadata(event: Json) -> Metadata {
    Metadata::new().with(EVENT, event)
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
        #[serde(flatten)]
        extra: Option<std::collections::BTreeMap<String, Box<RawValue>>>,
    }

    // What is internal stays here with all that it has.
    let is_shown = !failure.is(&portcullis::FailureCode::INTERNAL) && !failure.extra().is_empty();
    let extra = is_shown.then(|| {
        let members = failure.extra().iter();
        members
            .filter_map(|(name, text)| {
                Some((name.into_owned(), Json::from_text(text).ok()?.into()))
            })
            .collect()
    });
    let shown = Shown {
        code: failure.code().map(portcullis::FailureCode::as_str),
        retryable: failure.is_retryable(),
        retry_after_ms: failure
            .after()
            .map(|after| u64::try_from(after.as_millis()).unwrap_or(u64::MAX)),
        extra,
    };
    let shown = Json::encode(&shown).expect("texts, a flag, a number and JSON");
    Metadata::new().with(FAILURE, shown)
}

/// What a task says that was opened with the extension active.
pub(in crate::server) fn task_metadata() -> Metadata {
    let active = Json::encode(&true).expect("a flag");
    Metadata::new().with(EVENTS_EXTENSION, active)
}

/// The scope, bound by what a caller says of it, where that can be read.
pub(super) fn narrow(scope: Scope, metadata: &Metadata, now: Instant) -> Scope {
    let Some(told) = member(metadata, SCOPE) else {
        return scope;
    };
    match Scope::from_json_at(told.as_str(), now) {
        Ok(told) => bind(scope, &told),
        Err(error) => {
            tracing::debug!(%error, "the scope of a caller cannot be read and is left out");
            scope
        }
    }
}

/// The members of the prompt that a message has beside its parts.
pub(super) fn prompt_members(metadata: &Metadata) -> Vec<(String, Json)> {
    let members = member(metadata, PROMPT).and_then(|told| told.decode::<Metadata>().ok());
    members
        .iter()
        .flat_map(Metadata::iter)
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .collect()
}
