use std::{
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::Stream;
use tokio::time::{Sleep, sleep_until};
use tonic::Status;

use super::deadline::Deadline;
use crate::{
    model::Error,
    proto::{Proto, a2a, status_of},
    server::{Frame, Frames},
};

/// The frames of a stream as messages. It ends well after the last of them, or with the status of
/// whatever broke it, which is the status that the same error has before a stream (A2A-GRPC-7,
/// O-G06).
///
/// Dropping it, as a cancelled call does, takes a watcher away and nothing else.
pub(super) struct Events {
    /// `None` when it is over.
    frames: Option<Frames>,
    deadline: Option<Pin<Box<Sleep>>>,
}

impl Events {
    pub(super) fn new(frames: Frames, deadline: Deadline) -> Self {
        Self {
            frames: Some(frames),
            deadline: deadline.at().map(|at| Box::pin(sleep_until(at))),
        }
    }
}

impl Stream for Events {
    type Item = Result<a2a::StreamResponse, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        let Some(frames) = &mut this.frames else {
            return Poll::Ready(None);
        };
        // A stream that is never silent ends at its deadline all the same.
        let is_late = this
            .deadline
            .as_mut()
            .is_some_and(|deadline| deadline.as_mut().poll(cx).is_ready());
        let item = if is_late {
            Some(Err(Deadline::passed()))
        } else {
            match Pin::new(frames).poll_next(cx) {
                Poll::Ready(frame) => frame.map(|frame| message(frame.as_ref())),
                Poll::Pending => return Poll::Pending,
            }
        };
        if !matches!(item, Some(Ok(_))) {
            this.frames = None;
        }
        Poll::Ready(item)
    }
}

fn message(frame: Result<&Frame, &Error>) -> Result<a2a::StreamResponse, Status> {
    let frame = frame.map_err(status_of)?;
    match frame.decode() {
        Ok(response) => Ok(response.proto()),
        Err(error) => {
            tracing::error!(%error, "an event of the log is damaged");
            Err(status_of(&Error::internal(error)))
        }
    }
}
