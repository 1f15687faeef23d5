use tower_layer::Layer;

use super::Stock;
use crate::raise::{Raise, RaiseLayer};

/// Puts a stack of tower's layers around an agent. See the [module docs](super).
#[derive(Clone, Copy, Debug)]
pub struct StockLayer<L> {
    layers: L,
    raise: RaiseLayer,
}

impl<L> StockLayer<L> {
    /// The layer of `layers`: one layer, or a stack.
    pub const fn new(layers: L) -> Self {
        Self {
            layers,
            raise: RaiseLayer::new(),
        }
    }

    /// Configures what is raised.
    #[must_use]
    pub const fn raise(mut self, raise: RaiseLayer) -> Self {
        self.raise = raise;
        self
    }
}

impl<S, L: Layer<Raise<S>>> Layer<S> for StockLayer<L> {
    type Service = Stock<L::Service>;

    fn layer(&self, inner: S) -> Self::Service {
        Stock::new(self.layers.layer(self.raise.layer(inner)))
    }
}
