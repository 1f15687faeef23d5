use std::{fmt, sync::Arc, time::Duration};

use http::request::Parts;
use portcullis::Scope;

pub(super) type Prepare = dyn Fn(&Parts, &mut Scope) + Send + Sync;

/// What the host decides.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) body_limit: usize,
    pub(super) body_timeout: Duration,
    pub(super) image_limit: usize,
    pub(super) event_limit: usize,
    pub(super) turn_limit: Option<Duration>,
    pub(super) keep_alive: Duration,
    pub(super) status_wait: Duration,
    pub(super) prepare: Option<Arc<Prepare>>,
}

impl Settings {
    pub(super) const fn new() -> Self {
        Self {
            body_limit: 10 << 20,
            body_timeout: Duration::from_secs(30),
            image_limit: 64,
            event_limit: 8 << 20,
            turn_limit: None,
            keep_alive: Duration::from_secs(15),
            status_wait: Duration::from_secs(10),
            prepare: None,
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("body_limit", &self.body_limit)
            .field("body_timeout", &self.body_timeout)
            .field("image_limit", &self.image_limit)
            .field("event_limit", &self.event_limit)
            .field("turn_limit", &self.turn_limit)
            .field("keep_alive", &self.keep_alive)
            .field("status_wait", &self.status_wait)
            .finish_non_exhaustive()
    }
}
