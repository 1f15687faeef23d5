use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use futures_core::Stream;
use http_body::Body;
use tokio::time::{Instant, Sleep, sleep};

#[cfg(feature = "grpc")]
use super::grpc::{self, Messages};
use super::{
    binding::Envelope,
    error::CallError,
    sse::{Decoder, Frame},
    transport::ReplyBody,
};
use crate::model::{StreamResponse, decode_response};

/// One event of a stream.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Event {
    /// Where the stream can be resumed, when the server gives ids.
    pub id: Option<String>,
    /// What happened.
    pub response: StreamResponse,
}

/// The events of a task, or the one message that answers.
///
/// It ends after the last event of a task, or when the task waits for the caller. A connection
/// that ends before gives [`CallError::Cut`] as the last item (O-S10).
///
/// # Cancel safety
/// Dropping it closes the connection. The task goes on.
pub struct EventStream {
    envelope: Envelope,
    body: Option<ReplyBody>,
    /// What of the last chunk is not read yet.
    chunk: Bytes,
    decoder: Decoder,
    idle: Duration,
    silence: Pin<Box<Sleep>>,
    task_id: Option<String>,
    last_event_id: Option<String>,
    /// Whether the stream may end here.
    rests: bool,
    #[cfg(feature = "grpc")]
    messages: Option<Box<Over>>,
}

/// A stream over gRPC.
#[cfg(feature = "grpc")]
struct Over {
    /// What was read to know that it is a stream.
    first: Option<Event>,
    messages: Messages,
    limit: usize,
}

impl EventStream {
    pub(super) fn new(envelope: Envelope, body: ReplyBody, limit: usize, idle: Duration) -> Self {
        Self {
            envelope,
            body: Some(body),
            chunk: Bytes::new(),
            decoder: Decoder::new(limit),
            idle,
            silence: Box::pin(sleep(idle)),
            task_id: None,
            last_event_id: None,
            rests: false,
            #[cfg(feature = "grpc")]
            messages: None,
        }
    }

    /// A stream over gRPC. A refusal before the first event is one of the call.
    #[cfg(feature = "grpc")]
    pub(super) async fn of_messages(messages: Messages, limit: usize) -> Result<Self, CallError> {
        let mut stream = Self::new(
            Envelope::None,
            ReplyBody::default(),
            limit,
            // Nothing comes while nothing happens.
            Duration::MAX,
        );
        stream.messages = Some(Box::new(Over {
            first: None,
            messages,
            limit,
        }));
        let first = std::future::poll_fn(|cx| stream.poll_message(cx)).await;
        let first = first.transpose()?;
        if let Some(over) = &mut stream.messages {
            over.first = first;
        }
        Ok(stream)
    }

    #[cfg(feature = "grpc")]
    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Event, CallError>>> {
        let Some(over) = &mut self.messages else {
            return Poll::Ready(None);
        };
        if let Some(first) = over.first.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        let limit = over.limit;
        let item = match ready!(Pin::new(&mut over.messages).poll_next(cx)) {
            Some(Ok(message)) => match grpc::event(&message) {
                Ok(response) => {
                    self.follow(&response);
                    return Poll::Ready(Some(Ok(Event { id: None, response })));
                }
                Err(error) => return self.fail(error),
            },
            Some(Err(status)) if !grpc::is_broken(&status) => {
                return self.fail(grpc::failed(status, limit));
            }
            Some(Err(error)) => {
                tracing::debug!(%error, "the connection broke");
                self.end()
            }
            None => self.end(),
        };
        self.messages = None;
        Poll::Ready(item)
    }

    /// A reply in one piece, as some servers give to a streaming call (A2A-RPC-22).
    pub(super) fn one(envelope: Envelope, reply: &[u8], idle: Duration) -> Self {
        let mut stream = Self::new(envelope, ReplyBody::default(), reply.len() + 8, idle);
        stream.chunk = [b"data:", reply, b"\n\n"].concat().into();
        stream
    }

