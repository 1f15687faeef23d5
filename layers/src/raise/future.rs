use std::{
    collections::VecDeque,
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use pin_project::pin_project;
use portcullis::{Agent, AgentEvent, Failure, UsageSink};

use super::RaiseStream;

/// Waits for the first event that tells whether the turn is worth handing over.
///
/// # Cancel safety
///
/// Dropping it stops the turn. Usage that it held back has gone to the scope's sink.
#[pin_project]
#[must_use = "futures do nothing unless polled"]
pub struct RaiseFuture<S: Agent> {
    #[pin]
    call: S::Future,
    /// One box a turn: the stream has begun when it is handed over, and may not move.
    events: Option<Pin<Box<S::Response>>>,
    held: VecDeque<AgentEvent>,
    hold_back: usize,
    run: Option<u32>,
    sink: Option<UsageSink>,
}

impl<S: Agent> RaiseFuture<S> {
    pub(super) const fn new(
        call: S::Future,
        hold_back: usize,
        run: Option<u32>,
        sink: Option<UsageSink>,
    ) -> Self {
        Self {
            call,
            events: None,
            held: VecDeque::new(),
            hold_back,
            run,
            sink,
        }
    }
}

impl<S: Agent> Future for RaiseFuture<S> {
    type Output = Result<RaiseStream<S::Response>, Failure>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let events = match this.events {
            Some(events) => events,
            None => {
                let Ok(events) = ready!(this.call.poll(cx));
                this.events.insert(Box::pin(events))
            }
        };
        loop {
            let event = ready!(events.as_mut().poll_next(cx));
            match event {
                Some(AgentEvent::Failed(failure)) => {
                    // The work stops before anybody starts it again.
                    *this.events = None;
                    return Poll::Ready(Err(failure));
                }
                Some(event @ (AgentEvent::Retrying(_) | AgentEvent::Usage(_)))
                    if this.held.len() < *this.hold_back =>
                {
                    if let (AgentEvent::Usage(usage), Some(sink)) = (&event, &this.sink) {
                        // If the turn fails or is dropped now, the event reaches nobody.
                        sink.report(usage);
                    }
                    this.held.push_back(event);
                }
                event => {
                    let ended = event.as_ref().is_none_or(AgentEvent::is_terminal);
                    this.held.extend(event);
                    let events = this.events.take().filter(|_| !ended);
                    let held = std::mem::take(this.held);
                    return Poll::Ready(Ok(RaiseStream::new(held, events, *this.run)));
                }
            }
        }
    }
}

impl<S: Agent> fmt::Debug for RaiseFuture<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RaiseFuture")
            .field("held", &self.held.len())
            .finish_non_exhaustive()
    }
}
