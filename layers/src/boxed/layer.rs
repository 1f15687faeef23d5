use portcullis::{Agent, BoxAgent};
use tower_layer::Layer;

/// Makes a [`BoxAgent`] of what is below. See the [module](crate::boxed).
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct BoxedLayer;

impl BoxedLayer {
    /// The layer.
    #[must_use]
    pub const fn new() -> Self {
        Self
    }
}

impl<S> Layer<S> for BoxedLayer
where
    S: Agent + Clone + Send + Sync + 'static,
    S::Future: Send,
    S::Response: Send,
{
    type Service = BoxAgent;

    fn layer(&self, inner: S) -> BoxAgent {
        BoxAgent::new(inner)
    }
}
