//! Layers that invoke again: the third of the three shapes.

mod from_fn;
mod layer;
mod next;
mod service;
mod stream;

use crate::{Agent, Completed, Emitter, Failure, Json, Prompt, Scope};

pub use self::{
    from_fn::{FromFn, FromFnLayer, from_fn},
    layer::ScriptLayer,
    next::{Next, Run},
    service::Scripted,
    stream::ScriptStream,
};

/// A layer that is an async function: it may invoke the agent below as often as it
/// likes, and says what the caller sees.
///
/// The function runs inside the stream; one box a turn and one a run, no task. A `return`
/// is the terminal event, or hands over the rest of a run ([`Finish::HandOver`]): from
/// there on the script costs nothing.
///
/// ```
/// use portcullis::{Agent, AgentEvent, Emitter, Failure, Finish, Next, Prompt, Scope, Script};
///
/// /// Asks twice: first for a draft, which the caller does not see.
/// #[derive(Clone)]
/// struct Draft;
///
/// impl<S> Script<S> for Draft
/// where
///     S: Agent<Future: Send, Response: Send> + Clone + Send + Sync + 'static,
/// {
///     async fn run(
///         self,
///         scope: Scope,
///         prompt: Prompt,
///         mut next: Next<S>,
///         _out: Emitter,
///     ) -> Result<Finish<S>, Failure> {
///         let draft = portcullis::collect(next.invoke(scope.clone(), prompt.clone())).await;
///         let draft = draft.map_err(|_| Failure::new("no draft"))?.text;
///         let polish = Prompt::text(format!("{}\n\nImprove this:\n{draft}", prompt.as_text()));
///         Ok(next.invoke(scope, polish).into())
///     }
/// }
/// ```
pub trait Script<S: Agent>: Clone {
    /// Runs one turn.
    ///
    /// # Cancel safety
    ///
    /// Dropping the stream drops this future, and with it every run that it holds.
    fn run(
        self,
        scope: Scope,
        prompt: Prompt,
        next: Next<S>,
        out: Emitter,
    ) -> impl Future<Output = Result<Finish<S>, Failure>> + Send + 'static;
}

/// How a script ends.
#[expect(
    clippy::exhaustive_enums,
    reason = "a script ends itself or hands over"
)]
#[derive(Debug)]
pub enum Finish<S: Agent> {
    /// With success.
    Completed(Completed),
    /// With whatever is left of a run.
    HandOver(Run<S>),
}

impl<S: Agent> From<()> for Finish<S> {
    fn from((): ()) -> Self {
        Self::Completed(Completed::new())
    }
}

impl<S: Agent> From<Json> for Finish<S> {
    fn from(data: Json) -> Self {
        Self::Completed(data.into())
    }
}

impl<S: Agent> From<Completed> for Finish<S> {
    fn from(completed: Completed) -> Self {
        Self::Completed(completed)
    }
}

impl<S: Agent> From<Run<S>> for Finish<S> {
    fn from(rest: Run<S>) -> Self {
        Self::HandOver(rest)
    }
}
