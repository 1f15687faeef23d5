use std::{fmt, hash::Hash, sync::Arc, time::Duration};

use portcullis::{Admitted, Failure, Policy, Prompt, Scope};
use tower_layer::Layer;

use super::{
    Admit, Change, Dropped, InvalidBreaker, Judged, Outcome, Settings, State,
    desk::{Desk, OnChange},
    outcome::{of_drop, of_failure},
};
use crate::commit::Rule;

/// Leaves an agent alone that fails. See the [module docs](super).
///
/// One value is one breaker, or one for each key: clones, and all services that it makes,
/// share it.
pub struct BreakerLayer<K = ()> {
    pub(super) key: Rule<Scope, K>,
    pub(super) failed: Rule<Failure, Outcome>,
    pub(super) dropped: Rule<Dropped, Outcome>,
    /// Made anew when the callback is set, which is before anybody uses it.
    pub(super) desk: Arc<Desk<K>>,
}

/// An agent that is left alone when it fails. See the [module docs](super).
pub type Breaker<S, K = ()> = Admitted<S, BreakerLayer<K>>;

impl BreakerLayer {
    /// One breaker for all turns.
    ///
    /// # Errors
    ///
    /// When the settings make no sense.
    pub fn new(settings: Settings) -> Result<Self, InvalidBreaker> {
        Self::keyed(settings, |_| ())
    }
}

/// One breaker for all turns, with the default settings.
impl Default for BreakerLayer {
    fn default() -> Self {
        Self::new(Settings::new()).expect("the default settings make sense")
    }
}

impl<K> BreakerLayer<K> {
    /// One breaker for each key, such as the session or the tenant.
    ///
    /// # Errors
    ///
    /// When the settings make no sense.
    pub fn keyed(
        settings: Settings,
        key: impl Fn(&Scope) -> K + Send + Sync + 'static,
    ) -> Result<Self, InvalidBreaker> {
        Ok(Self {
            key: Rule::new(key),
            failed: Rule::new(of_failure),
            dropped: Rule::new(of_drop),
            desk: Arc::new(Desk::new(settings.check()?, None)),
        })
    }

    /// Says what a failure says about the agent, instead of: it does not work, unless the
    /// code says that the turn is to blame.
    #[must_use]
    pub fn classify(
        mut self,
        outcome: impl Fn(&Failure) -> Outcome + Send + Sync + 'static,
    ) -> Self {
        self.failed = Rule::new(outcome);
        self
    }

    /// Says what it means that a caller drops its turn, instead of: nothing, unless it has
    /// waited half a minute for the first visible event.
    #[must_use]
    pub fn dropped(
        mut self,
        outcome: impl Fn(&Dropped) -> Outcome + Send + Sync + 'static,
    ) -> Self {
        self.dropped = Rule::new(outcome);
        self
    }

    /// Is called at each change of a breaker's state, for a counter or a log. It may run
    /// inside `drop`: it must not block, and must not panic. Of two changes at the same
    /// moment on two threads either may be told first.
    ///
    /// The breaker begins anew: set this before it is used.
    #[must_use]
    pub fn on_change(mut self, f: impl Fn(&K, Change) + Send + Sync + 'static) -> Self {
        let on_change: OnChange<K> = Arc::new(f);
        self.desk = Arc::new(Desk::new(self.desk.settings, Some(on_change)));
        self
    }

    /// How many keys are remembered, for a gauge.
    #[must_use]
    pub fn keys(&self) -> usize {
        self.desk.keys()
    }
}

#[cfg(feature = "balance")]
impl BreakerLayer<Arc<str>> {
    /// One breaker for each replica of a [`Balance`](crate::balance::Balance), by its name.
    ///
    /// # Errors
    ///
    /// When the settings make no sense.
    pub fn of_replicas(settings: Settings) -> Result<Self, InvalidBreaker> {
        // The balance says which one it is about.
        Self::keyed(settings, |_| Arc::from(""))
    }
}

impl<K: Clone + Eq + Hash> BreakerLayer<K> {
    /// Lets a turn through that is judged by its end, or says for how long none will be.
    pub(crate) fn judge(&self, key: &K) -> Result<Judged<K>, Duration> {
        let ticket = self.desk.admit(key)?;
        Ok(Judged {
            ticket,
            failed: self.failed.clone(),
            dropped: self.dropped.clone(),
            answered: false,
        })
    }

    /// How the breaker of a key stands, for a gauge or a health check. One that nobody
    /// knows is closed.
    #[must_use]
    pub fn state(&self, key: &K) -> State {
        self.desk.state(key)
    }
}

impl<K: Clone + Eq + Hash> Policy for BreakerLayer<K> {
    type Turn = Judged<K>;
    type Admit = Admit<K>;

    fn admit(&self, scope: Scope, prompt: Prompt) -> Admit<K> {
        Admit::new(self.clone(), scope, prompt)
    }
}

impl<S, K> Layer<S> for BreakerLayer<K> {
    type Service = Breaker<S, K>;

    fn layer(&self, inner: S) -> Breaker<S, K> {
        Admitted::new(inner, self.clone())
    }
}

impl<K> Clone for BreakerLayer<K> {
    fn clone(&self) -> Self {
        Self {
            key: self.key.clone(),
            failed: self.failed.clone(),
            dropped: self.dropped.clone(),
            desk: Arc::clone(&self.desk),
        }
    }
}

impl<K> fmt::Debug for BreakerLayer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BreakerLayer")
            .field("settings", &self.desk.settings)
            .finish_non_exhaustive()
    }
}
