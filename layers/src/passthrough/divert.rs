use std::{
    convert::Infallible,
    fmt,
    future::{Ready, ready},
    pin::Pin,
    sync::Arc,
    task::{self, Context, Poll},
};

use futures_core::Stream;
use pin_project::pin_project;
use portcullis::{Agent, AgentEvent, Failure, FailureCode, Invoke, Prompt, Scope};
use tower_service::Service;

use super::slot::{Put, Slot};

/// The inner end: takes the unknown events out of the stream, before the layer.
#[derive(Clone, Debug)]
pub struct Divert<S> {
    inner: S,
}

impl<S> Divert<S> {
    pub(super) const fn new(inner: S) -> Self {
        Self { inner }
    }

    /// The agent below.
    pub const fn get_ref(&self) -> &S {
        &self.inner
    }

    /// The agent below.
    pub const fn get_mut(&mut self) -> &mut S {
        &mut self.inner
    }

    /// The agent below.
    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S: Agent> Service<(Scope, Prompt)> for Divert<S> {
    type Response = DivertStream<S>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, (mut scope, prompt): (Scope, Prompt)) -> Self::Future {
        ready(Ok(DivertStream {
            stage: match Slot::find(&mut scope) {
                Some(slot) => Stage::Running {
                    events: Invoke::calling(self.inner.call((scope, prompt))),
                    slot,
                    waiting: None,
                    lying: None,
                },
                None => Stage::Lost,
            },
        }))
    }
}

/// The events of an agent without those of unknown type.
#[pin_project]
#[must_use = "streams do nothing unless polled"]
pub struct DivertStream<S: Agent> {
    #[pin]
    stage: Stage<S>,
}

#[pin_project(project = StageProject)]
enum Stage<S: Agent> {
    Running {
        #[pin]
        events: Invoke<S>,
        slot: Arc<Slot>,
        /// An event for which the place was not free.
        waiting: Option<AgentEvent>,
        /// The number of the event that has to be taken before the next may come.
        lying: Option<u64>,
    },
    /// There is no slot in the scope.
    Lost,
    Ended,
}

impl<S: Agent> Stream for DivertStream<S> {
    type Item = AgentEvent;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        let mut stage = self.project().stage;
        let StageProject::Running {
            mut events,
            slot,
            waiting,
            lying,
        } = stage.as_mut().project()
        else {
            let lost = matches!(*stage, Stage::Lost);
            stage.set(Stage::Ended);
            return Poll::Ready(lost.then(|| AgentEvent::Failed(no_slot())));
        };
        loop {
            if let Some(number) = *lying {
                if !slot.is_taken(number, cx) {
                    return Poll::Pending;
                }
                *lying = None;
            }
            let event = match waiting.take() {
                Some(event) => event,
                None => match task::ready!(events.as_mut().poll_next(cx)) {
                    Some(event @ AgentEvent::Extension(_)) => event,
                    event => return Poll::Ready(event),
                },
            };
            match slot.put(event, cx) {
                Put::Lies(number) => *lying = Some(number),
                Put::Closed => continue,
                Put::Taken(event) => *waiting = Some(event),
            }
            // A barrier: nothing that follows may get ahead.
            return Poll::Pending;
        }
    }
}

/// A layer that loses the slot would swallow unknown events without anybody noticing.
fn no_slot() -> Failure {
    Failure::with_code(
        FailureCode::CONTRACT_VIOLATION,
        "a layer inside `passthrough` did not hand on the scope it was given",
    )
}

impl<S: Agent> fmt::Debug for DivertStream<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DivertStream").finish_non_exhaustive()
    }
}
