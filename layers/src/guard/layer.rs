use std::{fmt, sync::Arc};

use portcullis::{MakeTurn, Prompt, Scope, Watched};
use tower_layer::Layer;

use super::{GuardError, GuardTurn, Rules, rules::Ready};

/// Masks or stops what an agent must not say. See the [module docs](super).
#[derive(Clone)]
pub struct GuardLayer {
    ready: Arc<Ready>,
}

/// An agent that is guarded. See the [module docs](super).
pub type Guard<S> = Watched<S, GuardLayer>;

impl GuardLayer {
    /// The layer with these rules. They are compiled here; clones share them.
    ///
    /// # Errors
    /// When the guard could never act, when a pattern cannot be read, may match nothing, has no
    /// bound or needs too much memory, and with more than 64 rules.
    pub fn new(rules: Rules) -> Result<Self, GuardError> {
        let ready = Arc::new(rules.ready()?);
        Ok(Self { ready })
    }
}

impl MakeTurn for GuardLayer {
    type Turn = GuardTurn;

    fn make_turn(&self, _scope: &mut Scope, _prompt: &mut Prompt) -> GuardTurn {
        GuardTurn::new(Arc::clone(&self.ready))
    }
}

impl<S> Layer<S> for GuardLayer {
    type Service = Guard<S>;

    fn layer(&self, inner: S) -> Guard<S> {
        Watched::new(inner, self.clone())
    }
}

/// Without patterns: one may be a secret itself.
impl fmt::Debug for GuardLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuardLayer")
            .field("channels", &self.ready.channels)
            .field("unknown", &self.ready.unknown)
            .field("tools", &self.ready.tools)
            .field("max_hold", &self.ready.max_hold)
            .finish_non_exhaustive()
    }
}
