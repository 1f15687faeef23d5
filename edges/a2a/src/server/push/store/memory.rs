use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    ops::Bound,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::{PushStore, PutError, Registration, Retired};
use crate::{
    log::{Reply, Seq, TaskKey, Unavailable},
    model::TaskPushNotificationConfig,
    server::push::PushLimits,
};

/// Webhooks in memory. They go with the process, as the tasks in a
/// [`MemoryLog`](crate::log::MemoryLog) do.
pub struct MemoryPushStore {
    state: Mutex<State>,
    max_retired: usize,
}

#[derive(Default)]
struct State {
    /// By task, then in the order in which they came.
    webhooks: BTreeMap<Name, Webhook>,
    active: usize,
    /// The names of retired ones, as they were retired. Some may be active or gone again.
    retired: VecDeque<(Name, u64)>,
    next: u64,
}

/// Whose webhook it is. Owned parts, since a map looks up by the whole.
type Name = (String, String, String, String);

struct Webhook {
    registration: Registration,
    /// When it came, to list in that order.
    born: u64,
    /// Which retirement this is, so that an earlier one does not forget it.
    retirement: u64,
}

fn name(key: &TaskKey, id: &str) -> Name {
    (
        key.tenant().to_owned(),
        key.owner().account().to_owned(),
        key.id().to_owned(),
        id.to_owned(),
    )
}

fn of_task<'a>(
    webhooks: &'a BTreeMap<Name, Webhook>,
    key: &TaskKey,
) -> impl Iterator<Item = &'a Webhook> {
    let first = name(key, "");
    let (tenant, account, task, _) = first.clone();
    webhooks
        .range(first..)
        .take_while(move |((a, b, c, _), _)| (a, b, c) == (&tenant, &account, &task))
        .map(|(_, webhook)| webhook)
}

impl MemoryPushStore {
    /// None yet. The last 10,000 that were retired can still be read.
    #[must_use]
    pub fn new() -> Self {
        Self::with_max_retired(10_000)
    }

    /// The same, with another number of retired ones.
    #[must_use]
    pub fn with_max_retired(most: usize) -> Self {
        Self {
            state: Mutex::default(),
            max_retired: most,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic while the lock was held cannot leave half a change behind.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn retire(&mut self, name: Name, most: usize) {
        self.next += 1;
        if let Some(webhook) = self.webhooks.get_mut(&name) {
            webhook.retirement = self.next;
        }
        self.retired.push_back((name, self.next));
        while self.retired.len() > most {
            let Some((name, retirement)) = self.retired.pop_front() else {
                return;
            };
            let still = self.webhooks.get(&name).is_some_and(|webhook| {
                webhook.retirement == retirement && webhook.registration.retired.is_some()
            });
            if still {
                self.webhooks.remove(&name);
            }
        }
    }
}

impl Default for MemoryPushStore {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryPushStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryPushStore")
            .field("active", &self.lock().active)
            .finish_non_exhaustive()
    }
}

impl PushStore for MemoryPushStore {
    fn put(
        &self,
        mut registration: Registration,
        limits: &PushLimits,
    ) -> Reply<Result<Registration, PutError>> {
        let mut state = self.lock();
        let name = name(&registration.key, &registration.config.id);
        let known = state.webhooks.get(&name);
        let was_active = known.is_some_and(|known| known.registration.retired.is_none());
        if known.is_none() && of_task(&state.webhooks, &registration.key).count() >= limits.per_task
        {
            return Reply::ready(Err(PutError::TooManyOfTask));
        }
        let is_active = registration.retired.is_none();
        if is_active && !was_active && state.active >= limits.total {
            return Reply::ready(Err(PutError::TooMany));
        }
        let (born, after) = known.map_or((state.next, Seq::ZERO), |known| {
            (known.born, known.registration.after)
        });
        state.next += 1;
        registration.after = registration.after.max(after);
        let webhook = Webhook {
            registration: registration.clone(),
            born,
            retirement: 0,
        };
        state.webhooks.insert(name.clone(), webhook);
        state.active = state.active + usize::from(is_active) - usize::from(was_active);
        if !is_active {
            state.retire(name, self.max_retired);
        }
        Reply::ready(Ok(registration))
    }

    fn get(
        &self,
        key: &TaskKey,
        id: &str,
    ) -> Reply<Result<Option<TaskPushNotificationConfig>, Unavailable>> {
        let state = self.lock();
        let found = state.webhooks.get(&name(key, id));
        Reply::ready(Ok(found.map(|webhook| webhook.registration.config.clone())))
    }

    fn list(&self, key: &TaskKey) -> Reply<Result<Vec<TaskPushNotificationConfig>, Unavailable>> {
        let state = self.lock();
        let mut found: Vec<&Webhook> = of_task(&state.webhooks, key).collect();
        found.sort_by_key(|webhook| webhook.born);
        let configs = found
            .into_iter()
            .map(|webhook| webhook.registration.config.clone())
            .collect();
        Reply::ready(Ok(configs))
    }

    fn remove(&self, key: &TaskKey, id: &str) -> Reply<Result<bool, Unavailable>> {
        let mut state = self.lock();
        let removed = state.webhooks.remove(&name(key, id));
        if let Some(removed) = &removed {
            state.active -= usize::from(removed.registration.retired.is_none());
        }
        Reply::ready(Ok(removed.is_some()))
    }

    fn advance(
        &self,
        key: &TaskKey,
        id: &str,
        after: Seq,
        retired: Option<Retired>,
    ) -> Reply<Result<(), Unavailable>> {
        let mut state = self.lock();
        let name = name(key, id);
        if let Some(webhook) = state.webhooks.get_mut(&name) {
            let registration = &mut webhook.registration;
            registration.after = registration.after.max(after);
            if registration.retired.is_none() && retired.is_some() {
                registration.retired = retired;
                state.active -= 1;
                state.retire(name, self.max_retired);
            }
        }
        Reply::ready(Ok(()))
    }

    fn active(
        &self,
        behind: Option<(&TaskKey, &str)>,
        limit: usize,
    ) -> Reply<Result<Vec<Registration>, Unavailable>> {
        let state = self.lock();
        let from = behind.map_or(Bound::Unbounded, |(key, id)| Bound::Excluded(name(key, id)));
        let found = state
            .webhooks
            .range((from, Bound::Unbounded))
            .map(|(_, webhook)| &webhook.registration)
            .filter(|registration| registration.retired.is_none())
            .take(limit)
            .cloned()
            .collect();
        Reply::ready(Ok(found))
    }
}
