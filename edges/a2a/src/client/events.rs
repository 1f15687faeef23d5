use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use futures_core::Stream;
use tokio::time::{Sleep, sleep};

#[cfg(feature = "grpc")]
use super::messages::Messages;
use super::{
    binding::Envelope,
    course::Course,
    error::CallError,
    frames::{self, Frames, Told},
    limits::Limits,
    transport::ReplyBody,
};
use crate::model::StreamResponse;

/// One event of a stream.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Event {
    /// Where the stream can be resumed, when the server gives ids. Events share it while it stays.
    pub id: Option<Arc<str>>,
    /// What happened.
    pub response: StreamResponse,
}

/// The events of a task, or the one message that answers.
///
/// It ends after the last event of a task, or when the task waits for the caller. A connection
/// that ends before gives [`CallError::Cut`] as the last item (O-S10). A server that says more
/// after the end, or leaves the connection open, is not waited for.
///
/// An event of a kind that this build does not know is left out; one of another task, or one that
/// cannot be read, is an error, and the last item.
///
/// # Cancel safety
/// Dropping it closes the connection. The task goes on.
pub struct EventStream {
    source: Source,
    course: Course,
    retry: Option<Duration>,
    /// From the last event on: until when it may come again.
    closing: Option<Pin<Box<Sleep>>>,
}

enum Source {
    Frames(Box<Frames>),
    #[cfg(feature = "grpc")]
    Messages(Box<Messages>),
    /// A reply in one piece, as some servers give to a streaming call (A2A-RPC-22).
    One(Box<Option<Told>>),
    Over,
}

/// How long a server may take to close a stream, or to send the whole task again (A2A-OP-57).
const CLOSING: Duration = Duration::from_secs(1);

impl EventStream {
    pub(super) fn new(envelope: Envelope, body: ReplyBody, limits: &Limits) -> Self {
        Self::of(Source::Frames(Box::new(Frames::new(
            envelope, body, limits,
        ))))
    }

    #[cfg(feature = "grpc")]
    pub(super) fn of_messages(messages: Messages) -> Self {
        Self::of(Source::Messages(Box::new(messages)))
    }

    pub(super) fn one(envelope: &Envelope, reply: &[u8]) -> Result<Self, CallError> {
        let told = frames::read(envelope, reply, None)?;
        Ok(Self::of(Source::One(Box::new(Some(told)))))
    }

    fn of(source: Source) -> Self {
        Self {
            source,
            course: Course::default(),
            retry: None,
            closing: None,
        }
    }

    /// Of this task and no other.
    pub(super) fn of_task(mut self, task_id: &str) -> Self {
        self.course = Course::of_task(task_id);
        self
    }

    /// The task that the stream is about, once it said so.
    #[must_use]
    pub fn task_id(&self) -> Option<&str> {
        self.course.task_id()
    }

    /// The id of the last event, to resume after.
    #[must_use]
    pub fn last_event_id(&self) -> Option<&str> {
        self.course.last_event_id()
    }

    /// How long the server wants to be left alone before somebody comes back.
    pub(super) const fn retry(&self) -> Option<Duration> {
        self.retry
    }

    fn close(&mut self) -> Source {
        if let Source::Frames(frames) = &self.source {
            self.retry = frames.retry();
        }
        std::mem::replace(&mut self.source, Source::Over)
    }

    fn poll_told(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Told, CallError>>> {
        match &mut self.source {
            Source::Frames(frames) => frames.poll_next(cx),
            #[cfg(feature = "grpc")]
            Source::Messages(messages) => messages.poll_next(cx),
            Source::One(told) => Poll::Ready(told.take().map(Ok)),
            Source::Over => Poll::Ready(None),
        }
    }

    /// Whether the last event was a while ago.
    fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if !self.course.is_over() {
            return Poll::Pending;
        }
        let closing = self.closing.get_or_insert_with(|| Box::pin(sleep(CLOSING)));
        closing.as_mut().poll(cx)
    }

    fn end(&mut self) -> Poll<Option<Result<Event, CallError>>> {
        let was_open = !matches!(self.close(), Source::Over);
        let end = if was_open { self.course.end() } else { Ok(()) };
        Poll::Ready(end.err().map(Err))
    }

    fn fail(&mut self, error: CallError) -> Poll<Option<Result<Event, CallError>>> {
        self.close();
        // Whatever the server does after the end.
        let error = Some(error).filter(|_| !self.course.is_over());
        Poll::Ready(error.map(Err))
    }
}

impl Stream for EventStream {
    type Item = Result<Event, CallError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            let told = match this.poll_told(cx) {
                Poll::Ready(told) => told,
                Poll::Pending => {
                    ready!(this.poll_closed(cx));
                    return this.end();
                }
            };
            match told {
                Some(Ok(Told { id, response })) => {
                    let Some(response) = response else { continue };
                    match this.course.take(&response, id.as_ref()) {
                        Ok(true) => return Poll::Ready(Some(Ok(Event { id, response }))),
                        // However busy it is, its time is over.
                        Ok(false) if this.poll_closed(cx).is_ready() => return this.end(),
                        Ok(false) => {}
                        Err(error) => return this.fail(error),
                    }
                }
                Some(Err(error)) => return this.fail(error),
                None => return this.end(),
            }
        }
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream")
            .field("task_id", &self.task_id())
            .field("last_event_id", &self.last_event_id())
            .finish_non_exhaustive()
    }
}
