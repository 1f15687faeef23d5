use super::{Agent, BoxAgent, Invoke};
use crate::{Prompt, Scope};

/// How agents are called.
pub trait AgentExt: Agent {
    /// Begins a turn: readiness, call and events as one stream.
    ///
    /// The turn gets a record of its own ([`Scope::record`]), so a scope may be cloned
    /// for many turns.
    ///
    /// ```
    /// use portcullis::{AgentEvent, AgentExt, Prompt, Scope, agent_fn, collect};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let echo = agent_fn(async |_scope, prompt: Prompt, out| {
    ///     out.emit(AgentEvent::text(prompt.as_text())).await;
    ///     Ok(())
    /// });
    /// let answer = collect(echo.invoke(Scope::new("s1"), Prompt::text("hello"))).await;
    /// assert_eq!(answer.expect("completed").text, "hello");
    /// # }
    /// ```
    fn invoke(&self, mut scope: Scope, prompt: Prompt) -> Invoke<Self>
    where
        Self: Clone,
    {
        scope.renew_record();
        Invoke::new(self.clone(), scope, prompt)
    }

    /// Hides the type of the agent, as [`BoxAgent::new`] does. `tower::ServiceExt` has a
    /// method of this name too, so where both are in scope, say `BoxAgent::new`.
    fn boxed(self) -> BoxAgent
    where
        Self: Clone + Send + Sync + 'static,
        Self::Future: Send,
        Self::Response: Send,
    {
        BoxAgent::new(self)
    }
}

impl<A: Agent> AgentExt for A {}
