//! The port to who holds a session.

mod memory;
#[cfg(feature = "testing")]
mod suite;

use std::{
    error::Error,
    fmt,
    task::{Context, Poll},
};

pub use self::memory::{MemoryAcquire, MemoryHeld, MemoryLock};
#[cfg(feature = "testing")]
#[cfg_attr(docsrs, doc(cfg(feature = "testing")))]
pub use self::suite::assert_session_lock;

/// Gives a session to one turn at a time.
///
/// What a lock promises, and [`assert_session_lock`](super::assert_session_lock) of the feature
/// `testing` checks, also between handles that are in different processes:
///
/// - **Nobody acts on what it has only read.** Looking, taking and joining the queue are one step.
/// - A session has at most one holder. Sessions have nothing to do with one another.
/// - Whoever finds it taken joins a queue, if fewer than `most_waiting` are in it; else the answer
///   is [`NotAcquired::Busy`], without a wait.
/// - First come, first served.
/// - Who drops the future leaves the queue; if it was its turn already, the next one's is.
/// - Dropping what is held passes the session on, and touches no later holder.
/// - A session that nobody holds or waits for takes no memory.
///
/// In a store that replicas share, what is held is a lease with a number that rises: dropping
/// it hands the release to a writer that the lock owns, and a process that dies frees it when it
/// expires. A holder that was paused past its lease is told by [`Held::poll_lost`].
pub trait SessionLock {
    /// What the holder has.
    type Held: Held;
    /// The answer. Dropping it withdraws the request.
    type Acquire: Future<Output = Result<Self::Held, NotAcquired>>;

    /// Takes a session, or waits for it.
    fn acquire(&self, session: &str, most_waiting: usize) -> Self::Acquire;
}

/// A session that is held. Dropping it frees the session.
pub trait Held {
    /// Ready when the session is no longer this holder's, though it is not dropped: its lease ran
    /// out. Asked while the turn has nothing to say. A lock that cannot be lost has no
    /// need of it.
    fn poll_lost(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let _ = cx;
        Poll::Pending
    }
}

/// A session was not acquired.
#[derive(Debug)]
#[non_exhaustive]
pub enum NotAcquired {
    /// Somebody holds it, and no more may wait.
    Busy,
    /// The lock cannot be asked.
    Unavailable(Box<dyn Error + Send + Sync>),
}

impl fmt::Display for NotAcquired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Busy => "the session is busy",
            Self::Unavailable(_) => "the session lock is unavailable",
        })
    }
}

impl Error for NotAcquired {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Busy => None,
            Self::Unavailable(error) => Some(&**error),
        }
    }
}
