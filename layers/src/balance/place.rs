use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use portcullis::Turn;

/// A turn that counts as load until it ends.
#[derive(Debug)]
pub struct Place {
    running: Arc<AtomicUsize>,
}

impl Place {
    pub(super) fn take(running: &Arc<AtomicUsize>) -> Self {
        running.fetch_add(1, Ordering::Relaxed);
        Self {
            running: Arc::clone(running),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.running.fetch_sub(1, Ordering::Relaxed);
    }
}

/// It only has to be there: a turn is dropped at its end, after what is below.
impl Turn for Place {}
