use std::{
    fmt,
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use super::{Change, Outcome, Settings, State, circuit::Pass, circuits::Circuits};

/// What all turns of a breaker share.
pub(super) struct Desk<K> {
    pub(super) settings: Settings,
    circuits: Mutex<Circuits<K>>,
    on_change: Option<OnChange<K>>,
}

pub(super) type OnChange<K> = Arc<dyn Fn(&K, Change) + Send + Sync>;

impl<K> Desk<K> {
    pub(super) fn new(settings: Settings, on_change: Option<OnChange<K>>) -> Self {
        Self {
            settings,
            circuits: Mutex::new(Circuits::new()),
            on_change,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Circuits<K>> {
        // What may panic in there is a key's code, to clone and to hash it.
        self.circuits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn keys(&self) -> usize {
        self.lock().len()
    }

    fn tell(&self, key: &K, change: Option<Change>) {
        if let (Some(on_change), Some(change)) = (&self.on_change, change) {
            on_change(key, change);
        }
    }
}

impl<K: Clone + Eq + Hash> Desk<K> {
    /// Lets a turn through, or says when to come again.
    pub(super) fn admit(self: &Arc<Self>, key: &K) -> Result<Ticket<K>, Duration> {
        let now = Instant::now();
        let mut circuits = self.lock();
        let entered = circuits.enter(key, now, &self.settings, |circuit| {
            let (decision, change) = circuit.admit(now, &self.settings);
            ((decision, change), decision.is_ok())
        });
        drop(circuits);
        // No room: the breaker is no gate, and does not refuse what it knows nothing of.
        let Some((decision, change)) = entered else {
            return Ok(Ticket {
                desk: Arc::clone(self),
                begun: now,
                turn: None,
            });
        };
        let admitted = decision.map(|pass| Ticket {
            desk: Arc::clone(self),
            begun: now,
            turn: Some((key.clone(), pass)),
        });
        self.tell(key, change);
        admitted
    }

    pub(super) fn state(&self, key: &K) -> State {
        self.lock().state(key, Instant::now())
    }
}

impl<K> fmt::Debug for Desk<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// A turn that was let through. Dropped, it does not count, and frees a probe's place.
pub(super) struct Ticket<K: Clone + Eq + Hash> {
    desk: Arc<Desk<K>>,
    begun: Instant,
    /// `None` if it is settled, or was never kept.
    turn: Option<(K, Pass)>,
}

impl<K: Clone + Eq + Hash> Ticket<K> {
    pub(super) fn age(&self) -> Duration {
        self.begun.elapsed()
    }

    pub(super) fn settle(&mut self, outcome: Outcome) {
        let Some((key, pass)) = self.turn.take() else {
            return;
        };
        let (now, settings) = (Instant::now(), &self.desk.settings);
        let change = self.desk.lock().leave(&key, now, settings, |circuit| {
            circuit.settle(pass, outcome, now, settings)
        });
        // Outside of the lock: it may do anything, and ask for the state.
        self.desk.tell(&key, change.flatten());
    }
}

impl<K: Clone + Eq + Hash> Drop for Ticket<K> {
    fn drop(&mut self) {
        self.settle(Outcome::Neutral);
    }
}
