use std::{fmt, sync::Arc, time::Duration};

use portcullis::{Admitted, Policy, Prompt, Scope};
use tower_layer::Layer;

use super::{
    Global, Key,
    admit::{Admit, Patience},
    turn::Held,
};
use crate::turnstile::{Limits, Turnstile};

/// Bounds how many turns run at once. See the [module docs](super).
///
/// One value is one limit: clones, and all services that it makes, share it.
pub struct ConcurrencyLayer<K: Key = Global> {
    key: K,
    limits: Limits,
    patience: Patience,
    /// Made anew when a limit changes, which is before anybody uses it.
    turnstile: Arc<Turnstile<K::Key>>,
}

/// An agent of which only so many turns run at once. See the [module docs](super).
pub type Concurrency<S, K = Global> = Admitted<S, ConcurrencyLayer<K>>;

impl ConcurrencyLayer {
    /// So many turns at once. The others wait.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self::keyed(most, Global::new())
    }
}

impl<K: Key> ConcurrencyLayer<K> {
    /// So many turns at once for each key. The others wait.
    #[must_use]
    pub fn keyed(most: usize, key: K) -> Self {
        let limits = Limits {
            per_key: most,
            overall: None,
        };
        Self {
            key,
            limits,
            patience: Patience::default(),
            turnstile: Arc::new(Turnstile::new(limits)),
        }
    }

    fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.limits);
        self.turnstile = Arc::new(Turnstile::new(self.limits));
        self
    }

    /// So many turns at once over all keys, beside the limit of each key. A turn takes
    /// both places or none, which two layers could not do.
    ///
    /// The limit begins anew: set it before the layer is used.
    #[must_use]
    pub fn overall(self, most: usize) -> Self {
        self.limits(|limits| limits.overall = Some(most))
    }

    /// So many turns of one key may wait; what comes on top is refused with
    /// `overloaded`.
    #[must_use]
    pub const fn max_waiting(mut self, turns: usize) -> Self {
        self.patience.turns = Some(turns);
        self
    }

    /// A turn may wait so long, and is then refused with `overloaded`.
    #[must_use]
    pub fn max_wait(mut self, wait: Duration) -> Self {
        self.patience.at_most = Some(wait);
        self
    }

    /// Nobody waits: without a place, a turn is refused with `overloaded` at once.
    #[must_use]
    pub const fn shed(self) -> Self {
        self.max_waiting(0)
    }

    /// How many turns run, for a gauge.
    #[must_use]
    pub fn running(&self) -> usize {
        self.turnstile.held()
    }

    /// How many turns wait, for a gauge.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.turnstile.waiting()
    }

    /// How many keys have a turn that runs or waits, for a gauge.
    #[must_use]
    pub fn keys(&self) -> usize {
        self.turnstile.keys()
    }
}

impl<K: Key> Policy for ConcurrencyLayer<K> {
    type Turn = Held<K::Key>;
    type Admit = Admit<K::Key>;

    fn admit(&self, scope: Scope, prompt: Prompt) -> Admit<K::Key> {
        let key = self.key.key(&scope);
        let hopeless = self.limits.per_key == 0 || self.limits.overall == Some(0);
        Admit::new(
            (!hopeless).then(|| Arc::clone(&self.turnstile)),
            key,
            self.patience,
            scope,
            prompt,
        )
    }
}

impl<S, K: Key + Clone> Layer<S> for ConcurrencyLayer<K> {
    type Service = Concurrency<S, K>;

    fn layer(&self, inner: S) -> Self::Service {
        Admitted::new(inner, self.clone())
    }
}

impl<K: Key + Clone> Clone for ConcurrencyLayer<K> {
    fn clone(&self) -> Self {
        Self {
            key: self.key.clone(),
            limits: self.limits,
            patience: self.patience,
            turnstile: Arc::clone(&self.turnstile),
        }
    }
}

impl<K: Key> fmt::Debug for ConcurrencyLayer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConcurrencyLayer")
            .field("limits", &self.limits)
            .field("patience", &self.patience)
            .finish_non_exhaustive()
    }
}
