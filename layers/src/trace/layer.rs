use std::sync::Arc;

use portcullis::{MakeTurn, Prompt, Scope, Watched};
use tower_layer::Layer;

use super::TraceTurn;

/// Puts every turn into a span. See the [module docs](super).
#[derive(Clone, Debug, Default)]
pub struct TraceLayer {
    agent: Option<Arc<str>>,
    content: Option<usize>,
}

/// An agent whose turns are traced. See the [module docs](super).
pub type Trace<S> = Watched<S, TraceLayer>;

impl TraceLayer {
    /// The layer. It records no content.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            agent: None,
            content: None,
        }
    }

    /// Names the agent, in `gen_ai.agent.name`.
    #[must_use]
    pub fn agent(mut self, name: impl Into<Arc<str>>) -> Self {
        self.agent = Some(name.into());
        self
    }

    /// Records the prompt and the answer as well, the first so many bytes of each.
    ///
    /// Whoever reads the traces then reads what people wrote to the agent.
    #[must_use]
    pub const fn content(mut self, bytes: usize) -> Self {
        self.content = Some(bytes);
        self
    }
}

impl MakeTurn for TraceLayer {
    type Turn = TraceTurn;

    fn make_turn(&self, scope: &mut Scope, prompt: &mut Prompt) -> TraceTurn {
        TraceTurn::new(self.agent.as_deref(), self.content, scope, prompt)
    }
}

impl<S> Layer<S> for TraceLayer {
    type Service = Trace<S>;

    fn layer(&self, inner: S) -> Trace<S> {
        Watched::new(inner, self.clone())
    }
}
