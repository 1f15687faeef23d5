use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use super::{Held, NotAcquired, SessionLock};
use crate::turnstile::{Limits, Permit, Place, Turnstile};

/// A lock of one process. Clones share it.
///
/// ```
/// use portcullis_layers::session::{MemoryLock, SessionLock};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let lock = MemoryLock::new();
/// let held = lock.acquire("s", 0).await.expect("nobody holds it");
/// assert!(lock.acquire("s", 0).await.is_err());
/// drop(held);
/// assert_eq!(lock.held(), 0);
/// # }
/// ```
#[derive(Clone)]
pub struct MemoryLock(Arc<Turnstile<Arc<str>>>);

impl MemoryLock {
    /// A lock that nobody holds.
    #[must_use]
    pub fn new() -> Self {
        let one_a_session = Limits {
            per_key: 1,
            overall: None,
        };
        Self(Arc::new(Turnstile::new(one_a_session)))
    }

    /// How many sessions are held, for a gauge.
    #[must_use]
    pub fn held(&self) -> usize {
        self.0.held()
    }

    /// How many wait for one, for a gauge.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.0.waiting()
    }

    /// How many sessions it knows: those that somebody holds or waits for.
    #[must_use]
    pub fn sessions(&self) -> usize {
        self.0.keys()
    }
}

impl Default for MemoryLock {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryLock")
            .field("held", &self.held())
            .field("waiting", &self.waiting())
            .finish_non_exhaustive()
    }
}

impl SessionLock for MemoryLock {
    type Held = MemoryHeld;
    type Acquire = MemoryAcquire;

    fn acquire(&self, session: &str, most_waiting: usize) -> MemoryAcquire {
        MemoryAcquire {
            turnstile: Arc::clone(&self.0),
            session: session.into(),
            most_waiting,
            place: None,
        }
    }
}

/// Waits for a session.
///
/// # Cancel safety
///
/// Dropping it leaves the queue.
#[must_use = "futures do nothing unless polled"]
pub struct MemoryAcquire {
    turnstile: Arc<Turnstile<Arc<str>>>,
    session: Arc<str>,
    most_waiting: usize,
    place: Option<Place<Arc<str>>>,
}

impl Future for MemoryAcquire {
    type Output = Result<MemoryHeld, NotAcquired>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let place = match &mut this.place {
            Some(place) => place,
            empty => {
                if let Some(permit) = this.turnstile.try_take(&this.session) {
                    return Poll::Ready(Ok(MemoryHeld { _permit: permit }));
                }
                let session = Arc::clone(&this.session);
                let Some(place) = this.turnstile.join(session, Some(this.most_waiting), cx) else {
                    return Poll::Ready(Err(NotAcquired::Busy));
                };
                empty.insert(place)
            }
        };
        place
            .poll(cx)
            .map(|permit| Ok(MemoryHeld { _permit: permit }))
    }
}

impl fmt::Debug for MemoryAcquire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryAcquire")
            .field("waiting", &self.place.is_some())
            .finish_non_exhaustive()
    }
}

/// A session of a [`MemoryLock`] that is held.
#[derive(Debug)]
pub struct MemoryHeld {
    _permit: Permit<Arc<str>>,
}

/// It cannot be lost.
impl Held for MemoryHeld {}
