use std::{
    panic::AssertUnwindSafe,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::{FutureExt, future::Shared};
use tokio::time::Instant;

use super::{
    Family,
    fetch::{Fetch, FetchError},
    key_set::KeySet,
};
use crate::auth::error::Chain;

/// A token with an unknown key id makes us ask at most this often: anybody can make up ids.
const FOR_UNKNOWN: Duration = Duration::from_secs(30);
/// Keys that cannot be fetched anew are used for so long after their age: a key that the
/// issuer has taken back must not live for as long as somebody keeps us from asking.
const STALE: Duration = Duration::from_secs(24 * 3600);
/// A fetch that nobody waits for stands still. After so long it is given up for a new one.
const STALLED: Duration = FOR_UNKNOWN;

/// The keys of an issuer, fetched when they are needed, one fetch at a time.
///
/// There is no task: those who wait for a fetch drive it together, and it goes on while one of
/// them is there.
#[derive(Clone)]
pub(super) struct Cache(Arc<Inner>);

struct Inner {
    fetch: Box<dyn Fetch>,
    family: Family,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    keys: Option<Keys>,
    running: Option<Running>,
    failed: Option<(Instant, FetchError)>,
    /// When a token with an unknown key last made us ask.
    asked_for_unknown: Option<Instant>,
}

#[derive(Clone)]
struct Keys {
    set: Arc<KeySet>,
    fresh_until: Instant,
    usable_until: Instant,
}

#[derive(Clone)]
struct Running {
    since: Instant,
    fetch: Shared<Renewal>,
}

type Renewal = Pin<Box<dyn Future<Output = Result<Arc<KeySet>, FetchError>> + Send>>;

/// What is to be done for somebody who needs keys.
pub(super) enum Step {
    /// These are the newest that can be had now.
    Use(Arc<KeySet>),
    /// Wait for this, then ask again.
    Wait(Shared<Renewal>),
    /// There are none.
    Unavailable(FetchError, Duration),
}

impl Cache {
    /// After a failure it is not tried again for so long.
    pub(super) const AFTER_FAILURE: Duration = Duration::from_secs(5);

    pub(super) fn new(fetch: Box<dyn Fetch>, family: Family) -> Self {
        Self(Arc::new(Inner {
            fetch,
            family,
            state: Mutex::default(),
        }))
    }

    /// The keys, as fresh as they can be had now.
    pub(super) fn keys(&self) -> Step {
        let now = Instant::now();
        let mut state = self.lock();
        let keys = state.keys.clone();
        if let Some(keys) = &keys
            && now < keys.fresh_until
        {
            return Step::Use(Arc::clone(&keys.set));
        }
        let usable = keys.filter(|keys| now < keys.usable_until);
        // Just failed: the old keys do, where there are some.
        if let Some(failed) = state.just_failed(now) {
            return usable.map_or(failed, |keys| Step::Use(keys.set));
        }
        Step::Wait(self.run(&mut state, now))
    }

    /// Newer keys than `than`, in which a key was not found; `None` if it is too early to ask
    /// again.
    pub(super) fn newer(&self, than: &Arc<KeySet>) -> Option<Step> {
        let now = Instant::now();
        let mut state = self.lock();
        if let Some(keys) = &state.keys
            && !Arc::ptr_eq(&keys.set, than)
        {
            return Some(Step::Use(Arc::clone(&keys.set)));
        }
        // Whoever comes while one is running waits for that one.
        if let Some(running) = state
            .running
            .as_ref()
            .filter(|running| !running.stalled(now))
        {
            return Some(Step::Wait(running.fetch.clone()));
        }
        // The key may be a new one, and nobody can tell.
        if let Some(failed) = state.just_failed(now) {
            return Some(failed);
        }
        let asked = state.asked_for_unknown;
        if asked.is_some_and(|asked| now < asked + FOR_UNKNOWN) {
            return None;
        }
        state.asked_for_unknown = Some(now);
        Some(Step::Wait(self.run(&mut state, now)))
    }

    fn run(&self, state: &mut State, now: Instant) -> Shared<Renewal> {
        if let Some(running) = &state.running
            && !running.stalled(now)
        {
            return running.fetch.clone();
        }
        // The cache holds the future: were it the other way round as well, neither would go.
        let cache = Arc::downgrade(&self.0);
        let (fetching, family) = (self.0.fetch.fetch(), self.0.family);
        let fetch: Renewal = Box::pin(async move {
            // A panic would be handed to everybody who comes within the next seconds.
            let fetched = AssertUnwindSafe(fetching).catch_unwind().await;
            let fetched = fetched
                .unwrap_or(Err(FetchError::Panicked))
                .and_then(|fetched| {
                    let set = KeySet::parse(&fetched.text, family).map_err(FetchError::broken)?;
                    Ok((Arc::new(set), fetched.age))
                });
            if let Some(inner) = cache.upgrade() {
                Self(inner).done(&fetched, now);
            }
            fetched.map(|(set, _)| set)
        });
        let fetch = fetch.shared();
        state.running = Some(Running {
            since: now,
            fetch: fetch.clone(),
        });
        fetch
    }

    fn done(&self, fetched: &Result<(Arc<KeySet>, Duration), FetchError>, since: Instant) {
        let now = Instant::now();
        let mut state = self.lock();
        // One that was given up for another has nothing to say any more.
        if state
            .running
            .as_ref()
            .is_none_or(|running| running.since != since)
        {
            return;
        }
        state.running = None;
        match fetched {
            Ok((set, age)) => {
                state.failed = None;
                state.keys = Some(Keys {
                    set: Arc::clone(set),
                    fresh_until: now + *age,
                    usable_until: now + *age + STALE,
                });
            }
            Err(error) => {
                let kept = state.keys.is_some();
                tracing::warn!(error = %Chain(error), kept, "the issuer's keys were not renewed");
                state.failed = Some((now, error.clone()));
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn just_failed(&self, now: Instant) -> Option<Step> {
        let (at, error) = self.failed.as_ref()?;
        let again = *at + Cache::AFTER_FAILURE;
        (now < again).then(|| Step::Unavailable(error.clone(), again - now))
    }
}

impl Running {
    fn stalled(&self, now: Instant) -> bool {
        now >= self.since + STALLED
    }
}
