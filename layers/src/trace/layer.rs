use std::{borrow::Cow, fmt, sync::Arc};

use portcullis::{MakeTurn, Prompt, Scope, TraceContext, Watched};
use tower_layer::Layer;
use tracing::Span;

use super::{TraceTurn, content::ContentRule};

/// Puts every turn into a span. See the [module docs](super).
#[derive(Clone, Default)]
pub struct TraceLayer {
    pub(super) agent: Option<Arc<str>>,
    pub(super) model: Option<Arc<str>>,
    pub(super) content: Option<ContentRule>,
    pub(super) on_span: Option<Arc<OnSpan>>,
}

pub(super) type OnSpan = dyn Fn(&Span, Option<&TraceContext>) -> Option<TraceContext> + Send + Sync;

/// An agent whose turns are traced. See the [module docs](super).
pub type Trace<S> = Watched<S, TraceLayer>;

impl TraceLayer {
    /// The layer. It records no content.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            agent: None,
            model: None,
            content: None,
            on_span: None,
        }
    }

    /// Names the agent, in `gen_ai.agent.name`.
    #[must_use]
    pub fn agent(mut self, name: impl Into<Arc<str>>) -> Self {
        self.agent = Some(name.into());
        self
    }

    /// Names the model that the agent asks for, in `gen_ai.request.model`. The one that
    /// answers is known from the usage.
    #[must_use]
    pub fn request_model(mut self, name: impl Into<Arc<str>>) -> Self {
        self.model = Some(name.into());
        self
    }

    /// Records the prompt and the answer as well, at most the first so many bytes of each.
    ///
    /// Whoever reads the traces then reads what people wrote to the agent.
    #[must_use]
    pub fn content(mut self, bytes: usize) -> Self {
        self.content = Some(ContentRule::new(bytes));
        self
    }

    /// Records content as [`content`](Self::content) does, in its place, through a hook: it gets
    /// the prompt or the answer, and says what may be recorded. A secret of up to a kilobyte is seen
    /// whole or not recorded, however the answer was split into events. Of a hook that panics
    /// nothing is recorded.
    ///
    /// ```
    /// use portcullis_layers::trace::TraceLayer;
    ///
    /// let layer = TraceLayer::new().redacted_content(2048, |text| text.replace("s3cret", "***").into());
    /// # let _ = layer;
    /// ```
    #[must_use]
    pub fn redacted_content(
        mut self,
        bytes: usize,
        redact: impl for<'a> Fn(&'a str) -> Cow<'a, str> + Send + Sync + 'static,
    ) -> Self {
        self.content = Some(ContentRule::redacting(bytes, Arc::new(redact)));
        self
    }

    /// Tells a hook of each span before anything runs in it: the span, and the trace that the
    /// turn belongs to, if the scope has one. The hook may answer with the place of the new
    /// span in a trace, which is what everything below finds in the scope and sends on.
    ///
    /// That is all that a bridge to OpenTelemetry needs; the example `otlp` is one. Without a
    /// hook the trace that came in is what goes on.
    #[must_use]
    pub fn on_span(
        mut self,
        hook: impl Fn(&Span, Option<&TraceContext>) -> Option<TraceContext> + Send + Sync + 'static,
    ) -> Self {
        self.on_span = Some(Arc::new(hook));
        self
    }
}

impl MakeTurn for TraceLayer {
    type Turn = TraceTurn;

    fn make_turn(&self, scope: &mut Scope, prompt: &mut Prompt) -> TraceTurn {
        TraceTurn::new(self, scope, prompt)
    }
}

impl<S> Layer<S> for TraceLayer {
    type Service = Trace<S>;

    fn layer(&self, inner: S) -> Trace<S> {
        Watched::new(inner, self.clone())
    }
}

impl fmt::Debug for TraceLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceLayer")
            .field("agent", &self.agent)
            .field("model", &self.model)
            .field("content", &self.content)
            .finish_non_exhaustive()
    }
}
