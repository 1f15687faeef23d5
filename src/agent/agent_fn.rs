use std::{
    convert::Infallible,
    fmt,
    future::{Ready, ready},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{self, Context, Poll},
};

use futures_core::Stream;
use pin_project::pin_project;
use tower_service::Service;

use super::emitter::{Emitter, Emitting, Step, emitting};
use crate::{AgentEvent, Completed, Failure, Panicked, Prompt, Scope};

/// An agent that is one async function.
///
/// The function gets an [`Emitter`]; what it returns is the terminal event. Its future
/// lives inside the stream: there is no task, and dropping the stream drops it. A panic
/// becomes one `failed` event. So MUST 1, 2 and 3 hold by construction.
///
/// Emitting a terminal event ends the turn there, and drops the function.
///
/// ```
/// use portcullis::{AgentEvent, Failure, FailureCode, Prompt, Scope, agent_fn};
///
/// let agent = agent_fn(async |_scope: Scope, prompt: Prompt, out| {
///     if prompt.as_text().is_empty() {
///         return Err(Failure::with_code(FailureCode::INVALID_PROMPT, "say something"));
///     }
///     for word in prompt.as_text().split_inclusive(' ') {
///         out.emit(AgentEvent::text(word)).await;
///     }
///     Ok(())
/// });
/// # let _ = agent;
/// ```
///
/// The future has to be `Send`, since a server runs turns on any of its threads. "future is not
/// Send" names a value that lives over an `await`, an `Rc` or a guard of a lock most often: make
/// it an `Arc`, or end it in a block before the `await`.
///
/// Errors do not become failures by themselves, since what they say may be nobody's
/// business: `?` wants `map_err`, with [`Failure::internal`] or a failure that tells the caller.
///
/// An `async` closure cannot use what it captures, since its future would borrow from it.
/// Use [`agent_fn_with`], or clone for each turn:
///
/// ```
/// # use std::sync::Arc;
/// # use portcullis::{AgentEvent, Emitter, Failure, Prompt, Scope, agent_fn};
/// let greeting: Arc<str> = Arc::from("Good morning");
/// let agent = agent_fn(move |_scope: Scope, prompt: Prompt, out: Emitter| {
///     let greeting = Arc::clone(&greeting);
///     async move {
///         let count: u32 = prompt.as_text().parse().map_err(Failure::internal)?;
///         for _ in 0..count {
///             out.emit(AgentEvent::text(&*greeting)).await;
///         }
///         Ok(())
///     }
/// });
/// # portcullis::BoxAgent::new(agent);
/// ```
pub const fn agent_fn<F, Fut, T>(f: F) -> AgentFn<F>
where
    F: FnMut(Scope, Prompt, Emitter) -> Fut,
    Fut: Future<Output = Result<T, Failure>> + Send,
    T: Into<Completed>,
{
    AgentFn { f }
}

/// The agent of [`agent_fn`].
#[derive(Clone)]
pub struct AgentFn<F> {
    f: F,
}

impl<F, Fut, T> Service<(Scope, Prompt)> for AgentFn<F>
where
    F: FnMut(Scope, Prompt, Emitter) -> Fut,
    Fut: Future<Output = Result<T, Failure>>,
    T: Into<Completed>,
{
    type Response = AgentFnStream<Fut>;
    type Error = Infallible;
    type Future = Ready<Result<AgentFnStream<Fut>, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, (scope, prompt): (Scope, Prompt)) -> Self::Future {
        let f = &mut self.f;
        ready(Ok(AgentFnStream::run(|out| f(scope, prompt, out))))
    }
}

impl<F> fmt::Debug for AgentFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentFn").finish_non_exhaustive()
    }
}

