use std::error::Error;

use bytes::Bytes;
use portcullis::{AgentEvent, Failure, FailureCode};
use uuid::Uuid;

/// One event as it goes out.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) json: Bytes,
    /// Whether nothing follows.
    pub(super) is_last: bool,
    /// Why the turn failed, if this is the end of one that did.
    pub(super) failure: Option<Failure>,
}

impl Line {
    pub(super) fn of(mut event: AgentEvent) -> Self {
        let failure = match &mut event {
            AgentEvent::Failed(failure) => {
                conceal(failure);
                Some(failure.clone())
            }
            _ => None,
        };
        let mut json = Vec::new();
        event.write_json(&mut json);
        Self {
            json: json.into(),
            is_last: event.is_terminal(),
            failure,
        }
    }
}

/// What is internal goes to the log, and a reference to the caller (ruling 9).
fn conceal(failure: &mut Failure) {
    if !failure.is(&FailureCode::INTERNAL) {
        return;
    }
    let reference = Uuid::now_v7();
    let source: &dyn Error = failure;
    tracing::error!(
        %reference,
        details = failure.details(),
        source = source.source().map(tracing::field::display),
        "a turn failed"
    );
    failure.set_details(format!("The agent failed. Reference: {reference}"));
}
