use std::{
    collections::{HashMap, VecDeque},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::Duration,
};

use tokio::time::{Instant, Sleep};

use super::LimitKey;

/// Who waits, each with the time at which there is a request for it.
///
/// Each tries by itself at its time, so that one whose caller does not read holds up nobody.
#[derive(Debug)]
pub(super) struct Line {
    most: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    next_ticket: u64,
    waiting: usize,
    /// Only keys that somebody waits for. Tickets and times rise.
    keys: HashMap<LimitKey, VecDeque<Waiter>>,
}

#[derive(Debug)]
struct Waiter {
    ticket: u64,
    at: Instant,
    waker: Waker,
}

impl Line {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            state: Mutex::default(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing in there is somebody's code.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// When somebody who comes now has a request, if others wait for theirs.
    pub(super) fn behind(&self, key: &LimitKey, interval: Duration) -> Option<Instant> {
        let state = self.lock();
        let times = state.keys.get(key)?.iter().map(|waiter| waiter.at);
        let last = times.max()?;
        // Whose time has passed takes its request now, or lets it be.
        (last > Instant::now()).then(|| last + interval)
    }

    /// Joins, unless too many wait.
    pub(super) fn join(self: &Arc<Self>, key: &LimitKey, at: Instant) -> Option<Place> {
        let mut guard = self.lock();
        let state = &mut *guard;
        if state.waiting >= self.most {
            return None;
        }
        state.waiting += 1;
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        let queue = state.keys.entry(key.clone()).or_default();
        queue.push_back(Waiter {
            ticket,
            at,
            waker: Waker::noop().clone(),
        });
        Some(Place {
            line: Arc::clone(self),
            key: key.clone(),
            ticket,
        })
    }

    pub(super) fn waiting(&self) -> usize {
        self.lock().waiting
    }

    /// Leaves. If its time has not come, those behind move up; they are returned, to be woken.
    fn leave(&self, key: &LimitKey, ticket: u64) -> Vec<Waker> {
        let mut guard = self.lock();
        let state = &mut *guard;
        let Some(queue) = state.keys.get_mut(key) else {
            return Vec::new();
        };
        let Some(place) = queue.iter().position(|waiter| waiter.ticket == ticket) else {
            return Vec::new();
        };
        let mut wakers = Vec::new();
        if let Some(gone) = queue.remove(place)
            && gone.at > Instant::now()
        {
            let mut free = gone.at;
            for waiter in queue.range_mut(place..) {
                std::mem::swap(&mut waiter.at, &mut free);
                wakers.push(waiter.waker.clone());
            }
        }
        if queue.is_empty() {
            state.keys.remove(key);
        }
        state.waiting -= 1;
        wakers
    }
}

/// A place in the line. Dropping it leaves the line.
#[derive(Debug)]
pub(super) struct Place {
    line: Arc<Line>,
    key: LimitKey,
    ticket: u64,
}

impl Place {
    fn with<R>(&self, look: impl FnOnce(&mut Waiter) -> R) -> R {
        let mut state = self.line.lock();
        let queue = state.keys.get_mut(&self.key);
        let mut waiters = queue.into_iter().flatten();
        let mine = waiters.find(|waiter| waiter.ticket == self.ticket);
        look(mine.expect("it is there until this is dropped"))
    }

    /// Waits for the time, which may come nearer.
    pub(super) fn poll(&self, cx: &mut Context<'_>, sleep: &mut Pin<Box<Sleep>>) -> Poll<()> {
        let at = self.with(|mine| {
            mine.waker.clone_from(cx.waker());
            mine.at
        });
        if sleep.deadline() != at {
            sleep.as_mut().reset(at);
        }
        sleep.as_mut().poll(cx)
    }

    /// It was taken by somebody else: the next time.
    pub(super) fn put_off(&self, at: Instant) {
        self.with(|mine| mine.at = at);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Woken outside of the lock: it may run anything.
        let wakers = self.line.leave(&self.key, self.ticket);
        wakers.into_iter().for_each(Waker::wake);
    }
}