/// An agent that is one async function with a state, which each turn gets a clone of.
///
/// Takes a plain `async fn`:
///
/// ```
/// use std::sync::Arc;
/// use portcullis::{AgentEvent, Emitter, Failure, Prompt, Scope, agent_fn_with};
///
/// async fn greet(
///     greeting: Arc<str>,
///     _scope: Scope,
///     prompt: Prompt,
///     out: Emitter,
/// ) -> Result<(), Failure> {
///     out.emit(AgentEvent::text(format!("{greeting}, {}", prompt.as_text()))).await;
///     Ok(())
/// }
///
/// let agent = agent_fn_with(Arc::from("Good morning"), greet);
/// # let _ = agent;
/// ```
pub const fn agent_fn_with<C, F, Fut, T>(state: C, f: F) -> AgentFnWith<C, F>
where
    C: Clone,
    F: FnMut(C, Scope, Prompt, Emitter) -> Fut,
    Fut: Future<Output = Result<T, Failure>> + Send,
    T: Into<Completed>,
{
    AgentFnWith { state, f }
}

/// The agent of [`agent_fn_with`].
#[derive(Clone)]
pub struct AgentFnWith<C, F> {
    state: C,
    f: F,
}

impl<C, F, Fut, T> Service<(Scope, Prompt)> for AgentFnWith<C, F>
where
    C: Clone,
    F: FnMut(C, Scope, Prompt, Emitter) -> Fut,
    Fut: Future<Output = Result<T, Failure>>,
    T: Into<Completed>,
{
    type Response = AgentFnStream<Fut>;
    type Error = Infallible;
    type Future = Ready<Result<AgentFnStream<Fut>, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, (scope, prompt): (Scope, Prompt)) -> Self::Future {
        let Self { state, f } = self;
        ready(Ok(AgentFnStream::run(|out| {
            f(state.clone(), scope, prompt, out)
        })))
    }
}

impl<C, F> fmt::Debug for AgentFnWith<C, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentFnWith").finish_non_exhaustive()
    }
}

/// The events of an async function.
#[pin_project]
#[must_use = "streams do nothing unless polled"]
pub struct AgentFnStream<Fut> {
    #[pin]
    stage: Stage<Fut>,
}

#[pin_project(project = StageProject)]
enum Stage<Fut> {
    /// The function runs.
    Running(#[pin] Emitting<Fut, AgentEvent>),
    /// It panicked before it returned its future.
    Failed(Option<Failure>),
    /// The terminal event has come.
    Ended,
}

impl<Fut: Future> AgentFnStream<Fut> {
    fn run(f: impl FnOnce(Emitter) -> Fut) -> Self {
        let stage = match catch_unwind(AssertUnwindSafe(|| emitting(f))) {
            Ok(emitting) => Stage::Running(emitting),
            Err(panic) => Stage::Failed(Some(Failure::internal(Panicked::new(&*panic)))),
        };
        Self { stage }
    }
}

impl<Fut, T> Stream for AgentFnStream<Fut>
where
    Fut: Future<Output = Result<T, Failure>>,
    T: Into<Completed>,
{
    type Item = AgentEvent;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        let mut stage = self.project().stage;
        let mut event = match stage.as_mut().project() {
            StageProject::Running(emitting) => {
                // The agent answers for its own panics: a caller needs no `catch` for MUST 2.
                match catch_unwind(AssertUnwindSafe(|| emitting.poll_step(cx))) {
                    Ok(step) => match task::ready!(step) {
                        Step::Item(event) => event,
                        Step::Done(Ok(completed)) => AgentEvent::Completed(completed.into()),
                        Step::Done(Err(failure)) => AgentEvent::Failed(failure),
                    },
                    Err(panic) => AgentEvent::Failed(Failure::internal(Panicked::new(&*panic))),
                }
            }
            StageProject::Failed(failure) => {
                AgentEvent::Failed(failure.take().expect("the stage ends with it"))
            }
            StageProject::Ended => return Poll::Ready(None),
        };
        if event.is_terminal() {
            // What the function holds goes now. A panic in there is a failure like any
            // other; one that was reported already says more.
            let dropped = catch_unwind(AssertUnwindSafe(|| stage.set(Stage::Ended)));
            if let (Err(panic), AgentEvent::Completed(_)) = (dropped, &event) {
                event = AgentEvent::Failed(Failure::internal(Panicked::new(&*panic)));
            }
        }
        Poll::Ready(Some(event))
    }
}

impl<Fut> fmt::Debug for AgentFnStream<Fut> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentFnStream").finish_non_exhaustive()
    }
}
