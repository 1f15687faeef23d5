//! Who runs and who waits, for the layers that admit only so many turns.

use std::{
    collections::{BTreeSet, HashMap, hash_map::Entry},
    hash::Hash,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

/// Where turns get their places, first come, first served.
///
/// A turn needs a place of its key and, if there is a limit over all keys, one of those
/// as well; it gets both or none, so that a turn that waits takes nothing from others.
#[derive(Debug)]
pub(crate) struct Turnstile<K> {
    limits: Limits,
    state: Mutex<State<K>>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Turns of one key.
    pub(crate) per_key: usize,
    /// Turns of all keys.
    pub(crate) overall: Option<usize>,
}

#[derive(Debug)]
struct State<K> {
    /// Turns that have their place, those that were told and those that were not.
    held: usize,
    next_ticket: u64,
    waiters: HashMap<u64, Waiter<K>>,
    /// Only keys that somebody holds or waits for (O-M03).
    keys: HashMap<K, Seats>,
    /// The first waiter of each key that has a place free: who is next, if there is a
    /// place overall. Empty while there is one.
    next: BTreeSet<u64>,
}

#[derive(Debug, Default)]
struct Seats {
    held: usize,
    /// Tickets, which rise.
    queue: BTreeSet<u64>,
}

#[derive(Debug)]
struct Waiter<K> {
    key: K,
    waker: Waker,
    /// It has its place and was woken.
    admitted: bool,
}

impl<K: Clone + Eq + Hash> Turnstile<K> {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            state: Mutex::new(State {
                held: 0,
                next_ticket: 0,
                waiters: HashMap::new(),
                keys: HashMap::new(),
                next: BTreeSet::new(),
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<K>> {
        // Whatever may panic in there, a key's code, comes before the counters change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place if one is free and nobody waits for it.
    pub(crate) fn try_take(self: &Arc<Self>, key: &K) -> Option<Permit<K>> {
        let mut state = self.lock();
        let seats = state.keys.get(key);
        let free = seats.is_none_or(|seats| seats.queue.is_empty())
            && seats.map_or(0, |seats| seats.held) < self.limits.per_key
            && self.has_room(&state);
        if !free {
            return None;
        }
        // The key first: to clone and hash it is somebody's code, and may panic.
        state.keys.entry(key.clone()).or_default().held += 1;
        state.held += 1;
        drop(state);
        Some(Permit {
            turnstile: Arc::clone(self),
            key: key.clone(),
        })
    }

    /// Joins the queue of a key, unless `most` wait there already.
    pub(crate) fn join(
        self: &Arc<Self>,
        key: K,
        most: Option<usize>,
        cx: &Context<'_>,
    ) -> Option<Place<K>> {
        let mut guard = self.lock();
        let state = &mut *guard;
        let seats = state.keys.entry(key.clone()).or_default();
        if most.is_some_and(|most| seats.queue.len() >= most) {
            Self::sweep(state, &key);
            return None;
        }
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        seats.queue.insert(ticket);
        if seats.queue.len() == 1 && seats.held < self.limits.per_key {
            state.next.insert(ticket);
        }
        state.waiters.insert(
            ticket,
            Waiter {
                key,
                waker: cx.waker().clone(),
                admitted: false,
            },
        );
        // A place may have come free since it was tried. Then this is called up at once.
        let called_up = self.admit_next(state);
        drop(guard);
        if let Some(waker) = called_up {
            waker.wake();
        }
        Some(Place {
            turnstile: Arc::clone(self),
            ticket: Some(ticket),
        })
    }

    fn has_room(&self, state: &State<K>) -> bool {
        self.limits.overall.is_none_or(|most| state.held < most)
    }

    /// Gives a place back and says whom to wake.
    fn give_back(&self, key: &K) -> Option<Waker> {
        let mut state = self.lock();
        let state = &mut *state;
        state.held -= 1;
        let seats = state.keys.get_mut(key).expect("held by the permit");
        seats.held -= 1;
        if let Some(first) = seats.queue.first() {
            state.next.insert(*first);
        }
        Self::sweep(state, key);
        self.admit_next(state)
    }

    fn admit_next(&self, state: &mut State<K>) -> Option<Waker> {
        if !self.has_room(state) {
            return None;
        }
        let ticket = state.next.pop_first()?;
        let waiter = state.waiters.get_mut(&ticket).expect("it is in a queue");
        let seats = state.keys.get_mut(&waiter.key).expect("it has a queue");
        seats.queue.remove(&ticket);
        seats.held += 1;
        if seats.held < self.limits.per_key
            && let Some(first) = seats.queue.first()
        {
            state.next.insert(*first);
        }
        state.held += 1;
        waiter.admitted = true;
        Some(mem::replace(&mut waiter.waker, Waker::noop().clone()))
    }

    fn sweep(state: &mut State<K>, key: &K) {
        let seats = state.keys.get(key);
        if seats.is_some_and(|seats| seats.held == 0 && seats.queue.is_empty()) {
            state.keys.remove(key);
        }
    }

    /// Turns that have a place.
    pub(crate) fn held(&self) -> usize {
        self.lock().held
    }

    /// Turns that wait.
    pub(crate) fn waiting(&self) -> usize {
        let state = self.lock();
        state.keys.values().map(|seats| seats.queue.len()).sum()
    }

    /// Keys that somebody holds or waits for.
    pub(crate) fn keys(&self) -> usize {
        self.lock().keys.len()
    }
}

/// A place in the queue. Dropping it leaves the queue.
#[derive(Debug)]
pub(crate) struct Place<K: Clone + Eq + Hash> {
    turnstile: Arc<Turnstile<K>>,
    /// `None` once it was called up.
    ticket: Option<u64>,
}

impl<K: Clone + Eq + Hash> Place<K> {
    /// Waits to be called up.
    pub(crate) fn poll(&mut self, cx: &Context<'_>) -> Poll<Permit<K>> {
        let ticket = self.ticket.expect("not polled after it was called up");
        let mut state = self.turnstile.lock();
        let Entry::Occupied(mut waiter) = state.waiters.entry(ticket) else {
            unreachable!("a ticket is valid until it is taken below");
        };
        if !waiter.get().admitted {
            waiter.get_mut().waker.clone_from(cx.waker());
            return Poll::Pending;
        }
        let key = waiter.remove().key;
        drop(state);
        self.ticket = None;
        Poll::Ready(Permit {
            turnstile: Arc::clone(&self.turnstile),
            key,
        })
    }
}

impl<K: Clone + Eq + Hash> Drop for Place<K> {
    fn drop(&mut self) {
        let Some(ticket) = self.ticket else { return };
        let mut state = self.turnstile.lock();
        let Some(waiter) = state.waiters.remove(&ticket) else {
            return;
        };
        if waiter.admitted {
            // Called up and gone: the place goes to the next.
            drop(state);
            drop(Permit {
                turnstile: Arc::clone(&self.turnstile),
                key: waiter.key,
            });
            return;
        }
        let state = &mut *state;
        let seats = state.keys.get_mut(&waiter.key).expect("it has a queue");
        seats.queue.remove(&ticket);
        if state.next.remove(&ticket)
            && let Some(first) = seats.queue.first()
        {
            state.next.insert(*first);
        }
        Turnstile::sweep(state, &waiter.key);
    }
}

/// A place. Dropping it gives the place to the next.
#[derive(Debug)]
pub(crate) struct Permit<K: Clone + Eq + Hash> {
    turnstile: Arc<Turnstile<K>>,
    key: K,
}

impl<K: Clone + Eq + Hash> Drop for Permit<K> {
    fn drop(&mut self) {
        // Woken outside of the lock: it may run anything.
        if let Some(waker) = self.turnstile.give_back(&self.key) {
            waker.wake();
        }
    }
}
