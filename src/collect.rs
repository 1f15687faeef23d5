//! Buffered consumption: the result of a turn instead of its events (section 7).

use std::{error::Error, fmt, future::poll_fn, pin::pin};

use futures_core::Stream;
use serde::de::DeserializeOwned;

use crate::{AgentEvent, Completed, Failure, Json, UsageTally};

/// What a turn came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Collected {
    /// All text, joined. Thinking is not part of it.
    pub text: String,
    /// The structured data, if the engine made any.
    pub data: Option<Json>,
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CollectError {
    /// The turn failed.
    Failed(Failure),
    /// The stream ended without a terminal event: what came may be half of it.
    Truncated,
}

impl fmt::Display for CollectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(_) => f.write_str("the turn failed"),
            Self::Truncated => f.write_str("the stream ended without a terminal event"),
        }
    }
}

impl Error for CollectError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Failed(failure) => Some(failure),
            Self::Truncated => None,
        }
    }
}

impl From<Failure> for CollectError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Reads a turn to its end and gives its result. Unknown events are ignored (MUST 4).
///
/// # Errors
///
/// When the turn fails, or ends without a terminal event.
///
/// # Cancel safety
///
/// Dropping the future drops the turn.
pub async fn collect<St>(events: St) -> Result<Collected, CollectError>
where
    St: Stream<Item = AgentEvent>,
{
    read(events, |_| ()).await
}

/// Like [`collect`], with what the calls consumed.
///
/// # Errors
///
/// As [`collect`]. The usage is given in either case: a failed turn costs as well.
pub async fn collect_with_usage<St>(events: St) -> (Result<Collected, CollectError>, UsageTally)
where
    St: Stream<Item = AgentEvent>,
{
    let mut tally = UsageTally::new();
    let result = read(events, |event| {
        if let AgentEvent::Usage(usage) = event {
            tally.record(usage);
        }
    })
    .await;
    (result, tally)
}

/// Reads a turn to its end and decodes its structured data.
///
/// # Errors
///
/// When the turn fails or is truncated, has no data, or has data that does not fit `T`.
pub async fn collect_as<T: DeserializeOwned, St>(events: St) -> Result<T, CollectAsError>
where
    St: Stream<Item = AgentEvent>,
{
    let collected = collect(events).await.map_err(CollectAsError::Turn)?;
    let data = collected.data.ok_or(CollectAsError::NoData)?;
    data.decode().map_err(CollectAsError::Decode)
}

/// Why there is no typed result.
#[derive(Debug)]
#[non_exhaustive]
pub enum CollectAsError {
    /// There is no result at all.
    Turn(CollectError),
    /// The turn completed without data.
    NoData,
    /// The data does not fit the type.
    Decode(serde_json::Error),
}

impl fmt::Display for CollectAsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Turn(_) => "the turn gave no result",
            Self::NoData => "the turn completed without data",
            Self::Decode(_) => "the data of the turn does not fit the type asked for",
        })
    }
}

impl Error for CollectAsError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Turn(error) => Some(error),
            Self::NoData => None,
            Self::Decode(error) => Some(error),
        }
    }
}

async fn read<St>(events: St, mut look: impl FnMut(&AgentEvent)) -> Result<Collected, CollectError>
where
    St: Stream<Item = AgentEvent>,
{
    let mut events = pin!(events);
    let mut text = String::new();
    while let Some(event) = poll_fn(|cx| events.as_mut().poll_next(cx)).await {
        look(&event);
        match event {
            AgentEvent::Text(piece) => text.push_str(piece.delta()),
            AgentEvent::Completed(completed) => {
                return Ok(Collected {
                    text,
                    data: Completed::into_data(completed),
                });
            }
            AgentEvent::Failed(failure) => return Err(failure.into()),
            AgentEvent::Thinking(_)
            | AgentEvent::ToolStarted(_)
            | AgentEvent::ToolEnded(_)
            | AgentEvent::Retrying(_)
            | AgentEvent::Usage(_)
            | AgentEvent::Extension(_) => {}
        }
    }
    Err(CollectError::Truncated)
}
