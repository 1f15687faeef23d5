use tower_layer::Layer;

use super::Optional;

/// A layer that is there or is not. See the [module docs](super).
#[derive(Clone, Copy, Debug)]
pub struct OptionalLayer<L>(Option<L>);

impl<L> OptionalLayer<L> {
    /// The layer, if there is one.
    pub const fn new(layer: Option<L>) -> Self {
        Self(layer)
    }
}

impl<S, L: Layer<S>> Layer<S> for OptionalLayer<L> {
    type Service = Optional<L::Service, S>;

    fn layer(&self, inner: S) -> Self::Service {
        match &self.0 {
            Some(layer) => Optional::With(layer.layer(inner)),
            None => Optional::Without(inner),
        }
    }
}
