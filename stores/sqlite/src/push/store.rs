use portcullis_a2a::{
    log::{Reply, Seq, TaskKey, Unavailable},
    model::TaskPushNotificationConfig,
    server::push::{PushLimits, PushStore, PutError, Registration, Retired},
};
use rusqlite::{Connection, OptionalExtension};

use super::row;
use crate::Database;

/// The webhooks of `portcullis-a2a` in a database.
///
/// Cloning shares them. What was not delivered when the process ended is delivered by the next one.
///
/// Credentials are in the file as they came, since they have to be sent: keep the file from
/// whoever must not read them.
#[derive(Clone, Debug)]
pub struct SqlitePushStore {
    database: Database,
    max_retired: usize,
}

impl SqlitePushStore {
    /// The webhooks of a database. The last 10,000 that were retired can still be read.
    #[must_use]
    pub const fn new(database: Database) -> Self {
        Self::with_max_retired(database, 10_000)
    }

    /// The same, with another number of retired ones.
    #[must_use]
    pub const fn with_max_retired(database: Database, most: usize) -> Self {
        Self {
            database,
            max_retired: most,
        }
    }

    fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Reply<Result<T, Unavailable>> {
        let answer = self.database.read(read);
        Reply::later(async { answer.await.map_err(Unavailable::new) })
    }

    fn write<T: Send + 'static>(
        &self,
        write: impl FnMut(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Reply<Result<T, Unavailable>> {
        let answer = self.database.write(write, |_| {});
        Reply::later(async { answer.await.map_err(Unavailable::new) })
    }
}

impl PushStore for SqlitePushStore {
    fn put(
        &self,
        registration: Registration,
        limits: &PushLimits,
    ) -> Reply<Result<Registration, PutError>> {
        let (per_task, total, most) = (limits.per_task, limits.total, self.max_retired);
        let answer = self.write(move |connection| {
            Ok(match room(connection, &registration, per_task, total)? {
                Some(refusal) => Err(refusal),
                None => Ok(put(connection, &registration, most)?),
            })
        });
        Reply::later(async move {
            match answer.await? {
                Ok(stored) => Ok(stored),
                Err(Full::Task) => Err(PutError::TooManyOfTask),
                Err(Full::All) => Err(PutError::TooMany),
            }
        })
    }

    fn get(
        &self,
        key: &TaskKey,
        id: &str,
    ) -> Reply<Result<Option<TaskPushNotificationConfig>, Unavailable>> {
        let (key, id) = (key.clone(), id.to_owned());
        self.read(move |connection| {
            connection
                .prepare_cached(
                    "SELECT json FROM webhooks WHERE tenant = ?1 AND account = ?2 AND task = ?3 AND id = ?4",
                )?
                .query_row((key.tenant(), key.owner().account(), key.id(), &id), |found| {
                    row::config(found, 0)
                })
                .optional()
        })
    }

    fn list(&self, key: &TaskKey) -> Reply<Result<Vec<TaskPushNotificationConfig>, Unavailable>> {
        let key = key.clone();
        self.read(move |connection| {
            connection
                .prepare_cached(
                    "SELECT json FROM webhooks WHERE tenant = ?1 AND account = ?2 AND task = ?3 ORDER BY webhook",
                )?
                .query_map((key.tenant(), key.owner().account(), key.id()), |found| {
                    row::config(found, 0)
                })?
                .collect()
        })
    }

    fn remove(&self, key: &TaskKey, id: &str) -> Reply<Result<bool, Unavailable>> {
        let (key, id) = (key.clone(), id.to_owned());
        self.write(move |connection| {
            let removed = connection
                .prepare_cached(
                    "DELETE FROM webhooks WHERE tenant = ?1 AND account = ?2 AND task = ?3 AND id = ?4",
                )?
                .execute((key.tenant(), key.owner().account(), key.id(), &id))?;
            Ok(removed > 0)
        })
    }

