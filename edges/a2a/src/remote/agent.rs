use std::{
    convert::Infallible,
    fmt,
    future::{Ready, ready},
    pin::Pin,
    sync::Arc,
    task::{self, Poll},
    time::Duration,
};

use futures_core::Stream;
use portcullis::{
    AgentEvent, AgentExt, BoxEventStream, Completed, Emitter, Failure, FailureCode, Prompt, Scope,
    TraceContext, agent_fn_with,
};
use tokio::time::{Instant, timeout_at};
use tower_service::Service;

use super::{
    Context, Contexts, EVENTS_EXTENSION, MemoryContexts,
    call::Call,
    cleanup::Cleanup,
    failure,
    incoming::{Ended, Incoming},
    outgoing,
};
use crate::{
    client::{CallError, Client, Resume, Transport},
    model::ErrorKind,
};

/// What becomes of the remote task when the turn is dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "it goes on or it does not")]
pub enum OnDrop {
    /// It is cancelled.
    #[default]
    Cancel,
    /// It goes on.
    Leave,
}

/// An agent that somebody else serves. See the [module docs](super).
///
/// Clones share the contexts and what is left to be cancelled.
pub struct RemoteAgent<T: Transport> {
    client: Client<T>,
    contexts: Arc<dyn Contexts>,
    cleanup: Arc<Cleanup>,
    on_drop: OnDrop,
    resume: Resume,
}

impl<T: Transport> RemoteAgent<T> {
    /// The agent that a client calls. The contexts of 65,536 sessions are kept in memory, and
    /// cancelling may take ten seconds.
    #[must_use]
    pub fn new(client: Client<T>) -> Self {
        Self {
            client: client.asking_also(EVENTS_EXTENSION),
            contexts: Arc::new(MemoryContexts::default()),
            cleanup: Arc::new(Cleanup::new(Duration::from_secs(10))),
            on_drop: OnDrop::Cancel,
            resume: Resume::never(),
        }
    }

    /// Where the contexts of sessions live.
    #[must_use]
    pub fn contexts(mut self, contexts: Arc<dyn Contexts>) -> Self {
        self.contexts = contexts;
        self
    }

    /// What becomes of the remote task when a turn is dropped.
    #[must_use]
    pub const fn on_drop(mut self, on_drop: OnDrop) -> Self {
        self.on_drop = on_drop;
        self
    }

    /// How a turn goes on whose connection was cut. By default it does not: it has failed, and a
    /// layer in front may try another agent.
    #[must_use]
    pub const fn resume(mut self, resume: Resume) -> Self {
        self.resume = resume;
        self
    }

    /// How long the cancelling of one task may take, the waiting for its id included.
    #[must_use]
    pub fn cancel_timeout(mut self, limit: Duration) -> Self {
        self.cleanup = Arc::new(Cleanup::new(limit));
        self
    }

    /// Waits until everything that was dropped is cancelled, or given up.
    ///
    /// # Cancel safety
    /// Dropping it stops the waiting only.
    pub async fn settle(&self) {
        self.cleanup.settle().await;
    }

    /// The client.
    #[must_use]
    pub const fn get_ref(&self) -> &Client<T> {
        &self.client
    }
}

impl<T: Transport> Clone for RemoteAgent<T> {
    fn clone(&self) -> Self {
        Self {
            client: self.client.clone(),
            contexts: Arc::clone(&self.contexts),
            cleanup: Arc::clone(&self.cleanup),
            on_drop: self.on_drop,
            resume: self.resume,
        }
    }
}

impl<T: Transport> fmt::Debug for RemoteAgent<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteAgent")
            .field("client", &self.client)
            .field("on_drop", &self.on_drop)
            .finish_non_exhaustive()
    }
}

impl<T: Transport> Service<(Scope, Prompt)> for RemoteAgent<T> {
    type Response = RemoteStream;
    type Error = Infallible;
    type Future = Ready<Result<RemoteStream, Infallible>>;

