use std::{
    cell::Cell,
    collections::{BTreeSet, HashMap, hash_map::Entry},
    hash::{Hash, Hasher},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use governor::{clock::Clock as _, nanos::Nanos, state::StateStore};

use super::clock::Clock;

/// The buckets, so many at most.
///
/// A bucket is the moment at which it is full again. When that has passed, it is as if it had never been, and
/// goes; no other one ever does.
#[derive(Debug)]
pub(super) struct Keys {
    clock: Clock,
    most: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    full_at: HashMap<u128, u64>,
    /// The same, the first to go in front.
    by_time: BTreeSet<(u64, u128)>,
    /// The one that keys share that have none.
    shared: u64,
}

/// How many buckets go at most with one request, so that nobody waits for the clearing of all.
const SWEPT: usize = 64;

impl Keys {
    pub(super) fn new(clock: Clock, most: usize) -> Arc<Self> {
        Arc::new(Self {
            clock,
            most,
            state: Mutex::default(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing in there panics between two changes that belong together.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> u64 {
        Nanos::from(self.clock.now()).as_u64()
    }

    /// How many buckets are not full.
    pub(super) fn len(&self) -> usize {
        let (now, mut state) = (self.now(), self.lock());
        state.sweep(now, usize::MAX);
        state.full_at.len()
    }

    /// How long until the bucket of a key is full, in nanoseconds; and whether it is the shared one.
    pub(super) fn full_in(&self, key: u128) -> (u64, bool) {
        let (now, state) = (self.now(), self.lock());
        let own = state.full_at.get(&key).copied().filter(|at| *at > now);
        let at = own.unwrap_or(state.shared);
        let in_shared = own.is_none() && (state.full_at.len() >= self.most || state.shared > now);
        (at.saturating_sub(now), in_shared)
    }
}

impl State {
    /// A bucket that is full again is none, however far the sweep has come.
    fn forget_if_full(&mut self, key: u128, now: u64) {
        if let Entry::Occupied(own) = self.full_at.entry(key)
            && *own.get() <= now
        {
            self.by_time.remove(&(own.remove(), key));
        }
    }

    fn sweep(&mut self, now: u64, most: usize) {
        for _ in 0..most {
            match self.by_time.first().copied() {
                Some((full_at, key)) if full_at <= now => {
                    self.by_time.pop_first();
                    self.full_at.remove(&key);
                }
                _ => return,
            }
        }
    }
}

/// A key, of which only a digest is kept.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) digest: u128,
    /// Set when it was the shared bucket that decided.
    pub(super) shared: Cell<bool>,
}

impl PartialEq for Asked {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

impl Eq for Asked {}

impl Hash for Asked {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest.hash(state);
    }
}

#[derive(Clone, Debug)]
pub(super) struct SharedKeys(pub(super) Arc<Keys>);

impl StateStore for SharedKeys {
    type Key = Asked;

    fn measure_and_replace<T, F, E>(&self, key: &Asked, f: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let (now, mut state) = (self.0.now(), self.0.lock());
        state.sweep(now, SWEPT);
        state.forget_if_full(key.digest, now);
        let State {
            full_at,
            by_time,
            shared,
        } = &mut *state;
        let full = full_at.len() >= self.0.most;
        match full_at.entry(key.digest) {
            Entry::Occupied(mut own) => {
                let (granted, until) = f(Some(Nanos::new(*own.get())))?;
                by_time.remove(&(*own.get(), key.digest));
                *own.get_mut() = until.as_u64();
                by_time.insert((until.as_u64(), key.digest));
                Ok(granted)
            }
            Entry::Vacant(place) => {
                // In use, it may be of this key: who gets a bucket does not get a full one then.
                let begin = (*shared > now).then(|| Nanos::new(*shared));
                key.shared.set(full || begin.is_some());
                let (granted, until) = f(begin)?;
                if full {
                    *shared = until.as_u64();
                } else {
                    place.insert(until.as_u64());
                    by_time.insert((until.as_u64(), key.digest));
                }
                Ok(granted)
            }
        }
    }
}
