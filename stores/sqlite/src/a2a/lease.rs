use portcullis_a2a::log::{Holder, Orphan};
use portcullis_a2a::model::TaskState;
use rusqlite::Connection;

use super::{retain, row};

pub(super) fn renew(connection: &Connection, holder: &Holder, until: i64) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO holders (name, until) VALUES (?1, ?2)
             ON CONFLICT (name) DO UPDATE SET until = excluded.until",
        )?
        .execute((holder.name(), until))?;
    Ok(())
}

/// The rule is that of `Head::is_orphan`, within a namespace as `Owner` writes it.
pub(super) fn take_over(
    connection: &Connection,
    holder: &Holder,
    now: i64,
    limit: usize,
) -> rusqlite::Result<Vec<Orphan>> {
    connection
        .prepare_cached("DELETE FROM holders WHERE until <= ?1")?
        .execute([now])?;
    let orphans: Vec<(i64, Orphan)> = connection
        .prepare_cached(
            "SELECT task, seq, state, tenant, account, id FROM tasks
             WHERE finished = 0
               AND CASE WHEN ?4 = '' THEN substr(tenant, 1, 1) <> char(31)
                   ELSE substr(tenant, 1, length(?4) + 2) = char(31) || ?4 || char(31) END
               AND CASE WHEN holder IS NULL THEN state NOT IN (?1, ?2)
                   ELSE holder NOT IN (SELECT name FROM holders) END
             LIMIT ?3",
        )?
        .query_map(
            (
                TaskState::InputRequired.number(),
                TaskState::AuthRequired.number(),
                i64::try_from(limit).unwrap_or(i64::MAX),
                holder.namespace(),
            ),
            |found| {
                let key = retain::key(found, 3)?;
                let orphan = Orphan::new(key, row::seq(found, 1)?, row::state(found, 2)?);
                Ok((found.get(0)?, orphan))
            },
        )?
        .collect::<Result<_, _>>()?;
    let mut hand_over =
        connection.prepare_cached("UPDATE tasks SET holder = ?2 WHERE task = ?1")?;
    for (task, _) in &orphans {
        hand_over.execute((task, holder.name()))?;
    }
    Ok(orphans.into_iter().map(|(_, orphan)| orphan).collect())
}
