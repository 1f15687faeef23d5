use tower_layer::Layer;

use super::Raise;

/// Raises failures that come before anything was shown. See the [module docs](super).
#[derive(Clone, Copy, Debug)]
pub struct RaiseLayer {
    hold_back: usize,
}

impl RaiseLayer {
    /// The layer. It holds back sixteen advisory events at most.
    #[must_use]
    pub const fn new() -> Self {
        Self { hold_back: 16 }
    }

    /// How many advisory events it holds back. With one more, it hands over the stream,
    /// and a failure stays an event. Zero raises only what fails with its first event.
    #[must_use]
    pub const fn hold_back(mut self, events: usize) -> Self {
        self.hold_back = events;
        self
    }
}

impl Default for RaiseLayer {
    fn default() -> Self {
        Self::new()
    }
}

impl<S> Layer<S> for RaiseLayer {
    type Service = Raise<S>;

    fn layer(&self, inner: S) -> Raise<S> {
        Raise::new(inner, self.hold_back)
    }
}
