use std::{fmt, sync::Arc};

use portcullis::{MakeTurn, Prompt, Scope, Watched};
use tower_layer::Layer;

use super::{ReceiptSink, ReceiptTurn};

/// Hands a receipt of each turn to a sink. See the [module docs](super).
pub struct ReceiptLayer<K> {
    sink: Arc<K>,
}

/// An agent whose turns give receipts. See the [module docs](super).
pub type Receipted<S, K> = Watched<S, ReceiptLayer<K>>;

impl<K: ReceiptSink> ReceiptLayer<K> {
    /// Gives this sink the receipt of each turn.
    #[must_use]
    pub fn new(sink: K) -> Self {
        Self {
            sink: Arc::new(sink),
        }
    }
}

impl<K: ReceiptSink> MakeTurn for ReceiptLayer<K> {
    type Turn = ReceiptTurn<K>;

    fn make_turn(&self, scope: &mut Scope, _: &mut Prompt) -> ReceiptTurn<K> {
        ReceiptTurn::new(Arc::clone(&self.sink), scope)
    }
}

impl<S, K> Layer<S> for ReceiptLayer<K> {
    type Service = Receipted<S, K>;

    fn layer(&self, inner: S) -> Self::Service {
        Watched::new(inner, self.clone())
    }
}

impl<K> Clone for ReceiptLayer<K> {
    fn clone(&self) -> Self {
        Self {
            sink: Arc::clone(&self.sink),
        }
    }
}

impl<K> fmt::Debug for ReceiptLayer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReceiptLayer").finish_non_exhaustive()
    }
}
