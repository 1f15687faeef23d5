use std::sync::Arc;

use ::metrics::SharedString;
use portcullis::{MakeTurn, Prompt, Scope, Watched};
use tower_layer::Layer;

use super::{MetricsTurn, names::Names};

/// Counts turns. See the [module docs](super).
///
/// One value has one set of names: clones, and all services that it makes, share it.
#[derive(Clone, Debug)]
pub struct MetricsLayer {
    agent: SharedString,
    names: Arc<Names>,
}

/// An agent whose turns are counted. See the [module docs](super).
pub type Metered<S> = Watched<S, MetricsLayer>;

impl MetricsLayer {
    /// The layer.
    #[must_use]
    pub fn new() -> Self {
        Self {
            agent: SharedString::const_str(""),
            names: Arc::new(Names::new(100)),
        }
    }

    /// Names the agent, in the label `gen_ai.agent.name`.
    #[must_use]
    pub fn agent(mut self, name: impl Into<Arc<str>>) -> Self {
        self.agent = SharedString::from_shared(name.into());
        self
    }

    /// So many models, providers and currencies, together, have labels of their own. The
    /// default is 100. Set it before the layer is used: the names begin anew.
    #[must_use]
    pub fn max_names(mut self, most: usize) -> Self {
        self.names = Arc::new(Names::new(most));
        self
    }
}

impl Default for MetricsLayer {
    fn default() -> Self {
        Self::new()
    }
}

impl MakeTurn for MetricsLayer {
    type Turn = MetricsTurn;

    fn make_turn(&self, scope: &mut Scope, _: &mut Prompt) -> MetricsTurn {
        MetricsTurn::new(self.agent.clone(), Arc::clone(&self.names), scope)
    }
}

impl<S> Layer<S> for MetricsLayer {
    type Service = Metered<S>;

    fn layer(&self, inner: S) -> Metered<S> {
        Watched::new(inner, self.clone())
    }
}
