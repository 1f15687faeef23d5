//! Why a turn failed, from what the transport or the server says.

use std::time::Duration;

use http::{Response, StatusCode, header::RETRY_AFTER};
use http_body_util::BodyExt;
use portcullis::{AgentEvent, Failure, FailureCode};
use tokio::time::timeout;

use super::{
    events::Broken,
    transport::{BoxError, ReplyBody},
};
use crate::wire::{PROBLEM, ProblemRead, code_of};

/// How much of a refusal is read.
const PROBLEM_LIMIT: usize = 64 << 10;

/// There is no response.
pub(super) fn of_transport(error: BoxError) -> Failure {
    Failure::with_code(FailureCode::UNAVAILABLE, "the agent cannot be reached")
        .retryable(true)
        .caused_by(error)
}

/// The events broke off.
pub(super) fn of_broken(broken: Broken) -> Failure {
    let failure = match &broken {
        Broken::Cut(_) => Failure::with_code(
            FailureCode::UNAVAILABLE,
            "the connection to the agent broke",
        )
        .retryable(true),
        Broken::Idle => silent(),
        Broken::Breach(_) => {
            Failure::with_code(FailureCode::CONTRACT_VIOLATION, broken.to_string())
        }
    };
    failure.caused_by(broken)
}

/// Nothing came for too long.
pub(super) fn silent() -> Failure {
    Failure::with_code(FailureCode::TIMEOUT, "the agent was silent for too long").retryable(true)
}

/// A status that is no success (O-S09: its body is read).
pub(super) async fn of_refusal(response: Response<ReplyBody>, idle: Duration) -> Failure {
    let (head, body) = response.into_parts();
    let media_type = head.headers.get(http::header::CONTENT_TYPE);
    let is_problem =
        media_type.is_some_and(|value| value.as_bytes().starts_with(PROBLEM.as_bytes()));
    let told = if is_problem {
        read(body, idle).await
    } else {
        None
    };
    let mut failure = match told {
        Some(ProblemRead {
            event: Some(AgentEvent::Failed(failure)),
            ..
        }) => failure,
        told => of_status(head.status, told.and_then(|told| told.detail)),
    };
    if failure.after().is_none() {
        let seconds = head.headers.get(RETRY_AFTER);
        let seconds = seconds.and_then(|value| value.to_str().ok()?.trim().parse().ok());
        failure.set_retry_after(seconds.map(Duration::from_secs));
    }
    failure
}

/// Reads problem details. What is too long, comes too slowly or is something else is none.
async fn read(body: ReplyBody, idle: Duration) -> Option<ProblemRead> {
    let whole = timeout(idle, whole(body)).await.ok()??;
    serde_json::from_slice(&whole).ok()
}

async fn whole(mut body: ReplyBody) -> Option<Vec<u8>> {
    let mut whole = Vec::new();
    while let Some(frame) = body.frame().await {
        // What came may be whole by itself.
        let Ok(frame) = frame else { break };
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if whole.len() + data.len() > PROBLEM_LIMIT {
            return None;
        }
        whole.extend_from_slice(&data);
    }
    Some(whole)
}

fn of_status(status: StatusCode, detail: Option<String>) -> Failure {
    let (code, retryable) = code_of(status);
    let details = detail.unwrap_or_else(|| format!("the server answered {status}"));
    Failure::with_code(code, details).retryable(retryable)
}
