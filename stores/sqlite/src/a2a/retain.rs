use portcullis_a2a::log::{Owner, TaskKey};
use rusqlite::{Connection, Params, Row};

/// Lets go of the longest finished tasks beyond a number.
pub(super) fn beyond_count(
    connection: &Connection,
    max_count: usize,
) -> rusqlite::Result<Vec<TaskKey>> {
    let max_count = i64::try_from(max_count).unwrap_or(i64::MAX);
    delete(
        connection,
        "DELETE FROM tasks WHERE task IN (
             SELECT task FROM tasks WHERE finished = 1
             ORDER BY changed DESC, task DESC LIMIT -1 OFFSET ?1
         ) RETURNING tenant, account, id",
        [max_count],
    )
}

/// Lets go of the tasks that finished before a time, in milliseconds since 1970.
pub(super) fn before(connection: &Connection, millis: i64) -> rusqlite::Result<Vec<TaskKey>> {
    delete(
        connection,
        "DELETE FROM tasks WHERE finished = 1 AND changed < ?1 RETURNING tenant, account, id",
        [millis],
    )
}

fn delete(
    connection: &Connection,
    sql: &str,
    parameters: impl Params,
) -> rusqlite::Result<Vec<TaskKey>> {
    connection
        .prepare_cached(sql)?
        .query_map(parameters, |row| key(row, 0))?
        .collect()
}

/// The key in three columns: tenant, account, id.
pub(super) fn key(row: &Row<'_>, column: usize) -> rusqlite::Result<TaskKey> {
    let tenant = row.get_ref(column)?.as_str()?;
    let account = row.get_ref(column + 1)?.as_str()?;
    let id = row.get_ref(column + 2)?.as_str()?;
    Ok(TaskKey::new(Owner::from_parts(tenant, account), id))
}
