use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use tokio::{
    sync::{oneshot, watch},
    task::{AbortHandle, JoinSet},
    time::timeout,
};

use super::{Push, PushStats, PutError, Registration, courier::Courier};
use crate::{
    log::{TaskKey, Unavailable},
    server::core::Core,
};

/// The couriers of a server. A clone shares them. Dropping the last one drops them all; what they
/// have not delivered stays in the store.
#[derive(Clone)]
pub(in crate::server) struct Couriers {
    pub(in crate::server) push: Push,
    core: Arc<Core>,
    stats: Arc<PushStats>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    tasks: JoinSet<()>,
    by_name: HashMap<Name, (u64, AbortHandle)>,
    next: u64,
}

type Name = (TaskKey, String);

impl Couriers {
    pub(in crate::server) fn new(core: Arc<Core>, push: Push) -> Self {
        Self {
            push,
            core,
            stats: Arc::default(),
            state: Arc::default(),
        }
    }

    pub(in crate::server) fn stats(&self) -> &Arc<PushStats> {
        &self.stats
    }

    /// Sends a courier. One that is on its way for the same webhook is called back: what it was
    /// about to deliver is delivered by the new one.
    ///
    /// `opening` is of the turn that is about to open the task, if that is not there yet.
    pub(in crate::server) fn start(
        &self,
        registration: Registration,
        opening: Option<watch::Receiver<bool>>,
    ) {
        let mut state = lock(&self.state);
        while state.tasks.try_join_next().is_some() {}
        let name = (registration.key.clone(), registration.config.id.clone());
        if let Some((_, old)) = state.by_name.remove(&name) {
            old.abort();
        }
        if registration.retired.is_some() {
            return;
        }
        let generation = state.next;
        state.next += 1;
        let leave = Leave {
            state: Arc::downgrade(&self.state),
            name: name.clone(),
            generation,
        };
        let courier = Courier {
            core: Arc::clone(&self.core),
            push: self.push.clone(),
            stats: Arc::clone(&self.stats),
            registration,
            opening,
        };
        let handle = state.tasks.spawn(async move {
            // Named, so that it is moved in, and leaves whatever ends the courier.
            let _leave = leave;
            courier.run().await;
        });
        state.by_name.insert(name, (generation, handle));
    }

    /// Stores a webhook and sends a courier, also where the caller does not wait for that.
    pub(in crate::server) async fn register(
        &self,
        registration: Registration,
    ) -> Result<Registration, PutError> {
        let (reply, answer) = oneshot::channel();
        let limits = &self.core.limits.push;
        let stored = self.push.store.put(registration, limits);
        let (push, core) = (self.push.clone(), Arc::clone(&self.core));
        let (stats, state) = (Arc::clone(&self.stats), Arc::downgrade(&self.state));
        lock(&self.state).tasks.spawn(async move {
            let stored = stored.await;
            if let (Ok(registration), Some(state)) = (&stored, state.upgrade()) {
                let couriers = Self {
                    push,
                    core,
                    stats,
                    state,
                };
                couriers.start(registration.clone(), None);
            }
            // Whoever does not wait any more has dropped the other end.
            drop(reply.send(stored));
        });
        let stopped = |error| Err(Unavailable::new(error).into());
        answer.await.unwrap_or_else(stopped)
    }

    /// Calls a courier back. It begins no other delivery.
    pub(in crate::server) fn stop(&self, key: &TaskKey, id: &str) {
        let name = (key.clone(), id.to_owned());
        if let Some((_, courier)) = lock(&self.state).by_name.remove(&name) {
            courier.abort();
        }
    }

    /// Sends couriers for what an earlier process has left.
    pub(in crate::server) async fn recover(&self) -> Result<usize, Unavailable> {
        let mut count = 0;
        let mut last: Option<Registration> = None;
        loop {
            let behind = last.as_ref().map(|last| (&last.key, &*last.config.id));
            let found = self.push.store.active(behind, AT_ONCE).await?;
            let more = found.len() == AT_ONCE;
            last = found.last().cloned();
            let namespace = self.core.holder.namespace();
            let ours = |found: &Registration| found.key.owner().namespace() == namespace;
            for registration in found.into_iter().filter(ours) {
                let name = (registration.key.clone(), registration.config.id.clone());
                if !lock(&self.state).by_name.contains_key(&name) {
                    self.start(registration, None);
                    count += 1;
                }
            }
            if !more {
                return Ok(count);
            }
        }
    }

    /// Lets couriers finish what they are delivering, for a while.
    pub(in crate::server) async fn shut_down(&self, grace: Duration) {
        let mut tasks = std::mem::take(&mut lock(&self.state).tasks);
        let all = async { while tasks.join_next().await.is_some() {} };
        if timeout(grace, all).await.is_err() {
            // Their cursors are stored.
            tasks.shutdown().await;
        }
    }
}

/// Takes a courier out of the books, if it is still the one that is written there.
struct Leave {
    state: Weak<Mutex<State>>,
    name: Name,
    generation: u64,
}

impl Drop for Leave {
    fn drop(&mut self) {
        if let Some(state) = self.state.upgrade() {
            let mut state = lock(&state);
            let current = state.by_name.get(&self.name);
            if current.is_some_and(|(generation, _)| *generation == self.generation) {
                state.by_name.remove(&self.name);
            }
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

const AT_ONCE: usize = 256;
