use tower_layer::Layer;

use super::{Divert, Passthrough};

/// Carries unknown events around a layer. See the [module docs](super).
#[derive(Clone, Copy, Debug)]
pub struct PassthroughLayer<L> {
    layer: L,
}

impl<L> PassthroughLayer<L> {
    /// Carries unknown events around `layer`.
    pub const fn new(layer: L) -> Self {
        Self { layer }
    }
}

impl<S, L: Layer<Divert<S>>> Layer<S> for PassthroughLayer<L> {
    type Service = Passthrough<L::Service>;

    fn layer(&self, inner: S) -> Self::Service {
        Passthrough::new(self.layer.layer(Divert::new(inner)))
    }
}
