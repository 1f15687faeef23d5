use std::fmt;

use tower_layer::Layer;

use super::{Finish, Next, Script, Scripted};
use crate::{Agent, BoxAgent, Emitter, Failure, Prompt, Scope};

/// A layer that is one async closure: a [`Script`] whose agent's type is hidden.
///
/// ```
/// use portcullis::{AgentEvent, AgentExt, Emitter, Next, Prompt, Scope, agent_fn, collect, from_fn};
/// use tower::ServiceBuilder;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let polite = from_fn(async |scope, prompt, mut next: Next<_>, out: Emitter| {
///     out.emit(AgentEvent::text("Certainly. ")).await;
///     Ok(next.invoke(scope, prompt))
/// });
/// let echo = agent_fn(async |_scope, prompt: Prompt, out| {
///     out.emit(AgentEvent::text(prompt.as_text())).await;
///     Ok(())
/// });
/// let agent = ServiceBuilder::new().layer(polite).service(echo);
/// let answer = collect(agent.invoke(Scope::new("s"), Prompt::text("42."))).await;
/// assert_eq!(answer.expect("completed").text, "Certainly. 42.");
/// # }
/// ```
pub const fn from_fn<F, Fut, T>(f: F) -> FromFnLayer<F>
where
    F: Fn(Scope, Prompt, Next<BoxAgent>, Emitter) -> Fut + Clone,
    Fut: Future<Output = Result<T, Failure>> + Send + 'static,
    T: Into<Finish<BoxAgent>>,
{
    FromFnLayer { f }
}

/// The layer of [`from_fn`].
#[derive(Clone)]
pub struct FromFnLayer<F> {
    f: F,
}

impl<S, F> Layer<S> for FromFnLayer<F>
where
    S: Agent<Future: Send, Response: Send> + Clone + Send + Sync + 'static,
    F: Clone,
{
    type Service = Scripted<BoxAgent, FromFn<F>>;

    fn layer(&self, inner: S) -> Self::Service {
        Scripted::new(BoxAgent::new(inner), FromFn { f: self.f.clone() })
    }
}

impl<F> fmt::Debug for FromFnLayer<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromFnLayer").finish_non_exhaustive()
    }
}

/// The script of [`from_fn`].
#[derive(Clone)]
pub struct FromFn<F> {
    f: F,
}

impl<F, Fut, T> Script<BoxAgent> for FromFn<F>
where
    F: Fn(Scope, Prompt, Next<BoxAgent>, Emitter) -> Fut + Clone,
    Fut: Future<Output = Result<T, Failure>> + Send + 'static,
    T: Into<Finish<BoxAgent>> + 'static,
{
    fn run(
        self,
        scope: Scope,
        prompt: Prompt,
        next: Next<BoxAgent>,
        out: Emitter,
    ) -> impl Future<Output = Result<Finish<BoxAgent>, Failure>> + Send + 'static {
        let finish = (self.f)(scope, prompt, next, out);
        async move { finish.await.map(Into::into) }
    }
}

impl<F> fmt::Debug for FromFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromFn").finish_non_exhaustive()
    }
}
