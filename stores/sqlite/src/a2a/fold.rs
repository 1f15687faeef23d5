use std::sync::Arc;

use portcullis_a2a::{
    log::{Record, Seq, Snapshot, TaskKey, fold},
    model::Task,
};
use rusqlite::{Connection, OptionalExtension};

use super::{read, row};
use crate::writer::Job;

/// The task as it is, and the fold of it if it is worth keeping.
pub(super) fn snapshot(
    connection: &Connection,
    key: &TaskKey,
) -> rusqlite::Result<Option<(Snapshot, Option<Keep>)>> {
    let Some(found) = row::find(connection, key)? else {
        return Ok(None);
    };
    let seq = found.head.seq();
    let (view, outgrown) = whole(connection, found.task)?;
    let keep = outgrown.then(|| Keep {
        task: found.task,
        seq,
        json: serde_json::to_string(&view).expect("the model always encodes"),
    });
    Ok(Some((Snapshot::new(seq, view), keep)))
}

/// Folds a task: what was kept of an earlier fold, and the updates behind it. Also says
/// whether these have outgrown what was kept.
pub(super) fn whole(connection: &Connection, task: i64) -> rusqlite::Result<(Task, bool)> {
    let kept: Option<(i64, String)> = connection
        .prepare_cached("SELECT seq, json FROM folds WHERE task = ?1")?
        .query_row([task], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let (base, after, base_size) = match kept {
        Some((seq, json)) => {
            let base: Task = serde_json::from_str(&json).map_err(|error| row::damaged(1, error))?;
            (Some(base), Seq::new(seq.unsigned_abs()), json.len())
        }
        None => (None, Seq::ZERO, 0),
    };
    let records = read::records(connection, task, after, usize::MAX)?;
    let folded_now: usize = records.iter().map(|record| record.json().len()).sum();
    Ok((view(base, records)?, folded_now > WORTH.max(base_size)))
}

/// The task without its artifacts, which needs no more than the statuses and messages.
pub(super) fn without_artifacts(connection: &Connection, task: i64) -> rusqlite::Result<Task> {
    let records: Vec<Record> = connection
        .prepare_cached(
            "SELECT seq, kind, state, json FROM updates INDEXED BY updates_of_status
             WHERE task = ?1 AND kind IN (1, 2, 5) ORDER BY seq",
        )?
        .query_map([task], row::record)?
        .collect::<Result<_, _>>()?;
    let mut view = view(None, records)?;
    view.artifacts = Vec::new();
    Ok(view)
}

fn view(base: Option<Task>, records: Vec<Record>) -> rusqlite::Result<Task> {
    fold(base, records)
        .map_err(|error| row::damaged(3, error))?
        .ok_or_else(|| row::damaged(3, "a task without updates"))
}

/// The fold of a long log, kept so that the next reader begins there.
pub(super) struct Keep {
    task: i64,
    seq: Seq,
    json: String,
}

impl Job for Keep {
    fn run(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        // The task may be gone by now, and another reader may have been further.
        connection
            .prepare_cached(
                "INSERT INTO folds (task, seq, json)
                 SELECT task, ?2, ?3 FROM tasks WHERE task = ?1
                 ON CONFLICT (task) DO UPDATE SET seq = excluded.seq, json = excluded.json
                 WHERE excluded.seq > folds.seq",
            )?
            .execute((self.task, row::signed(self.seq.number()), &self.json))?;
        Ok(())
    }

    fn finish(self: Box<Self>, outcome: Result<(), Arc<rusqlite::Error>>) {
        // It only saves work, and the log is the truth: without it reading is slower.
        if let Err(error) = outcome {
            tracing::debug!(%error, "the fold of a long task was not kept");
        }
    }
}

/// Folding less than this again is cheaper than keeping it. Beyond, a fold is kept
/// when the updates behind the kept one have outgrown it, so that what is written for
/// folds stays in proportion to the log.
const WORTH: usize = 64 << 10;
