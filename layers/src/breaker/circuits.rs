use std::{
    collections::{BTreeMap, HashMap},
    hash::Hash,
};

use tokio::time::Instant;

use super::{Settings, State, circuit::Circuit};

/// The circuits of all keys: a bounded number.
#[derive(Debug)]
pub(super) struct Circuits<K> {
    of: HashMap<K, Entry>,
    /// Those of which no turn runs, the one that was used longest ago first.
    idle: BTreeMap<u64, K>,
    next: u64,
}

#[derive(Debug, Default)]
struct Entry {
    circuit: Circuit,
    running: usize,
    /// Its place among the idle ones.
    idle: Option<u64>,
}

/// How many open circuits are passed over in the search for one to forget.
const LOOKED_AT: usize = 8;

impl<K> Circuits<K> {
    pub(super) fn new() -> Self {
        Self {
            of: HashMap::new(),
            idle: BTreeMap::new(),
            next: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.of.len()
    }
}

impl<K: Clone + Eq + Hash> Circuits<K> {
    /// Does something with the circuit of a key, which is made if need be; then a turn more,
    /// or less, of it runs. `None` if there is no room: all others have turns that run, or
    /// are open.
    pub(super) fn enter<R>(
        &mut self,
        key: &K,
        now: Instant,
        settings: &Settings,
        f: impl FnOnce(&mut Circuit) -> (R, bool),
    ) -> Option<R> {
        if !self.of.contains_key(key) && !self.make_room(now, settings) {
            return None;
        }
        let entry = self.of.entry(key.clone()).or_default();
        if let Some(place) = entry.idle.take() {
            self.idle.remove(&place);
        }
        let (result, admitted) = f(&mut entry.circuit);
        entry.running += usize::from(admitted);
        self.rest(key, now, settings);
        Some(result)
    }

    /// A turn of this key is over.
    pub(super) fn leave<R>(
        &mut self,
        key: &K,
        now: Instant,
        settings: &Settings,
        f: impl FnOnce(&mut Circuit) -> R,
    ) -> Option<R> {
        let entry = self.of.get_mut(key)?;
        let result = f(&mut entry.circuit);
        entry.running -= 1;
        self.rest(key, now, settings);
        Some(result)
    }

    /// Forgets a circuit that says nothing, or lines it up to be forgotten, if no turn of it
    /// runs.
    fn rest(&mut self, key: &K, now: Instant, settings: &Settings) {
        let Some(entry) = self.of.get_mut(key) else {
            return;
        };
        if entry.running > 0 {
            return;
        }
        if entry.circuit.is_blank(now, settings) {
            self.of.remove(key);
            return;
        }
        let place = self.next;
        self.next += 1;
        entry.idle = Some(place);
        self.idle.insert(place, key.clone());
    }

    /// Forgets one that is not open, for a new one. To forget an open one would close it.
    fn make_room(&mut self, now: Instant, settings: &Settings) -> bool {
        if self.of.len() < settings.max_keys {
            return true;
        }
        let is_open = |key: &K| {
            let state = self.of.get(key).map(|entry| entry.circuit.state(now));
            matches!(state, Some(State::Open { .. }))
        };
        let forgotten = self
            .idle
            .iter()
            .take(LOOKED_AT)
            .find(|(_, key)| !is_open(key))
            .map(|(place, _)| *place);
        let Some(key) = forgotten.and_then(|place| self.idle.remove(&place)) else {
            return false;
        };
        self.of.remove(&key);
        true
    }

    pub(super) fn state(&self, key: &K, now: Instant) -> State {
        self.of
            .get(key)
            .map_or(State::Closed, |entry| entry.circuit.state(now))
    }
}
