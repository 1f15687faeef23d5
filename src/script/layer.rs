use tower_layer::Layer;

use super::Scripted;

/// The layer of a [`Script`](super::Script).
#[derive(Clone, Debug)]
pub struct ScriptLayer<C> {
    script: C,
}

impl<C> ScriptLayer<C> {
    /// The layer of `script`.
    pub const fn new(script: C) -> Self {
        Self { script }
    }
}

impl<S, C: Clone> Layer<S> for ScriptLayer<C> {
    type Service = Scripted<S, C>;

    fn layer(&self, inner: S) -> Scripted<S, C> {
        Scripted::new(inner, self.script.clone())
    }
}
