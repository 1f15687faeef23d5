use std::{any::Any, fmt, sync::Arc};

use crate::log::{
    AppendError, Batch, Limits, ListPage, ListQuery, Record, Retention, Seq, Snapshot, TaskKey,
    TaskLog, Update,
};

/// A log to check, and what has to live as long.
pub struct Fixture {
    log: Arc<dyn TaskLog>,
    // Last, so that a directory goes after the log in it.
    _keep: Box<dyn Any + Send + Sync>,
}

impl Fixture {
    /// A fresh log.
    pub fn new(log: impl TaskLog) -> Self {
        Self {
            log: Arc::new(log),
            _keep: Box::new(()),
        }
    }

    /// Keeps something, a directory say, until the log is gone.
    #[must_use]
    pub fn keeping(mut self, keep: impl Any + Send + Sync) -> Self {
        self._keep = Box::new(keep);
        self
    }

    pub(super) fn log(&self) -> &Arc<dyn TaskLog> {
        &self.log
    }

    pub(super) async fn append(
        &self,
        key: &TaskKey,
        expected: u64,
        updates: Vec<Update>,
    ) -> Result<Seq, AppendError> {
        let batch = Batch::of(key.clone(), Seq::new(expected), updates);
        self.log.append(batch).await
    }

    /// An append that nothing speaks against.
    pub(super) async fn put(&self, key: &TaskKey, expected: u64, updates: Vec<Update>) -> Seq {
        self.append(key, expected, updates)
            .await
            .expect("the batch is in order")
    }

    pub(super) async fn read(
        &self,
        key: &TaskKey,
        after: u64,
        limit: usize,
    ) -> Option<Vec<Record>> {
        self.log
            .read(key, Seq::new(after), limit)
            .await
            .expect("the log can be read")
    }

    pub(super) async fn snapshot(&self, key: &TaskKey) -> Option<Snapshot> {
        self.log.snapshot(key).await.expect("the log can be read")
    }

    pub(super) async fn list(&self, query: ListQuery) -> ListPage {
        self.log.list(query).await.expect("the log can be read")
    }
}

impl fmt::Debug for Fixture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fixture").finish_non_exhaustive()
    }
}

/// How a backend opens a fresh log.
pub(super) trait Open: Fn(Retention, Limits) -> Fixture {
    fn fresh(&self) -> Fixture {
        self(Retention::default(), Limits::default())
    }
}

impl<F: Fn(Retention, Limits) -> Fixture> Open for F {}
