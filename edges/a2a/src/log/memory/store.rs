use std::{
    collections::{HashMap, VecDeque},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use super::{entry::Entry, group::Place, index::Index};
use crate::{
    log::{
        AppendError, Batch, Bell, Bells, Cursor, Head, Holder, Limits, ListPage, ListQuery, Orphan,
        Record, Reply, Retention, Seq, Snapshot, TaskKey, TaskLog, Unavailable, hash::TaskMap,
    },
    model::Task,
};

/// The log in memory: for tests, and for servers that may forget.
///
/// Every method answers at once. A live task is held twice, as its updates and as their
/// fold, and an append changes the fold in place; a finished task is packed into one
/// text. Finished tasks are bounded by the [`Retention`].
///
/// Cloning shares the log.
#[derive(Clone)]
pub struct MemoryLog(Arc<Inner>);

struct Inner {
    shards: Box<[Shard]>,
    index: Index,
    bells: Bells,
    /// Finished tasks, the longest finished first.
    finished: Mutex<VecDeque<TaskKey>>,
    /// Until when each holder lives.
    holders: Mutex<HashMap<Holder, SystemTime>>,
    limits: Limits,
    retention: Retention,
}

type Shard = Mutex<TaskMap<Box<Entry>>>;

impl MemoryLog {
    /// An empty log with the default [`Retention`] and [`Limits`].
    #[must_use]
    pub fn new() -> Self {
        Self::with(Retention::default(), Limits::default())
    }

    /// An empty log.
    #[must_use]
    pub fn with(retention: Retention, limits: Limits) -> Self {
        Self(Arc::new(Inner {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            index: Index::new(SHARDS),
            bells: Bells::new(),
            finished: Mutex::default(),
            holders: Mutex::default(),
            limits,
            retention,
        }))
    }
}

impl Default for MemoryLog {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryLog")
            .field("finished", &lock(&self.0.finished).len())
            .field("bells", &self.0.bells.len())
            .finish_non_exhaustive()
    }
}

impl TaskLog for MemoryLog {
    fn append(&self, batch: Batch) -> Reply<Result<Seq, AppendError>> {
        Reply::ready(self.0.append(batch))
    }

    fn read(
        &self,
        key: &TaskKey,
        after: Seq,
        limit: usize,
    ) -> Reply<Result<Option<Vec<Record>>, Unavailable>> {
        let records = self
            .0
            .with_entry(key, |entry| entry.read(key.id(), after, limit));
        Reply::ready(Ok(records))
    }

    fn snapshot(&self, key: &TaskKey) -> Reply<Result<Option<Snapshot>, Unavailable>> {
        Reply::ready(Ok(self.0.with_entry(key, |entry| entry.snapshot(key.id()))))
    }

    fn list(&self, query: ListQuery) -> Reply<Result<ListPage, Unavailable>> {
        Reply::ready(Ok(self.0.list(&query)))
    }

    fn bell(&self, key: &TaskKey) -> Bell {
        self.0.bells.bell(key)
    }

    fn bells(&self) -> usize {
        self.0.bells.len()
    }

    fn renew(&self, holder: &Holder, until: SystemTime) -> Reply<Result<(), Unavailable>> {
        lock(&self.0.holders).insert(holder.clone(), until);
        Reply::ready(Ok(()))
    }

    fn orphans(
        &self,
        holder: &Holder,
        now: SystemTime,
        limit: usize,
    ) -> Reply<Result<Vec<Orphan>, Unavailable>> {
        Reply::ready(Ok(self.0.orphans(holder, now, limit)))
    }

    fn retain(&self, now: SystemTime) -> Reply<Result<usize, Unavailable>> {
        Reply::ready(Ok(self.0.retain(now)))
    }
}

