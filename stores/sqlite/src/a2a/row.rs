//! How the log's types stand in columns.

use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use portcullis_a2a::{
    log::{Head, Holder, Record, RecordKind, Seq, TaskKey},
    model::TaskState,
};
use rusqlite::{Connection, OptionalExtension, Row, types::Type};

/// A task as the table has it.
pub(super) struct TaskRow {
    pub(super) task: i64,
    pub(super) head: Head,
}

pub(super) fn find(connection: &Connection, key: &TaskKey) -> rusqlite::Result<Option<TaskRow>> {
    connection
        .prepare_cached(
            "SELECT task, seq, state, bytes, holder FROM tasks
             WHERE tenant = ?1 AND account = ?2 AND id = ?3",
        )?
        .query_row((key.tenant(), key.owner().account(), key.id()), |row| {
            let holder: Option<String> = row.get(4)?;
            let head = Head::new(
                seq(row, 1)?,
                state(row, 2)?,
                unsigned(row, 3)?,
                holder.map(Holder::new),
            );
            Ok(TaskRow {
                task: row.get(0)?,
                head,
            })
        })
        .optional()
}

/// A record of the columns seq, kind, state, json.
pub(super) fn record(row: &Row<'_>) -> rusqlite::Result<Record> {
    let kind: u8 = row.get(1)?;
    let kind =
        RecordKind::from_code(kind).ok_or_else(|| damaged(1, "an unknown kind of update"))?;
    let state = match row.get::<_, Option<u8>>(2)? {
        Some(number) => Some(state_of(2, number)?),
        None => None,
    };
    let json: Arc<str> = row.get_ref(3)?.as_str()?.into();
    Ok(Record::from_parts(seq(row, 0)?, kind, state, json))
}

pub(super) fn seq(row: &Row<'_>, column: usize) -> rusqlite::Result<Seq> {
    unsigned(row, column).map(Seq::new)
}

pub(super) fn state(row: &Row<'_>, column: usize) -> rusqlite::Result<TaskState> {
    state_of(column, row.get(column)?)
}

fn state_of(column: usize, number: u8) -> rusqlite::Result<TaskState> {
    match number {
        0 => Ok(TaskState::Unknown),
        number => TaskState::from_number(number).ok_or_else(|| damaged(column, "an unknown state")),
    }
}

fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| damaged(column, "a negative number"))
}

/// A number for a column. Ours never come near the end of its range.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn millis(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// What no version of this program has written.
pub(super) fn damaged(
    column: usize,
    what: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, what.into())
}
