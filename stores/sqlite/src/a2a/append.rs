use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use portcullis_a2a::log::{
    AppendError, Batch, Bells, Head, Limits, Record, Retention, Seq, TaskKey, Unavailable, Update,
    status_millis,
};
use rusqlite::{Connection, OptionalExtension};
use tokio::sync::oneshot;

use super::{
    retain,
    row::{self, TaskRow},
};
use crate::writer::Job;

/// What all appends of a store share.
pub(super) struct Rules {
    pub(super) bells: Bells,
    pub(super) limits: Limits,
    pub(super) retention: Retention,
    /// Tasks that have finished since the number of finished tasks was looked at.
    pub(super) finished: AtomicUsize,
}

/// One batch on its way.
pub(super) struct Append {
    rules: Arc<Rules>,
    batch: Batch,
    records: Vec<Record>,
    verdict: Option<Result<Head, AppendError>>,
    gone: Vec<TaskKey>,
    reply: oneshot::Sender<Result<Seq, AppendError>>,
}

impl Append {
    pub(super) fn new(
        rules: Arc<Rules>,
        batch: Batch,
        reply: oneshot::Sender<Result<Seq, AppendError>>,
    ) -> Self {
        // Encoded by the caller, so that the writer only writes.
        let records = Record::encode_all(batch.expected(), batch.updates());
        Self {
            rules,
            batch,
            records,
            verdict: None,
            gone: Vec::new(),
            reply,
        }
    }

    fn write(&self, connection: &Connection) -> rusqlite::Result<Result<Head, AppendError>> {
        let found = row::find(connection, self.batch.key())?;
        // The closure cannot fail, so a failure is put aside.
        let mut failure = None;
        let verdict = Head::admit(
            found.as_ref().map(|row| &row.head),
            &self.batch,
            &self.records,
            &self.rules.limits,
            |artifact_id| {
                let known = found
                    .as_ref()
                    .map_or(Ok(false), |row| has_artifact(connection, row, artifact_id));
                known.unwrap_or_else(|error| {
                    failure = Some(error);
                    false
                })
            },
        );
        if let Some(error) = failure {
            return Err(error);
        }
        let head = match verdict {
            Ok(head) => head,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let task = match found {
            Some(row) => self.advance(connection, row.task, &head)?,
            None => self.open(connection, &head)?,
        };
        self.insert(connection, task)?;
        if head.state().is_terminal() {
            // Only appends ask for it.
            connection
                .prepare_cached("DELETE FROM artifacts WHERE task = ?1")?
                .execute([task])?;
        } else {
            self.insert_artifacts(connection, task)?;
        }
        Ok(Ok(head))
    }

    fn open(&self, connection: &Connection, head: &Head) -> rusqlite::Result<i64> {
        let key = self.batch.key();
        let context = match self.batch.updates().first() {
            Some(Update::Opened(task)) => &*task.context_id,
            _ => unreachable!("admitted: the first update opens the task"),
        };
        connection
            .prepare_cached(
                "INSERT INTO tasks (tenant, account, id, context_id, seq, state, changed, bytes, finished, holder)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?
            .insert((
                key.tenant(),
                key.owner().account(),
                key.id(),
                context,
                row::signed(head.seq().number()),
                head.state().number(),
                self.changed().unwrap_or(i64::MIN),
                row::signed(head.bytes()),
                head.state().is_terminal(),
                head.holder().map(|holder| holder.name()),
            ))
    }

    fn advance(&self, connection: &Connection, task: i64, head: &Head) -> rusqlite::Result<i64> {
        let seq = row::signed(head.seq().number());
        let bytes = row::signed(head.bytes());
        let holder = head.holder().map(|holder| holder.name());
        match self.changed() {
            // The indexes hold the state and its time, so they are left alone where the
            // status is: most updates are artifacts.
            None => connection
                .prepare_cached("UPDATE tasks SET seq = ?2, bytes = ?3, holder = ?4 WHERE task = ?1")?
                .execute((task, seq, bytes, holder))?,
            Some(changed) => connection
                .prepare_cached(
                    "UPDATE tasks SET seq = ?2, bytes = ?3, holder = ?4, state = ?5, changed = ?6, finished = ?7
                     WHERE task = ?1",
                )?
                .execute((
                    task,
                    seq,
                    bytes,
                    holder,
                    head.state().number(),
                    changed,
                    head.state().is_terminal(),
                ))?,
        };
        Ok(task)
    }

    fn insert(&self, connection: &Connection, task: i64) -> rusqlite::Result<()> {
        let mut statement = connection.prepare_cached(
            "INSERT INTO updates (task, seq, kind, state, json) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        for record in &self.records {
            statement.execute((
                task,
                row::signed(record.seq().number()),
                record.kind().code(),
                record.state().map(|state| state.number()),
                &**record.json(),
            ))?;
        }
        Ok(())
    }

    fn insert_artifacts(&self, connection: &Connection, task: i64) -> rusqlite::Result<()> {
        let mut statement = connection
            .prepare_cached("INSERT OR IGNORE INTO artifacts (task, id) VALUES (?1, ?2)")?;
        for update in self.batch.updates() {
            match update {
                Update::Artifact(chunk) if !chunk.event().append => {
                    statement.execute((task, &*chunk.event().artifact.artifact_id))?;
                }
                Update::Opened(opened) => {
                    for artifact in &opened.artifacts {
                        statement.execute((task, &*artifact.artifact_id))?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The time of the status that the batch leaves, if it sets one.
    fn changed(&self) -> Option<i64> {
        self.batch
            .updates()
            .iter()
            .rev()
            .find_map(|update| match update {
                Update::Opened(task) => Some(status_millis(task.status.timestamp)),
                Update::Status(event) => Some(status_millis(event.status.timestamp)),
                _ => None,
            })
    }

    /// Keeps the number of finished tasks, not at every one that finishes.
    fn retain(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let max_count = self.rules.retention.max_count();
        let due = (max_count / 16).clamp(1, 64);
        if self.rules.finished.fetch_add(1, Ordering::Relaxed) + 1 >= due {
            self.gone = retain::beyond_count(connection, max_count)?;
            self.rules.finished.store(0, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl Job for Append {
    fn run(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        self.gone.clear();
        let verdict = self.write(connection)?;
        if verdict
            .as_ref()
            .is_ok_and(|head| head.state().is_terminal())
        {
            self.retain(connection)?;
        }
        self.verdict = Some(verdict);
        Ok(())
    }

    fn finish(self: Box<Self>, outcome: Result<(), Arc<rusqlite::Error>>) {
        let verdict = match (outcome, self.verdict) {
            (Ok(()), Some(verdict)) => verdict.map(|head| head.seq()),
            (Ok(()), None) => unreachable!("a job that did not fail has a verdict"),
            (Err(error), _) => Err(Unavailable::new(error).into()),
        };
        if verdict.is_ok() && !self.records.is_empty() {
            self.rules.bells.ring(self.batch.key());
        }
        for key in &self.gone {
            self.rules.bells.ring(key);
        }
        // Whoever does not wait any more has dropped the other end.
        drop(self.reply.send(verdict));
    }
}

fn has_artifact(
    connection: &Connection,
    row: &TaskRow,
    artifact_id: &str,
) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT 1 FROM artifacts WHERE task = ?1 AND id = ?2")?
        .query_row((row.task, artifact_id), |_| Ok(()))
        .optional()
        .map(|found| found.is_some())
}
