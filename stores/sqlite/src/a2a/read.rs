use portcullis_a2a::log::{Record, Seq, TaskKey};
use rusqlite::Connection;

use super::row;

/// The updates of a task behind a place.
pub(super) fn read(
    connection: &Connection,
    key: &TaskKey,
    after: Seq,
    limit: usize,
) -> rusqlite::Result<Option<Vec<Record>>> {
    let Some(found) = row::find(connection, key)? else {
        return Ok(None);
    };
    if after >= found.head.seq() {
        return Ok(Some(Vec::new()));
    }
    records(connection, found.task, after, limit).map(Some)
}

pub(super) fn records(
    connection: &Connection,
    task: i64,
    after: Seq,
    limit: usize,
) -> rusqlite::Result<Vec<Record>> {
    let after = row::signed(after.number());
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    connection
        .prepare_cached(
            "SELECT seq, kind, state, json FROM updates
             WHERE task = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
        )?
        .query_map((task, after, limit), row::record)?
        .collect()
}
