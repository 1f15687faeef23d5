use std::{
    mem,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Waker},
};

use super::{Limits, ring::Ring};

/// What a turn that runs shares with those who look at it and stop it.
///
/// The turn looks here at each event, so the plain case is two atomic reads.
pub(super) struct Live {
    aborted: AtomicBool,
    /// Who polls the turn, while its run has nothing to say.
    reader: Mutex<Option<Waker>>,
    pub(super) ring: Ring,
}

impl Live {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            aborted: AtomicBool::new(false),
            reader: Mutex::new(None),
            ring: Ring::new(limits.events, limits.bytes),
        }
    }

    fn reader(&self) -> MutexGuard<'_, Option<Waker>> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_aborted(&self) -> bool {
        self.aborted.load(Ordering::SeqCst)
    }

    /// The turn has to stop. Does not wake anybody: the caller holds a lock.
    pub(super) fn mark_aborted(&self) {
        self.aborted.store(true, Ordering::SeqCst);
    }

    /// Wakes the turn.
    pub(super) fn wake(&self) {
        let reader = mem::take(&mut *self.reader());
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    /// Waits for the order to stop.
    pub(super) fn poll_aborted(&self, cx: &Context<'_>) -> Poll<()> {
        match &mut *self.reader() {
            Some(reader) => reader.clone_from(cx.waker()),
            empty => *empty = Some(cx.waker().clone()),
        }
        // After the waker is there: an order that comes now finds it.
        if self.is_aborted() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}
