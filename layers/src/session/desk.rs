use std::{
    fmt,
    future::ready,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use portcullis::{
    Accepted, BoxEventStream, ControlCapabilities, ControlFuture, ControlRefusal, Prompt,
    SessionControl, SessionState,
};

use super::{
    GateLayer, InvalidLimits, Limits, MemoryLock, WindowLayer, book::Book, ring::Observer,
};

/// Where sessions are controlled from: [`SessionControl`] over the turns that run through the
/// [`window`](Self::window) of this desk. Clones are the same desk. See the
/// [module docs](super).
#[derive(Clone)]
pub struct SessionDesk(Arc<Inner>);

struct Inner {
    book: Mutex<Book>,
    lock: MemoryLock,
}

impl SessionDesk {
    /// A desk with the default [`Limits`].
    #[must_use]
    pub fn new() -> Self {
        Self::build(Limits::new())
    }

    /// A desk with other limits.
    ///
    /// # Errors
    ///
    /// When they leave no room for fates or events.
    pub fn with_limits(limits: Limits) -> Result<Self, InvalidLimits> {
        limits.check().map(Self::build)
    }

    fn build(limits: Limits) -> Self {
        Self(Arc::new(Inner {
            book: Mutex::new(Book::new(limits)),
            lock: MemoryLock::new(),
        }))
    }

    /// One turn a session, by a lock that belongs to this desk: all its gates share it. A gate over a
    /// lock that replicas share is [`GateLayer::over`].
    #[must_use]
    pub fn gate(&self) -> GateLayer {
        GateLayer::over(self.0.lock.clone())
    }

    /// Lets this desk reach the turns.
    #[must_use]
    pub fn window(&self) -> WindowLayer {
        WindowLayer::new(self.clone())
    }

    /// How many turns it reaches, for a gauge.
    #[must_use]
    pub fn running(&self) -> usize {
        self.book().open_windows()
    }

    /// How many sessions it knows, for a gauge: those with a turn, and those whose fates it keeps.
    #[must_use]
    pub fn sessions(&self) -> usize {
        self.book().sessions()
    }

    pub(super) fn book(&self) -> MutexGuard<'_, Book> {
        self.0.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for SessionDesk {
    fn default() -> Self {
        Self::new()
    }
}

impl SessionControl for SessionDesk {
    fn capabilities<'a>(&'a self, session: &'a str) -> ControlFuture<'a, ControlCapabilities> {
        Box::pin(ready(self.book().capabilities(session)))
    }

    fn steer<'a>(
        &'a self,
        session: &'a str,
        prompt: Prompt,
    ) -> ControlFuture<'a, Result<Accepted, ControlRefusal>> {
        let steered = self.book().steer(session, prompt);
        Box::pin(ready(steered.map(|(accepted, reader)| {
            if let Some(reader) = reader {
                reader.wake();
            }
            accepted
        })))
    }

    fn follow_up<'a>(
        &'a self,
        session: &'a str,
        prompt: Prompt,
    ) -> ControlFuture<'a, Result<Accepted, ControlRefusal>> {
        // Nobody is woken: the turn looks when its run has ended.
        Box::pin(ready(self.book().follow_up(session, prompt)))
    }

    fn abort<'a>(&'a self, session: &'a str) -> ControlFuture<'a, Result<(), ControlRefusal>> {
        let aborted = self.book().abort(session);
        Box::pin(ready(aborted.map(|live| live.wake())))
    }

    fn state<'a>(&'a self, session: &'a str) -> ControlFuture<'a, SessionState> {
        Box::pin(ready(self.book().state(session)))
    }

    fn events<'a>(&'a self, session: &'a str) -> ControlFuture<'a, Option<BoxEventStream>> {
        let live = self.book().live(session);
        let events = live.map(|live| BoxEventStream::new(Observer::new(live)));
        Box::pin(ready(events))
    }
}

/// Names no session: it may be a secret.
impl fmt::Debug for SessionDesk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionDesk")
            .field("running", &self.running())
            .field("sessions", &self.sessions())
            .finish_non_exhaustive()
    }
}
