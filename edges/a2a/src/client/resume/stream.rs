use std::{
    collections::VecDeque,
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use futures_core::Stream;
use futures_util::future::BoxFuture;

use super::{
    policy::Resume,
    recovery::{Recovered, Recovery, Then, may_pass},
    seen::Seen,
};
use crate::client::{CallError, Client, Event, EventStream, Transport};

/// The events of a task, over as many connections as it takes.
///
/// When a connection is cut or falls silent, it joins the task again with the id of the last event,
/// compares the task with what the caller was told, and goes on with what is missing: nothing comes
/// twice, and no part of an artifact and no state that lasts is left out. Where a server does not
/// honour the id, a status that came and went in between is not seen. A server that lets nobody
/// join is asked for the task instead, now and then.
///
/// It ends as an [`EventStream`] does, and gives the last error when the tries of its [`Resume`]
/// are used up, or when the task cannot be reached for another reason: it is gone, or not ours.
///
/// # Cancel safety
/// Dropping it closes the connection. The task goes on.
#[must_use]
pub struct ResumedStream<T> {
    client: Client<T>,
    policy: Resume,
    state: State,
    missed: VecDeque<Event>,
    seen: Seen,
    tries: u32,
    task_id: Option<String>,
    last_event_id: Option<Arc<str>>,
}

enum State {
    Reading(Box<EventStream>),
    /// On the way back.
    Recovering(BoxFuture<'static, Result<Recovered, CallError>>),
    /// After what was missed, the task is asked for again.
    Asking,
    Over,
}

impl<T: Transport> Client<T> {
    /// Takes a stream of this client up again whenever it is cut, as the policy says.
    ///
    /// Before the stream has named its task there is nothing to join: a cut is an error then, and
    /// nobody knows whether the message arrived.
    ///
    /// ```no_run
    /// use futures_util::StreamExt;
    /// use portcullis_a2a::{client::{CallError, Client, Resume, Transport}, model::SendMessageRequest};
    ///
    /// # async fn doc(client: Client<impl Transport>, request: SendMessageRequest) -> Result<(), CallError> {
    /// let stream = client.send_streaming_message(&request).await?;
    /// let mut stream = client.resuming(stream, Resume::new());
    /// while let Some(event) = stream.next().await {
    ///     println!("{:?}", event?.response);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn resuming(&self, stream: EventStream, policy: Resume) -> ResumedStream<T> {
        let mut client = self.clone();
        // The policy's tries are enough: two kinds of them would multiply (O-B15).
        client.retries = None;
        ResumedStream {
            client,
            policy,
            task_id: stream.task_id().map(str::to_owned),
            last_event_id: stream.last_event_id().map(Arc::from),
            state: State::Reading(Box::new(stream)),
            missed: VecDeque::new(),
            seen: Seen::default(),
            tries: 0,
        }
    }
}

/// Nothing in it is pinned.
impl<T> Unpin for ResumedStream<T> {}

impl<T> ResumedStream<T> {
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

    fn give(&mut self, event: Event) -> Poll<Option<Result<Event, CallError>>> {
        self.seen.note(&event.response);
        self.last_event_id.clone_from(&event.id);
        Poll::Ready(Some(Ok(event)))
    }
}

impl<T: Transport> ResumedStream<T> {
    fn recover(&self, cause: CallError, retry: Option<Duration>) -> State {
        let Some(task_id) = self.task_id.clone() else {
            return State::Over;
        };
        let recovery = Recovery {
            client: self.client.clone(),
            policy: self.policy,
            task_id,
            last_event_id: self.last_event_id.clone(),
            seen: self.seen.clone(),
            tries: self.tries,
            cause,
            retry,
        };
        State::Recovering(Box::pin(recovery.run()))
    }

    fn fail(&mut self, error: CallError) -> Poll<Option<Result<Event, CallError>>> {
        self.state = State::Over;
        Poll::Ready(Some(Err(error)))
    }
}

impl<T: Transport> Stream for ResumedStream<T> {
    type Item = Result<Event, CallError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if let Some(event) = this.missed.pop_front() {
                this.tries = 0;
                return this.give(event);
            }
            match &mut this.state {
                State::Reading(stream) => {
                    let event = ready!(Pin::new(&mut **stream).poll_next(cx));
                    if this.task_id.is_none() {
                        this.task_id = stream.task_id().map(str::to_owned);
                    }
                    match event {
                        Some(Ok(event)) => {
                            this.tries = 0;
                            return this.give(event);
                        }
                        Some(Err(error)) => {
                            let resumes = this.task_id.is_some() && this.policy.tries > 0;
                            if !resumes || !may_pass(&error) {
                                return this.fail(error);
                            }
                            let retry = stream.retry();
                            this.state = this.recover(error, retry);
                        }
                        None => this.state = State::Over,
                    }
                }
                State::Recovering(recovery) => match ready!(recovery.as_mut().poll(cx)) {
                    Ok(Recovered {
                        missed,
                        then,
                        tries,
                    }) => {
                        (this.missed, this.tries) = (missed, tries);
                        this.state = match then {
                            Then::Read(stream) => {
                                if this.missed.is_empty()
                                    && let Some(id) = stream.last_event_id()
                                {
                                    this.last_event_id = Some(id.into());
                                }
                                State::Reading(Box::new(stream))
                            }
                            Then::Ask => State::Asking,
                            Then::End => State::Over,
                        };
                    }
                    Err(error) => return this.fail(error),
                },
                State::Asking => {
                    let cause = CallError::Cut {
                        task_id: this.task_id.clone(),
                        last_event_id: None,
                    };
                    this.state = this.recover(cause, None);
                }
                State::Over => return Poll::Ready(None),
            }
        }
    }
}

impl<T> fmt::Debug for ResumedStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResumedStream")
            .field("task_id", &self.task_id)
            .field("last_event_id", &self.last_event_id)
            .finish_non_exhaustive()
    }
}
