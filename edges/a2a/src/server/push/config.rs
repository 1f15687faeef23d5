use std::{fmt, sync::Arc};

use super::{Deliver, MemoryPushStore, PushStore, Screening};

/// How a server delivers webhooks, see
/// [`ServerBuilder::push`](crate::server::ServerBuilder::push).
#[derive(Clone)]
#[must_use]
pub struct Push {
    pub(in crate::server) deliver: Arc<dyn Deliver>,
    pub(in crate::server) store: Arc<dyn PushStore>,
    pub(in crate::server) screening: Screening,
}

impl Push {
    /// Delivers by this, with the webhooks in memory, to public addresses over `https` only.
    pub fn new(deliver: impl Deliver) -> Self {
        Self {
            deliver: Arc::new(deliver),
            store: Arc::new(MemoryPushStore::new()),
            screening: Screening::default(),
        }
    }

    /// Where webhooks and their cursors live. With a store that lasts, what was not delivered
    /// when the process ended is delivered by the next one, after
    /// [`Server::recover`](crate::server::Server::recover).
    pub fn store(mut self, store: Arc<dyn PushStore>) -> Self {
        self.store = store;
        self
    }

    /// Which webhooks may be registered. This is only half of the guard: whoever dials is the
    /// other one.
    pub const fn screening(mut self, screening: Screening) -> Self {
        self.screening = screening;
        self
    }
}

impl fmt::Debug for Push {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Push")
            .field("screening", &self.screening)
            .finish_non_exhaustive()
    }
}
