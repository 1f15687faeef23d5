use std::sync::Arc;

use super::{index::Standing, packed::Packed};
use crate::{
    log::{Batch, Head, ListQuery, Record, Seq, Snapshot, Update, fold, status_millis},
    model::Task,
};

/// One task.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) head: Head,
    /// The time of the status, for lists.
    pub(super) millis: i64,
    pub(super) context: Arc<str>,
    body: Body,
}

#[derive(Debug)]
enum Body {
    /// Running, waiting, or finished a moment ago.
    Open {
        records: Vec<Record>,
        /// The fold of the records. A copy is made only while a snapshot shares it.
        task: Arc<Task>,
    },
    /// Finished: small, and folded again when somebody asks.
    Packed(Packed),
}

impl Entry {
    /// A new task. The batch has been admitted.
    pub(super) fn open(head: Head, batch: Batch, records: Vec<Record>) -> Self {
        let mut updates = batch.into_updates().into_iter();
        let Some(Update::Opened(task)) = updates.next() else {
            unreachable!("admitted: the first update opens the task");
        };
        let mut entry = Self {
            head: head.clone(),
            millis: 0,
            context: task.context_id.as_str().into(),
            body: Body::Open {
                records: Vec::new(),
                task: Arc::new(*task),
            },
        };
        entry.grow(head, updates, records);
        entry
    }

    /// More of a task. The batch has been admitted.
    pub(super) fn extend(&mut self, head: Head, batch: Batch, records: Vec<Record>) {
        self.grow(head, batch.into_updates().into_iter(), records);
    }

    fn grow(&mut self, head: Head, updates: impl Iterator<Item = Update>, more: Vec<Record>) {
        self.head = head;
        let Body::Open { records, task } = &mut self.body else {
            unreachable!("admitted: nothing follows a terminal status");
        };
        if records.is_empty() {
            *records = more;
        } else {
            records.extend(more);
        }
        let view = Arc::make_mut(task);
        for update in updates {
            fold::apply(view, update);
        }
        self.millis = status_millis(view.status.timestamp);
    }

    /// What lists sort and filter it by.
    pub(super) const fn standing(&self) -> Standing {
        Standing {
            state: self.head.state(),
            millis: self.millis,
        }
    }

    pub(super) fn has_artifact(&self, artifact_id: &str) -> bool {
        match &self.body {
            Body::Open { task, .. } => task
                .artifacts
                .iter()
                .any(|artifact| artifact.artifact_id == artifact_id),
            Body::Packed(_) => false,
        }
    }

    pub(super) fn read(&self, id: &str, after: Seq, limit: usize) -> Vec<Record> {
        match &self.body {
            Body::Open { records, .. } => {
                let start = usize::try_from(after.number()).unwrap_or(usize::MAX);
                let rest = records.get(start..).unwrap_or_default();
                rest[..rest.len().min(limit)].to_vec()
            }
            Body::Packed(packed) => packed
                .records(after, id, &self.context)
                .take(limit)
                .collect(),
        }
    }

    pub(super) fn snapshot(&self, id: &str) -> Snapshot {
        Snapshot::new(self.head.seq(), self.task(id))
    }

    pub(super) fn task(&self, id: &str) -> Arc<Task> {
        match &self.body {
            Body::Open { task, .. } => Arc::clone(task),
            Body::Packed(packed) => {
                let records = packed.records(Seq::ZERO, id, &self.context);
                let task = fold::fold(None, records)
                    .ok()
                    .flatten()
                    .expect("this log encoded it, and it began with its task");
                Arc::new(task)
            }
        }
    }

    /// Whether the filters of a list let it through, all but the place.
    pub(super) fn matches(&self, query: &ListQuery) -> bool {
        query.context_id().is_none_or(|id| *self.context == *id)
            && query.wants_state(self.head.state())
            && query
                .since()
                .is_none_or(|time| self.millis >= status_millis(Some(time)))
    }

    /// As much of the task as a list asks for.
    pub(super) fn listed(&self, id: &str, query: &ListQuery) -> Task {
        let task = self.task(id);
        Task {
            id: task.id.clone(),
            context_id: task.context_id.clone(),
            status: task.status.clone(),
            artifacts: if query.wants_artifacts() {
                task.artifacts.clone()
            } else {
                Vec::new()
            },
            history: if query.wants_history() {
                task.history.clone()
            } else {
                Vec::new()
            },
            metadata: task.metadata.clone(),
        }
    }

    /// Makes a finished task small.
    pub(super) fn pack(&mut self, id: &str) {
        if let Body::Open { records, .. } = &self.body {
            self.body = Body::Packed(Packed::pack(records, id, &self.context));
        }
    }
}
