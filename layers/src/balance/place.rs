use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use portcullis::{AgentEvent, End, Flow, Outbox, Turn};

use crate::breaker::Judged;

/// A turn at a replica: load until it ends, whatever ends it, and then a word on the replica.
#[derive(Debug)]
pub struct Place {
    judged: Option<Judged<Arc<str>>>,
    _load: Load,
}

/// One more that runs, until it is dropped.
#[derive(Debug)]
struct Load(Arc<AtomicUsize>);

impl Place {
    pub(super) fn take(running: &Arc<AtomicUsize>, judged: Option<Judged<Arc<str>>>) -> Self {
        running.fetch_add(1, Ordering::Relaxed);
        Self {
            judged,
            _load: Load(Arc::clone(running)),
        }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A turn is dropped at its end, after what is below.
impl Turn for Place {
    #[inline]
    fn on_event(&mut self, event: &mut AgentEvent, out: &mut Outbox) -> Flow {
        self.judged.on_event(event, out)
    }

    fn on_end(self, end: End<'_>) {
        self.judged.on_end(end);
    }
}