    /// The task that the stream is about, once it said so.
    #[must_use]
    pub fn task_id(&self) -> Option<&str> {
        self.task_id.as_deref()
    }

    /// The id of the last event, to resume after.
    #[must_use]
    pub fn last_event_id(&self) -> Option<&str> {
        self.last_event_id.as_deref()
    }

    /// Reads what is at hand already.
    fn at_hand(&mut self) -> Result<Option<Event>, CallError> {
        let chunk = std::mem::take(&mut self.chunk);
        let mut rest = &chunk[..];
        let frame = self.decoder.next(&mut rest)?;
        self.chunk = chunk.slice_ref(rest);
        frame.map(|frame| self.read(frame)).transpose()
    }

    fn read(&mut self, frame: Frame) -> Result<Event, CallError> {
        let Some(result) = self.envelope.open(&frame.data)? else {
            return Err(CallError::protocol("an event has no result"));
        };
        let response = decode_response::<StreamResponse>(result)
            .map_err(|error| CallError::protocol(format!("an event is not valid: {error}")))?;
        self.follow(&response);
        self.last_event_id.clone_from(&frame.id);
        Ok(Event {
            id: frame.id,
            response,
        })
    }

    fn follow(&mut self, response: &StreamResponse) {
        let (task_id, state) = match response {
            StreamResponse::Message(_) => {
                self.rests = true;
                return;
            }
            StreamResponse::Task(task) => (&task.id, Some(&task.status.state)),
            StreamResponse::StatusUpdate(update) => (&update.task_id, Some(&update.status.state)),
            StreamResponse::ArtifactUpdate(update) => (&update.task_id, None),
        };
        if self.task_id.as_ref() != Some(task_id) {
            self.task_id = Some(task_id.clone());
        }
        if let Some(state) = state {
            self.rests = state.is_terminal() || state.is_interrupted();
        }
    }

    /// The body is over: well, or not.
    fn end(&mut self) -> Option<Result<Event, CallError>> {
        self.body = None;
        // An event without its blank line counts if it is whole.
        if let Some(frame) = self.decoder.finish()
            && let Ok(event) = self.read(frame)
        {
            return Some(Ok(event));
        }
        (!std::mem::replace(&mut self.rests, true)).then(|| {
            Err(CallError::Cut {
                task_id: self.task_id.clone(),
                last_event_id: self.last_event_id.clone(),
            })
        })
    }

    fn fail(&mut self, error: CallError) -> Poll<Option<Result<Event, CallError>>> {
        self.body = None;
        #[cfg(feature = "grpc")]
        {
            self.messages = None;
        }
        self.chunk = Bytes::new();
        self.rests = true;
        Poll::Ready(Some(Err(error)))
    }
}

impl Stream for EventStream {
    type Item = Result<Event, CallError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        #[cfg(feature = "grpc")]
        if this.messages.is_some() {
            return this.poll_message(cx);
        }
        loop {
            match this.at_hand() {
                Ok(Some(event)) => return Poll::Ready(Some(Ok(event))),
                Ok(None) => {}
                Err(error) => return this.fail(error),
            }
            let Some(body) = &mut this.body else {
                return Poll::Ready(this.end());
            };
            match Pin::new(body).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    this.silence.as_mut().reset(Instant::now() + this.idle);
                    if let Ok(data) = frame.into_data() {
                        this.chunk = data;
                    }
                }
                // After the last event it does not matter how the connection ended; before, the
                // caller must recover just as from a clean end.
                Poll::Ready(Some(Err(error))) => {
                    tracing::debug!(%error, "the connection broke");
                    return Poll::Ready(this.end());
                }
                Poll::Ready(None) => return Poll::Ready(this.end()),
                Poll::Pending => {
                    ready!(this.silence.as_mut().poll(cx));
                    return this.fail(CallError::Idle);
                }
            }
        }
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream")
            .field("task_id", &self.task_id)
            .field("last_event_id", &self.last_event_id)
            .finish_non_exhaustive()
    }
}
