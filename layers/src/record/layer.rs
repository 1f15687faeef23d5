use std::{fmt, sync::Arc};

use portcullis::{MakeTurn, Prompt, Scope, Watched};
use tower_layer::Layer;

use super::{LineSink, RecordTurn};

/// Writes turns down. See the [module docs](super).
#[derive(Clone)]
pub struct RecordLayer {
    sink: Arc<dyn LineSink>,
    request: bool,
}

/// An agent whose turns are written down. See the [module docs](super).
pub type Record<S> = Watched<S, RecordLayer>;

impl RecordLayer {
    /// Writes to `sink`.
    #[must_use]
    pub fn new(sink: impl LineSink) -> Self {
        Self {
            sink: Arc::new(sink),
            request: true,
        }
    }

    /// Leaves scope and prompt out.
    #[must_use]
    pub fn without_request(mut self) -> Self {
        self.request = false;
        self
    }
}

impl MakeTurn for RecordLayer {
    type Turn = RecordTurn;

    fn make_turn(&self, scope: &mut Scope, prompt: &mut Prompt) -> RecordTurn {
        let request = self.request.then_some((&*scope, &*prompt));
        RecordTurn::new(Arc::clone(&self.sink), request)
    }
}

impl<S> Layer<S> for RecordLayer {
    type Service = Record<S>;

    fn layer(&self, inner: S) -> Record<S> {
        Watched::new(inner, self.clone())
    }
}

impl fmt::Debug for RecordLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordLayer")
            .field("request", &self.request)
            .finish_non_exhaustive()
    }
}
