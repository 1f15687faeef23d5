use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use http_body::Body;
use portcullis_sse::Parser;
use tokio::time::{Instant, Sleep, sleep};

use super::{binding::Envelope, error::CallError, limits::Limits, transport::ReplyBody};
use crate::{
    model::{StreamResponse, decode_response},
    wire::Members,
};

/// The events in the body of a response.
pub(super) struct Frames {
    envelope: Envelope,
    body: Option<ReplyBody>,
    /// What of the last chunk is not read yet.
    chunk: Bytes,
    parser: Parser,
    idle: Duration,
    silence: Pin<Box<Sleep>>,
}

/// What came: an event, or something that this build knows nothing of.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) id: Option<Arc<str>>,
    pub(super) response: Option<StreamResponse>,
}

impl Frames {
    pub(super) fn new(envelope: Envelope, body: ReplyBody, limits: &Limits) -> Self {
        let idle = limits.silence();
        Self {
            envelope,
            body: Some(body),
            chunk: Bytes::new(),
            parser: Parser::new(limits.of_events()),
            idle,
            silence: Box::pin(sleep(idle)),
        }
    }

    /// The next event; `None` where the body ends, however it does.
    pub(super) fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Told, CallError>>> {
        loop {
            if let Some(told) = self.at_hand().transpose() {
                return Poll::Ready(Some(told));
            }
            let Some(body) = &mut self.body else {
                return Poll::Ready(None);
            };
            match Pin::new(body).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    self.silence.as_mut().reset(Instant::now() + self.idle);
                    if let Ok(data) = frame.into_data() {
                        self.chunk = data;
                    }
                }
                // The caller must recover just as from a clean end that comes too early.
                Poll::Ready(Some(Err(error))) => {
                    tracing::debug!(%error, "the connection broke");
                    return Poll::Ready(self.finish().map(Ok));
                }
                Poll::Ready(None) => return Poll::Ready(self.finish().map(Ok)),
                Poll::Pending => {
                    ready!(self.silence.as_mut().poll(cx));
                    return Poll::Ready(Some(Err(CallError::Idle)));
                }
            }
        }
    }

    /// How long the server wants to be left alone before somebody comes back.
    pub(super) const fn retry(&self) -> Option<Duration> {
        self.parser.retry()
    }

    fn at_hand(&mut self) -> Result<Option<Told>, CallError> {
        let chunk = std::mem::take(&mut self.chunk);
        let mut rest = &chunk[..];
        let frame = self.parser.next(&mut rest).map_err(CallError::too_long)?;
        self.chunk = chunk.slice_ref(rest);
        let Some(frame) = frame else { return Ok(None) };
        read(&self.envelope, &frame.data, frame.id).map(Some)
    }

    /// An event without its blank line counts if it is whole (A2A-RPC-19).
    fn finish(&mut self) -> Option<Told> {
        self.body = None;
        let frame = self.parser.finish().ok()??;
        read(&self.envelope, &frame.data, frame.id).ok()
    }
}

/// Reads one event.
pub(super) fn read(
    envelope: &Envelope,
    data: &[u8],
    id: Option<Arc<str>>,
) -> Result<Told, CallError> {
    let Some(result) = envelope.open(data)? else {
        return Err(CallError::protocol("an event has no result"));
    };
    match decode_response::<StreamResponse>(result) {
        Ok(response) => Ok(Told {
            id,
            response: Some(response),
        }),
        Err(_) if is_unknown(result) => {
            tracing::debug!("an event of a kind that nobody knows is left out");
            Ok(Told { id, response: None })
        }
        Err(error) => Err(CallError::protocol(format!(
            "an event is not valid: {error}"
        ))),
    }
}

/// Whether it is an event of a later version: an object with members, and none by which this
/// version would know it. Members that nobody knows are left out (section 5.7), and so is what has
/// no other. An envelope, or a bare task as earlier versions sent it, is no event of a later one.
fn is_unknown(result: &str) -> bool {
    const KNOWN: [&str; 10] = [
        "task",
        "message",
        "statusUpdate",
        "status_update",
        "artifactUpdate",
        "artifact_update",
        "jsonrpc",
        "error",
        "kind",
        "id",
    ];
    let members: Result<Members<'_>, _> = serde_json::from_str(result);
    members.is_ok_and(|Members(members)| {
        !members.is_empty() && members.iter().all(|(name, _)| !KNOWN.contains(&&**name))
    })
}