    fn poll_ready(&mut self, _: &mut task::Context<'_>) -> Poll<Result<(), Infallible>> {
        // The transport is waited for within the turn.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, (scope, prompt): (Scope, Prompt)) -> Self::Future {
        let turn = agent_fn_with(self.clone(), by_deadline).invoke(scope, prompt);
        ready(Ok(RemoteStream(BoxEventStream::new(turn))))
    }
}

/// The events of one turn.
#[must_use = "a turn does nothing unless polled"]
pub struct RemoteStream(BoxEventStream);

impl Stream for RemoteStream {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Option<AgentEvent>> {
        Pin::new(&mut self.0).poll_next(cx)
    }
}

impl fmt::Debug for RemoteStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteStream").finish_non_exhaustive()
    }
}

async fn by_deadline<T: Transport>(
    agent: RemoteAgent<T>,
    scope: Scope,
    prompt: Prompt,
    out: Emitter,
) -> Result<Completed, Failure> {
    agent.cleanup.begin();
    let Some(deadline) = scope.deadline().map(Instant::from_std) else {
        return agent.turn(&scope, &prompt, &out).await;
    };
    timeout_at(deadline, agent.turn(&scope, &prompt, &out))
        .await
        .unwrap_or_else(|_| {
            Err(Failure::with_code(
                FailureCode::TIMEOUT,
                "the remote agent did not answer by the deadline",
            ))
        })
}

impl<T: Transport> RemoteAgent<T> {
    async fn turn(
        &self,
        scope: &Scope,
        prompt: &Prompt,
        out: &Emitter,
    ) -> Result<Completed, Failure> {
        let session = scope.session();
        let mut before = self.contexts.load(session).await.map_err(lost)?;
        let client = self
            .client
            .clone()
            .in_trace(scope.extensions().get::<TraceContext>());
        let ask = |context: &Context| {
            let request = outgoing::request(scope, prompt, context)?;
            let cleanup = (self.on_drop == OnDrop::Cancel).then(|| Arc::clone(&self.cleanup));
            Ok::<_, Failure>(Call::new(client.clone(), request, self.resume, cleanup))
        };
        let mut call = ask(&before)?;
        let mut first = call.next().await;
        if before.task_id.is_some() && matches!(&first, Some(Err(error)) if is_gone(error)) {
            // The task did not wait for us: the next one of the same context.
            before.task_id = None;
            before.artifacts = 0;
            call = ask(&before)?;
            first = call.next().await;
        }
        let mut incoming = Incoming::new(before.clone());
        let mut events = Vec::new();
        let ended = loop {
            let frame = match first.take() {
                Some(frame) => Some(frame),
                None => call.next().await,
            };
            let ended = match frame {
                Some(Ok(frame)) => incoming.take(frame, &mut events),
                Some(Err(error)) => {
                    if matches!(error, CallError::Refused(_)) {
                        call.finish();
                    }
                    return Err(failure::of_call(error));
                }
                None => Some(incoming.end()),
            };
            if incoming.context != before {
                before = incoming.context.clone();
                let stored = self.contexts.store(session, before.clone());
                stored.await.map_err(lost)?;
            }
            if ended.is_some() {
                // Even if nobody takes what is left: the task is over, or waits.
                call.finish();
            }
            for event in events.drain(..) {
                out.emit(event).await;
            }
            if let Some(ended) = ended {
                break ended;
            }
        };
        match ended {
            Ended::Completed(completed) => Ok(completed),
            Ended::Failed(failure) => Err(failure),
        }
    }
}

/// The server does not have the task any more, or it is over.
fn is_gone(error: &CallError) -> bool {
    let kind = error.as_refusal().map(crate::model::Error::kind);
    matches!(
        kind,
        Some(ErrorKind::TaskNotFound | ErrorKind::UnsupportedOperation)
    )
}

fn lost(error: Box<dyn std::error::Error + Send + Sync>) -> Failure {
    Failure::with_code(
        FailureCode::UNAVAILABLE,
        "the contexts of sessions cannot be reached",
    )
    .retryable(true)
    .caused_by(error)
}