    fn advance(
        &self,
        key: &TaskKey,
        id: &str,
        after: Seq,
        retired: Option<Retired>,
    ) -> Reply<Result<(), Unavailable>> {
        let (key, id, most) = (key.clone(), id.to_owned(), self.max_retired);
        self.write(move |connection| {
            let name = (key.tenant(), key.owner().account(), key.id(), &id);
            connection
                .prepare_cached(
                    "UPDATE webhooks SET after = max(after, ?5)
                     WHERE tenant = ?1 AND account = ?2 AND task = ?3 AND id = ?4",
                )?
                .execute((name.0, name.1, name.2, name.3, row::signed(after)))?;
            let Some(retired) = retired else {
                return Ok(());
            };
            let changed = connection
                .prepare_cached(
                    "UPDATE webhooks SET retired = ?5,
                         ordinal = (SELECT coalesce(max(ordinal), 0) + 1 FROM webhooks WHERE retired IS NOT NULL)
                     WHERE tenant = ?1 AND account = ?2 AND task = ?3 AND id = ?4 AND retired IS NULL",
                )?
                .execute((name.0, name.1, name.2, name.3, retired.code()))?;
            if changed > 0 {
                forget(connection, most)?;
            }
            Ok(())
        })
    }

    fn active(
        &self,
        behind: Option<(&TaskKey, &str)>,
        limit: usize,
    ) -> Reply<Result<Vec<Registration>, Unavailable>> {
        let behind = behind.map(|(key, id)| (key.clone(), id.to_owned()));
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.read(move |connection| {
            let sql = |place: &str| {
                format!(
                    "SELECT {} FROM webhooks WHERE retired IS NULL {place}
                     ORDER BY tenant, account, task, id LIMIT ?1",
                    row::COLUMNS
                )
            };
            match &behind {
                None => connection
                    .prepare_cached(&sql(""))?
                    .query_map([limit], row::registration)?
                    .collect(),
                Some((key, id)) => connection
                    .prepare_cached(&sql("AND (tenant, account, task, id) > (?2, ?3, ?4, ?5)"))?
                    .query_map(
                        (limit, key.tenant(), key.owner().account(), key.id(), id),
                        row::registration,
                    )?
                    .collect(),
            }
        })
    }
}

/// What is full.
enum Full {
    Task,
    All,
}

fn room(
    connection: &Connection,
    registration: &Registration,
    per_task: usize,
    total: usize,
) -> rusqlite::Result<Option<Full>> {
    let key = &registration.key;
    let (of_task, known, was_active): (usize, bool, bool) = connection
        .prepare_cached(
            "SELECT count(*), coalesce(max(id = ?4), 0), coalesce(max(id = ?4 AND retired IS NULL), 0)
             FROM webhooks WHERE tenant = ?1 AND account = ?2 AND task = ?3",
        )?
        .query_row(
            (key.tenant(), key.owner().account(), key.id(), &registration.config.id),
            |row| {
                let of_task: i64 = row.get(0)?;
                Ok((usize::try_from(of_task).unwrap_or(0), row.get(1)?, row.get(2)?))
            },
        )?;
    if !known && of_task >= per_task {
        return Ok(Some(Full::Task));
    }
    if registration.retired.is_some() || was_active {
        return Ok(None);
    }
    let active: i64 = connection
        .prepare_cached("SELECT count(*) FROM webhooks WHERE retired IS NULL")?
        .query_row([], |row| row.get(0))?;
    Ok((usize::try_from(active).unwrap_or(0) >= total).then_some(Full::All))
}

fn put(
    connection: &Connection,
    registration: &Registration,
    most: usize,
) -> rusqlite::Result<Registration> {
    let json = serde_json::to_string(&registration.config)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    let key = &registration.key;
    let retired = registration.retired.map(Retired::code);
    let stored = connection
        .prepare_cached(&format!(
            "INSERT INTO webhooks (tenant, account, task, id, json, after, retired, ordinal)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7,
                 iif(?7 IS NULL, NULL,
                     (SELECT coalesce(max(ordinal), 0) + 1 FROM webhooks WHERE retired IS NOT NULL)))
             ON CONFLICT (tenant, account, task, id) DO UPDATE SET
                 json = excluded.json, after = max(after, excluded.after),
                 retired = excluded.retired, ordinal = excluded.ordinal
             RETURNING {}",
            row::COLUMNS
        ))?
        .query_row(
            (
                key.tenant(),
                key.owner().account(),
                key.id(),
                &registration.config.id,
                json,
                row::signed(registration.after),
                retired,
            ),
            row::registration,
        )?;
    if retired.is_some() {
        forget(connection, most)?;
    }
    Ok(stored)
}

/// The ones retired first go when they become too many.
fn forget(connection: &Connection, most: usize) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "DELETE FROM webhooks WHERE retired IS NOT NULL AND ordinal <=
               (SELECT ordinal FROM webhooks WHERE retired IS NOT NULL ORDER BY ordinal DESC LIMIT 1 OFFSET ?1)",
        )?
        .execute([i64::try_from(most).unwrap_or(i64::MAX)])?;
    Ok(())
}
