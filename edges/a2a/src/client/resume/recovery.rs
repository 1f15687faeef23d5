use std::{collections::VecDeque, sync::Arc, time::Duration};

use futures_util::StreamExt;
use tokio::time::sleep;

use super::{policy::Resume, seen::Seen};
use crate::{
    client::{CallError, Client, Event, EventStream, Transport},
    model::{ErrorKind, GetTaskRequest, StreamResponse, SubscribeToTaskRequest, Task},
};

/// One way back into a stream that was cut.
pub(super) struct Recovery<T> {
    pub(super) client: Client<T>,
    pub(super) policy: Resume,
    pub(super) task_id: String,
    pub(super) last_event_id: Option<Arc<str>>,
    pub(super) seen: Seen,
    /// How many tries have brought nothing.
    pub(super) tries: u32,
    /// Why it is needed, and why the last try failed.
    pub(super) cause: CallError,
    /// How long the stream asked to be left alone.
    pub(super) retry: Option<Duration>,
}

/// What came of it.
pub(super) struct Recovered {
    /// What the caller has missed.
    pub(super) missed: VecDeque<Event>,
    pub(super) then: Then,
    pub(super) tries: u32,
}

/// What comes after what was missed.
pub(super) enum Then {
    Read(EventStream),
    /// The task runs on, and nobody can watch it.
    Ask,
    End,
}

impl<T: Transport> Recovery<T> {
    /// Tries until there is a way, or none.
    pub(super) async fn run(mut self) -> Result<Recovered, CallError> {
        loop {
            let asked = self.cause.retry_after();
            let wait = self.policy.backoff.delay_after(self.tries, asked);
            let (Some(wait), true) = (wait, self.tries < self.policy.tries) else {
                return Err(self.cause);
            };
            // A hint, which does not go beyond what the policy allows.
            let hint = self.retry.unwrap_or_default();
            let wait = wait.max(hint.min(self.policy.backoff.most));
            self.tries += 1;
            tracing::debug!(cause = %self.cause, task = self.task_id, tries = self.tries, "a stream is taken up again");
            sleep(wait).await;
            match self.attempt().await {
                Ok(Some(recovered)) => return Ok(recovered),
                Ok(None) => {}
                Err(error) if may_pass(&error) => self.cause = error,
                Err(error) => return Err(error),
            }
        }
    }

    async fn attempt(&self) -> Result<Option<Recovered>, CallError> {
        match self.subscribe().await {
            Ok(Some(recovered)) => return Ok(Some(recovered)),
            Ok(None) => {}
            // It is over, or this server has no such method: the task says which (A2A-OP-61).
            Err(CallError::Refused(refusal))
                if matches!(
                    refusal.kind(),
                    ErrorKind::UnsupportedOperation | ErrorKind::MethodNotFound
                ) => {}
            Err(CallError::Status { status, .. }) if matches!(status.as_u16(), 404 | 405 | 501) => {
            }
            Err(error) => return Err(error),
        }
        let request = GetTaskRequest::new(&self.task_id);
        let task = self.client.get_task(&request).await?;
        if task.id != self.task_id {
            return Err(CallError::protocol("the task is another one"));
        }
        let state = task.status.state;
        let missed = self.missed(task, None);
        Ok(if state.is_terminal() || state.is_interrupted() {
            Some(self.recovered(missed, Then::End))
        } else if missed.is_empty() {
            None
        } else {
            Some(self.recovered(missed, Then::Ask))
        })
    }

    /// `None` if the server does not begin with the task, so that nobody knows what is missing.
    async fn subscribe(&self) -> Result<Option<Recovered>, CallError> {
        let request = SubscribeToTaskRequest::new(&self.task_id);
        let last = self.last_event_id.as_deref();
        let mut stream = self.client.subscribe_to_task(&request, last).await?;
        let Some(first) = stream.next().await else {
            return Ok(None);
        };
        let Event { id, response } = first?;
        let StreamResponse::Task(task) = response else {
            return Ok(None);
        };
        // As of the last event, if the server has honoured its id; as it is now, if not. Ids of
        // two streams may be alike by chance, so only the task itself tells.
        let missed = self.missed(task, id);
        Ok(Some(self.recovered(missed, Then::Read(stream))))
    }

    fn missed(&self, task: Task, id: Option<Arc<str>>) -> VecDeque<Event> {
        let event = |response| Event {
            id: self.last_event_id.clone(),
            response,
        };
        let missing = self.seen.missing_in(task).into_iter();
        let mut missed: VecDeque<_> = missing.map(event).collect();
        // Only after the last of them the caller is where the task was.
        if let Some(last) = missed.back_mut() {
            last.id = id;
        }
        missed
    }

    const fn recovered(&self, missed: VecDeque<Event>, then: Then) -> Recovered {
        Recovered {
            missed,
            then,
            tries: self.tries,
        }
    }
}

/// Whether another try may go better.
pub(super) fn may_pass(error: &CallError) -> bool {
    match error {
        CallError::Cut { .. }
        | CallError::Idle
        | CallError::NoReply
        | CallError::Slow
        | CallError::Transport(_) => true,
        CallError::Status { status, .. } => {
            status.is_server_error() || matches!(status.as_u16(), 408 | 425 | 429)
        }
        CallError::Refused(refusal) => matches!(
            refusal.kind(),
            ErrorKind::Internal | ErrorKind::Unavailable | ErrorKind::ResourceExhausted
        ),
        CallError::Protocol(_)
        | CallError::TooLong(_)
        | CallError::Redirect { .. }
        | CallError::Untrusted(_) => false,
    }
}
