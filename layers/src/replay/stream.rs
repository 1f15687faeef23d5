use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use portcullis::{AgentEvent, Failure};
use tokio::time::{Instant, Sleep, sleep_until};

use super::Recording;

/// The events of a recorded turn.
///
/// # Cancel safety
///
/// Dropping it stops the turn.
#[must_use = "streams do nothing unless polled"]
pub struct ReplayStream {
    /// Or why there is none, to be said once.
    recording: Result<Recording, Option<Failure>>,
    next: usize,
    clock: Option<Clock>,
}

struct Clock {
    /// Since the first poll.
    began: Option<Instant>,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl ReplayStream {
    pub(super) fn new(recording: Result<Recording, Failure>, timed: bool) -> Self {
        Self {
            recording: recording.map_err(Some),
            next: 0,
            clock: timed.then_some(Clock {
                began: None,
                sleep: None,
            }),
        }
    }
}

impl Stream for ReplayStream {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        let this = &mut *self;
        let recording = match &mut this.recording {
            Ok(recording) => recording,
            Err(failure) => return Poll::Ready(failure.take().map(AgentEvent::Failed)),
        };
        let Some((at, event)) = recording.event(this.next) else {
            return Poll::Ready(None);
        };
        if let Some(clock) = &mut this.clock {
            let began = *clock.began.get_or_insert_with(Instant::now);
            // A time that no clock can show is one that nobody waits for.
            if let Some(due) = began.checked_add(*at)
                && Instant::now() < due
            {
                let sleep = clock
                    .sleep
                    .get_or_insert_with(|| Box::pin(sleep_until(due)));
                if sleep.deadline() != due {
                    sleep.as_mut().reset(due);
                }
                ready!(sleep.as_mut().poll(cx));
            }
        }
        this.next += 1;
        Poll::Ready(Some(event.clone()))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = match &self.recording {
            Ok(recording) => recording.events().len() - self.next,
            Err(failure) => usize::from(failure.is_some()),
        };
        (left, Some(left))
    }
}

impl fmt::Debug for ReplayStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplayStream")
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}
