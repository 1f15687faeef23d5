use tower_layer::Layer;

use super::Conform;

/// Makes an agent keep to the contract. See the [module docs](super).
#[derive(Clone, Copy, Debug, Default)]
pub struct ConformLayer(());

impl ConformLayer {
    /// The layer. There is nothing to configure.
    #[must_use]
    pub const fn new() -> Self {
        Self(())
    }
}

impl<S> Layer<S> for ConformLayer {
    type Service = Conform<S>;

    fn layer(&self, inner: S) -> Conform<S> {
        Conform::new(inner)
    }
}