impl Inner {
    fn shard(&self, key: &TaskKey) -> MutexGuard<'_, TaskMap<Box<Entry>>> {
        lock(&self.shards[key.shard(self.shards.len())])
    }

    fn with_entry<T>(&self, key: &TaskKey, act: impl FnOnce(&Entry) -> T) -> Option<T> {
        self.shard(key).get(key).map(|entry| act(entry))
    }

    fn append(&self, batch: Batch) -> Result<Seq, AppendError> {
        let key = batch.key().clone();
        // Encoded outside the lock.
        let records = Record::encode_all(batch.expected(), batch.updates());
        let grows = !records.is_empty();
        let mut shard = self.shard(&key);
        let head = match shard.get_mut(&key) {
            Some(entry) => {
                let was = Some(entry.standing());
                let known = |id: &str| entry.has_artifact(id);
                let head = Head::admit(Some(&entry.head), &batch, &records, &self.limits, known)?;
                entry.extend(head.clone(), batch, records);
                let is = Some(entry.standing());
                self.index.update(&key, &entry.context, was, is);
                head
            }
            None => {
                let head = Head::admit(None, &batch, &records, &self.limits, |_| false)?;
                let entry = Entry::open(head.clone(), batch, records);
                let is = Some(entry.standing());
                self.index.update(&key, &entry.context, None, is);
                shard.insert(key.clone(), Box::new(entry));
                head
            }
        };
        drop(shard);
        if head.state().is_terminal() {
            self.finish(&key);
        }
        if grows {
            self.bells.ring(&key);
        }
        Ok(head.seq())
    }

    /// Keeps the number of finished tasks, and packs one that finished a while ago: the
    /// latest ones are still asked for, by whoever waited for their end.
    fn finish(&self, key: &TaskKey) {
        let mut finished = lock(&self.finished);
        finished.push_back(key.clone());
        let cold = finished
            .len()
            .checked_sub(HOT + 1)
            .and_then(|index| finished.get(index))
            .cloned();
        let mut gone = Vec::new();
        while finished.len() > self.retention.max_count() {
            gone.extend(finished.pop_front());
        }
        drop(finished);
        if let Some(cold) = cold
            && let Some(entry) = self.shard(&cold).get_mut(&cold)
        {
            entry.pack(cold.id());
        }
        self.forget(&gone);
    }

    fn forget(&self, keys: &[TaskKey]) {
        for key in keys {
            let mut shard = self.shard(key);
            let entry = shard.remove(key);
            if let Some(entry) = &entry {
                let was = Some(entry.standing());
                self.index.update(key, &entry.context, was, None);
            }
            drop(shard);
            // Freed outside the lock.
            drop(entry);
            self.bells.ring(key);
        }
    }

    fn retain(&self, now: SystemTime) -> usize {
        let Some(oldest) = self
            .retention
            .max_age()
            .and_then(|age| now.checked_sub(age))
        else {
            return 0;
        };
        let oldest = millis(oldest);
        let mut gone = Vec::new();
        lock(&self.finished).retain(|key| {
            let old = self
                .with_entry(key, |entry| entry.millis < oldest)
                .unwrap_or(true);
            if old {
                gone.push(key.clone());
            }
            !old
        });
        self.forget(&gone);
        gone.len()
    }

    fn orphans(&self, holder: &Holder, now: SystemTime, limit: usize) -> Vec<Orphan> {
        let mut holders = lock(&self.holders);
        holders.retain(|_, until| *until > now);
        let mut orphans = Vec::new();
        for shard in &self.shards {
            for (key, entry) in lock(shard).iter_mut() {
                if orphans.len() == limit {
                    return orphans;
                }
                if key.owner().namespace() == holder.namespace()
                    && entry.head.is_orphan(|holder| holders.contains_key(holder))
                {
                    entry.head.hand_over(holder);
                    orphans.push(Orphan::new(
                        key.clone(),
                        entry.head.seq(),
                        entry.head.state(),
                    ));
                }
            }
        }
        orphans
    }

    fn list(&self, query: &ListQuery) -> ListPage {
        let (mut page, total) = self.index.page(query);
        let more = page.len() > query.limit();
        page.truncate(query.limit());
        let next = page
            .last()
            .filter(|_| more)
            .map(|last| Cursor::new(last.millis, &*last.id));
        // A task may have changed since the index was read: what is shown is in order, and is
        // what was asked for.
        let mut tasks: Vec<(Place, Task)> = page
            .into_iter()
            .filter_map(|Place { id, .. }| {
                let key = TaskKey::new(query.owner().clone(), Arc::clone(&id));
                self.with_entry(&key, |entry| {
                    entry.matches(query).then(|| {
                        let task = entry.listed(&id, query);
                        let millis = entry.millis;
                        (Place { millis, id }, task)
                    })
                })?
            })
            .collect();
        tasks.sort_by(|(a, _), (b, _)| a.cmp(b));
        let tasks = tasks.into_iter().map(|(_, task)| task).collect();
        ListPage::new(tasks, next, total)
    }
}

fn millis(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// A panic while the lock was held cannot leave half a batch behind: it is judged before
/// anything changes.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

const SHARDS: usize = 64;

/// How many finished tasks stay unpacked.
const HOT: usize = 64;
