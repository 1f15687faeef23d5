use tower_layer::{Layer, Stack};

/// A stack of two layers, the first one outermost: for the suite, it is a layer like any
/// other.
pub const fn pair<Outer, Inner>(outer: Outer, inner: Inner) -> Stack<Inner, Outer> {
    Stack::new(inner, outer)
}

/// A layer whose service's type is hidden, so that a table of many can be tested in
/// every ordered pair.
///
/// ```
/// use portcullis::{BoxAgent, TurnLayer, conformance::{AnyLayer, LayerOptions, pair, suite}};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let table: [fn() -> AnyLayer; 2] = [
///     || AnyLayer::new(TurnLayer::new(|_: &mut _, _: &mut _| ())),
///     || AnyLayer::new(portcullis::from_fn(async |scope, prompt, mut next: portcullis::Next<BoxAgent>, _out| {
///         Ok(next.invoke(scope, prompt))
///     })),
/// ];
/// for outer in table {
///     for inner in table {
///         suite::layer(|| pair(outer(), inner()), LayerOptions::new()).await.assert();
///     }
/// }
/// # }
/// ```
pub struct AnyLayer(Box<dyn Fn(crate::BoxAgent) -> crate::BoxAgent>);

impl AnyLayer {
    /// Hides the type of what a layer makes. It hides its readiness as well: that of the
    /// agent below is awaited within the turn.
    pub fn new<L>(layer: L) -> Self
    where
        L: Layer<crate::BoxAgent> + 'static,
        L::Service: crate::Agent<Future: Send, Response: Send> + Clone + Send + Sync + 'static,
    {
        Self(Box::new(move |agent| {
            crate::BoxAgent::new(layer.layer(agent))
        }))
    }
}

impl<S> Layer<S> for AnyLayer
where
    S: crate::Agent<Future: Send, Response: Send> + Clone + Send + Sync + 'static,
{
    type Service = crate::BoxAgent;

    fn layer(&self, inner: S) -> crate::BoxAgent {
        (self.0)(crate::BoxAgent::new(inner))
    }
}

impl std::fmt::Debug for AnyLayer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AnyLayer").finish_non_exhaustive()
    }
}
