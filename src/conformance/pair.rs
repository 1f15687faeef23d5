use std::fmt;

use tower_layer::{Layer, Stack};

use crate::{Agent, BoxAgent};

/// A stack of two layers, the first one outermost: for the suite, it is a layer like any
/// other.
pub const fn pair<Outer, Inner>(outer: Outer, inner: Inner) -> Stack<Inner, Outer> {
    Stack::new(inner, outer)
}

/// A layer whose service's type is hidden, so that a table of many can be tested in
/// every ordered pair: [`suite::matrix`](super::suite::matrix).
pub struct AnyLayer(Box<dyn Fn(BoxAgent) -> BoxAgent>);

impl AnyLayer {
    /// Hides the type of what a layer makes. It hides its readiness as well: that of the
    /// agent below is awaited within the turn.
    pub fn new<L>(layer: L) -> Self
    where
        L: Layer<BoxAgent> + 'static,
        L::Service: Agent<Future: Send, Response: Send> + Clone + Send + Sync + 'static,
    {
        Self(Box::new(move |agent| BoxAgent::new(layer.layer(agent))))
    }
}

impl<S> Layer<S> for AnyLayer
where
    S: Agent<Future: Send, Response: Send> + Clone + Send + Sync + 'static,
{
    type Service = BoxAgent;

    fn layer(&self, inner: S) -> BoxAgent {
        (self.0)(BoxAgent::new(inner))
    }
}

impl fmt::Debug for AnyLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyLayer").finish_non_exhaustive()
    }
}
