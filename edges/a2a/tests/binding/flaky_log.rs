//! A log whose reads fail when the test says so.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::SystemTime,
};

use portcullis_a2a::log::{
    AppendError, Batch, Bell, Holder, ListPage, ListQuery, MemoryLog, Orphan, Record, Reply, Seq,
    Snapshot, TaskKey, TaskLog, Unavailable,
};

pub(crate) struct FlakyLog {
    inner: Arc<MemoryLog>,
    pub(crate) broken: Arc<AtomicBool>,
}

impl FlakyLog {
    pub(crate) fn new(inner: Arc<MemoryLog>) -> Self {
        Self {
            inner,
            broken: Arc::default(),
        }
    }
}

impl TaskLog for FlakyLog {
    fn append(&self, batch: Batch) -> Reply<Result<Seq, AppendError>> {
        self.inner.append(batch)
    }

    fn read(
        &self,
        key: &TaskKey,
        after: Seq,
        limit: usize,
    ) -> Reply<Result<Option<Vec<Record>>, Unavailable>> {
        if self.broken.load(Ordering::Relaxed) {
            return Reply::ready(Err(Unavailable::new("secret: the disk is gone")));
        }
        self.inner.read(key, after, limit)
    }

    fn snapshot(&self, key: &TaskKey) -> Reply<Result<Option<Snapshot>, Unavailable>> {
        if self.broken.load(Ordering::Relaxed) {
            return Reply::ready(Err(Unavailable::new("secret: the disk is gone")));
        }
        self.inner.snapshot(key)
    }

    fn list(&self, query: ListQuery) -> Reply<Result<ListPage, Unavailable>> {
        self.inner.list(query)
    }

    fn bell(&self, key: &TaskKey) -> Bell {
        self.inner.bell(key)
    }

    fn bells(&self) -> usize {
        self.inner.bells()
    }

    fn renew(&self, holder: &Holder, until: SystemTime) -> Reply<Result<(), Unavailable>> {
        self.inner.renew(holder, until)
    }

    fn orphans(
        &self,
        holder: &Holder,
        now: SystemTime,
        limit: usize,
    ) -> Reply<Result<Vec<Orphan>, Unavailable>> {
        self.inner.orphans(holder, now, limit)
    }

    fn retain(&self, now: SystemTime) -> Reply<Result<usize, Unavailable>> {
        self.inner.retain(now)
    }
}
