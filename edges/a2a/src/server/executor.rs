use std::{
    error::Error,
    fmt,
    future::{Ready, poll_fn, ready},
    pin::Pin,
    task::{self, Context, Poll},
};

use futures_core::Stream;
use futures_util::{FutureExt, StreamExt, stream};
use pin_project::pin_project;
use portcullis::{Emitter, Emitting, Failure, Step, emitting};
use tower_service::Service;

use super::{Emission, RequestContext};

/// A [`Service`] that takes a [`RequestContext`] and answers with a stream of
/// [`Emission`]s: statuses, artifacts, messages.
///
/// This is a name for those bounds: every service that fits has it, and nobody
/// implements it. [`executor_fn`] makes one of an async function. An error of the service
/// fails the task; its text goes to the log only.
///
/// # Cancel safety
/// A task that is canceled drops the stream, and so does one that is finished: nothing
/// that an executor does after its last emission may be needed.
pub trait Executor:
    Service<
        RequestContext,
        Response: Stream<Item = Emission>,
        Error: Into<Box<dyn Error + Send + Sync>>,
    >
{
}

impl<S> Executor for S
where
    S: Service<RequestContext>,
    S::Response: Stream<Item = Emission>,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
{
}

/// An executor that is one async function.
///
/// It emits what happens; `emit` resolves when the server has taken it. The function may
/// return nothing, or a `Result<(), Failure>`.
///
/// ```
/// # use futures_util::StreamExt;
/// # use portcullis_a2a::{
/// #     model::{AgentCard, AgentInterface, Artifact, TaskState, Timestamp},
/// #     server::{Caller, Response, Server, StepClock, SequentialIds, executor_fn},
/// # };
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let card = AgentCard::new("Echo", "Says done.", AgentInterface::json_rpc("http://[::1]/"));
/// # let start: Timestamp = "2026-01-15T10:00:00Z".parse()?;
/// # let params = r#"{"message": {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "hi"}]},
/// #                  "configuration": {"historyLength": 0}}"#;
/// # let mut printed = String::new();
/// let echo = executor_fn(async |ctx, out| {
///     out.emit(ctx.status(TaskState::Working)).await;
///     out.emit(ctx.artifact(Artifact::text("a-1", "done"))).await;
///     out.emit(ctx.status(TaskState::Completed)).await;
/// });
/// let server = Server::builder(echo, card)
/// #   .ids(SequentialIds::new()).clock(StepClock::new(start, 100))
///     .build();
/// let answer = server.handle(&Caller::new(), "SendStreamingMessage", Some(params)).await?;
/// if let Response::Stream(mut frames) = answer {
///     while let Some(frame) = frames.next().await {
///         let frame = frame?;
///         println!("{}", frame.json());
/// #       printed.push_str(frame.json());
/// #       printed.push('\n');
///     }
/// }
/// # let parts = ["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "done", "TASK_STATE_COMPLETED"];
/// # assert_eq!(printed.lines().count(), 4);
/// # assert!(printed.lines().zip(parts).all(|(line, part)| line.contains(part)), "{printed}");
/// # Ok(()) }
/// ```
pub const fn executor_fn<F, Fut>(f: F) -> ExecutorFn<F>
where
    F: FnMut(RequestContext, Emitter<Emission>) -> Fut,
    Fut: Future<Output: Outcome>,
{
    ExecutorFn { f }
}

/// What an [`executor_fn`] returns: nothing, or a `Result<(), Failure>`. Sealed.
pub trait Outcome: sealed::Sealed {
    #[doc(hidden)]
    fn into_failure(self) -> Option<Failure>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for () {}
    impl Sealed for Result<(), portcullis::Failure> {}
}

impl Outcome for () {
    fn into_failure(self) -> Option<Failure> {
        None
    }
}

impl Outcome for Result<(), Failure> {
    fn into_failure(self) -> Option<Failure> {
        self.err()
    }
}

/// The executor of [`executor_fn`].
#[derive(Clone)]
pub struct ExecutorFn<F> {
    f: F,
}

impl<F, Fut> Service<RequestContext> for ExecutorFn<F>
where
    F: FnMut(RequestContext, Emitter<Emission>) -> Fut,
    Fut: Future<Output: Outcome>,
{
    type Response = ExecutorFnStream<Fut>;
    type Error = std::convert::Infallible;
    type Future = Ready<Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, context: RequestContext) -> Self::Future {
        let f = &mut self.f;
        ready(Ok(ExecutorFnStream {
            running: Some(emitting(|out| f(context, out))),
        }))
    }
}

impl<F> fmt::Debug for ExecutorFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecutorFn").finish_non_exhaustive()
    }
}

/// The emissions of an async function.
#[pin_project]
#[must_use = "streams do nothing unless polled"]
pub struct ExecutorFnStream<Fut> {
    /// `None` once the function has returned.
    #[pin]
    running: Option<Emitting<Fut, Emission>>,
}

impl<Fut: Future<Output: Outcome>> Stream for ExecutorFnStream<Fut> {
    type Item = Emission;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Emission>> {
        let mut this = self.project();
        let Some(running) = this.running.as_mut().as_pin_mut() else {
            return Poll::Ready(None);
        };
        Poll::Ready(match task::ready!(running.poll_step(cx)) {
            Step::Item(emission) => Some(emission),
            Step::Done(outcome) => {
                this.running.set(None);
                outcome.into_failure().map(Emission::from)
            }
        })
    }
}

impl<Fut> fmt::Debug for ExecutorFnStream<Fut> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecutorFnStream").finish_non_exhaustive()
    }
}

/// The emissions of one turn.
pub(super) type Emissions = Pin<Box<dyn Stream<Item = Emission> + Send>>;

/// An executor whose type is hidden.
pub(super) trait Start: Send + Sync {
    /// Readiness, call and emissions as one stream.
    fn start(&self, context: RequestContext) -> Emissions;
}

pub(super) struct Plain<E>(pub(super) E);

impl<E> Start for Plain<E>
where
    E: Executor + Clone + Send + Sync + 'static,
    E::Future: Send,
    E::Response: Send,
{
    fn start(&self, context: RequestContext) -> Emissions {
        let mut executor = self.0.clone();
        let call = async move {
            poll_fn(|cx| executor.poll_ready(cx)).await?;
            executor.call(context).await
        };
        let emissions = call.map(|called| match called {
            Ok(emissions) => emissions.left_stream(),
            Err(error) => {
                let failure = Failure::internal(Into::<Box<dyn Error + Send + Sync>>::into(error));
                stream::iter([Emission::from(failure)]).right_stream()
            }
        });
        Box::pin(emissions.flatten_stream())
    }
}
