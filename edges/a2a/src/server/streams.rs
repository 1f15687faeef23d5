use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::Limits;
use crate::{
    log::Owner,
    model::{Error, ErrorKind},
};

/// The streams that are open.
#[derive(Default)]
pub(super) struct Streams(Mutex<Open>);

#[derive(Default)]
struct Open {
    count: usize,
    /// Of those who have one at least.
    by_owner: HashMap<Owner, usize>,
}

impl Streams {
    /// A place for one more, if there is one. What an owner has is judged first: whoever has too
    /// many hears the same however many the others have.
    pub(super) fn open(
        self: &Arc<Self>,
        limits: &Limits,
        owner: &Owner,
    ) -> Result<OpenStream, Error> {
        let mut open = self.lock();
        let held = open.by_owner.get(owner).copied().unwrap_or_default();
        if held >= limits.owner_streams {
            let message = "Too many streams of yours are open";
            return Err(limits.refusal(ErrorKind::ResourceExhausted, message));
        }
        if open.count >= limits.open_streams {
            return Err(limits.refusal(ErrorKind::Unavailable, "Too many streams are open"));
        }
        open.by_owner.insert(owner.clone(), held + 1);
        open.count += 1;
        drop(open);
        Ok(OpenStream {
            streams: Arc::clone(self),
            owner: owner.clone(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of a stream. Dropping it gives it back.
pub(super) struct OpenStream {
    streams: Arc<Streams>,
    owner: Owner,
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let mut open = self.streams.lock();
        open.count -= 1;
        if let Some(held) = open.by_owner.get_mut(&self.owner) {
            *held -= 1;
            if *held == 0 {
                open.by_owner.remove(&self.owner);
            }
        }
    }
}
