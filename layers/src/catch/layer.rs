use tower_layer::Layer;

use super::Catch;

/// Folds errors and panics into one failure. See the [module docs](super).
#[derive(Clone, Copy, Debug, Default)]
pub struct CatchLayer(());

impl CatchLayer {
    /// The layer. There is nothing to configure.
    #[must_use]
    pub const fn new() -> Self {
        Self(())
    }
}

impl<S> Layer<S> for CatchLayer {
    type Service = Catch<S>;

    fn layer(&self, inner: S) -> Catch<S> {
        Catch::new(inner)
    }
}
