use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::task::JoinSet;
use uuid::Uuid;

use super::{Absent, Detach, Owner, Reader, record::Record, run::run};
use crate::server::turn::Turn;

/// The turns that may outlive their connections. When it is dropped, they end.
#[derive(Debug)]
pub(in crate::server) struct Turns {
    policy: Detach,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    records: HashMap<Arc<str>, Arc<Record>>,
    /// Those that a reader has left, the first that was left first; some may have been taken up again.
    left: VecDeque<Left>,
    running: JoinSet<()>,
}

#[derive(Debug)]
struct Left {
    id: Arc<str>,
    record: Arc<Record>,
    /// Who left it.
    reader: u64,
}

impl Turns {
    pub(in crate::server) fn new(policy: Detach) -> Self {
        Self {
            policy,
            inner: Mutex::default(),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a turn, for a caller that wants it kept for so long.
    pub(in crate::server) fn begin(
        self: &Arc<Self>,
        turn: Turn,
        owner: Owner,
        grace: Option<Duration>,
    ) -> Reader {
        let policy = &self.policy;
        let grace = grace.map_or(policy.grace, |grace| grace.min(policy.grace));
        let record = Arc::new(Record::new(owner, grace, policy.room));
        let (number, _) = record
            .attach(0)
            .expect("nothing came yet, and nothing is gone");
        let id: Arc<str> = Uuid::now_v7().to_string().into();
        let mut inner = self.inner();
        // Reaped here, where one more comes.
        while inner.running.try_join_next().is_some() {}
        inner.records.insert(Arc::clone(&id), Arc::clone(&record));
        let (turns, runs, of) = (Arc::downgrade(self), Arc::clone(&record), Arc::clone(&id));
        inner.running.spawn(async move {
            run(turn, &runs).await;
            if let Some(turns) = turns.upgrade() {
                turns.forget(&of);
            }
        });
        drop(inner);
        Reader::new(Arc::clone(self), record, id, number, false)
    }

    /// Reads on after an event. `None` when there is nothing more to read.
    pub(in crate::server) fn resume(
        self: &Arc<Self>,
        id: &str,
        owner: &Owner,
        after: u64,
    ) -> Result<Option<Reader>, Absent> {
        let (id, record) = self.find(id, owner)?;
        let (number, has_more) = record.attach(after)?;
        let reader = Reader::new(Arc::clone(self), record, id, number, true);
        Ok(has_more.then_some(reader))
    }

    /// Ends a turn.
    pub(in crate::server) fn cancel(&self, id: &str, owner: &Owner) -> Result<(), Absent> {
        let (_, record) = self.find(id, owner)?;
        record.cancel();
        Ok(())
    }

    fn find(&self, id: &str, owner: &Owner) -> Result<(Arc<str>, Arc<Record>), Absent> {
        let inner = self.inner();
        let found = inner.records.get_key_value(id);
        let found = found.filter(|(_, record)| record.owner == *owner);
        let (id, record) = found.ok_or(Absent::Unknown)?;
        Ok((Arc::clone(id), Arc::clone(record)))
    }

    fn forget(&self, id: &Arc<str>) {
        let mut inner = self.inner();
        let record = inner.records.remove(id);
        inner.left.retain(|left| left.id != *id);
        drop(inner);
        drop(record);
    }

    /// A reader has left a turn. The bounds hold again after.
    pub(super) fn left(&self, id: &Arc<str>, reader: u64) {
        let mut inner = self.inner();
        let Some(record) = inner.records.get(id).cloned() else {
            return;
        };
        inner
            .left
            .retain(|left| left.record.is_left_by(left.reader));
        let owner = record.owner.clone();
        inner.left.push_back(Left {
            id: Arc::clone(id),
            record,
            reader,
        });
        let of_owner = |left: &Left| left.record.owner == owner;
        let mut first = None;
        if inner.left.iter().filter(|left| of_owner(left)).count() > self.policy.turns_per_owner {
            first = inner.left.iter().position(of_owner);
        } else if inner.left.len() > self.policy.turns {
            first = Some(0);
        }
        let ended = first.and_then(|first| inner.left.remove(first));
        drop(inner);
        if let Some(ended) = ended {
            tracing::debug!(turn = %ended.id, "more turns without a reader than there may be");
            ended.record.cancel();
        }
    }
}
