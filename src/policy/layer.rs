use tower_layer::Layer;

use super::Admitted;

/// The layer of a [`Policy`](super::Policy).
#[derive(Clone, Debug)]
pub struct PolicyLayer<P> {
    policy: P,
}

impl<P> PolicyLayer<P> {
    /// The layer of `policy`.
    pub const fn new(policy: P) -> Self {
        Self { policy }
    }
}

impl<S, P: Clone> Layer<S> for PolicyLayer<P> {
    type Service = Admitted<S, P>;

    fn layer(&self, inner: S) -> Admitted<S, P> {
        Admitted::new(inner, self.policy.clone())
    }
}
