use std::{
    fmt,
    path::Path,
    sync::{Arc, atomic::AtomicUsize},
    time::SystemTime,
};

use portcullis_a2a::log::{
    AppendError, Batch, Bell, Bells, Holder, Limits, ListPage, ListQuery, Orphan, Record, Reply,
    Retention, Seq, Snapshot, TaskKey, TaskLog, Unavailable,
};
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::{
    append::{Append, Rules},
    fold, lease, list, read, retain, row,
};
use crate::{Database, OpenError};

/// The task log in a SQLite file.
///
/// Cloning shares it. See the crate's documentation for what is on disk when. When the file is
/// opened, whoever held tasks before is dead, so the next [`orphans`](TaskLog::orphans) hands
/// over all that the last process left behind.
#[derive(Clone)]
pub struct SqliteLog {
    database: Database,
    rules: Arc<Rules>,
}

impl SqliteLog {
    /// Opens a file with the defaults, or makes one, for nothing but the task log.
    ///
    /// # Errors
    /// When the file cannot be opened or is not ours, see [`OpenError`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::new(
            Database::open(path)?,
            Retention::default(),
            Limits::default(),
        )
    }

    /// The task log of a database, which has one: clone it.
    ///
    /// # Errors
    /// [`OpenError::Taken`] when the log of this database was handed out before.
    pub fn new(
        database: Database,
        retention: Retention,
        limits: Limits,
    ) -> Result<Self, OpenError> {
        // Two would have bells of their own, and a watcher of one miss what the other appends.
        database.claim("task log")?;
        Ok(Self {
            database,
            rules: Arc::new(Rules {
                bells: Bells::new(),
                limits,
                retention,
                finished: AtomicUsize::new(0),
            }),
        })
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
        after: impl FnOnce(&T) + Send + 'static,
    ) -> Reply<Result<T, Unavailable>> {
        let answer = self.database.write(write, after);
        Reply::later(async { answer.await.map_err(Unavailable::new) })
    }
}

impl fmt::Debug for SqliteLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteLog")
            .field("bells", &self.rules.bells.len())
            .finish_non_exhaustive()
    }
}

impl TaskLog for SqliteLog {
    fn append(&self, batch: Batch) -> Reply<Result<Seq, AppendError>> {
        let (reply, answer) = oneshot::channel();
        let append = Append::new(Arc::clone(&self.rules), batch, reply);
        self.database.submit(Box::new(append));
        Reply::later(async move {
            answer
                .await
                .unwrap_or_else(|stopped| Err(Unavailable::new(stopped).into()))
        })
    }

    fn read(
        &self,
        key: &TaskKey,
        after: Seq,
        limit: usize,
    ) -> Reply<Result<Option<Vec<Record>>, Unavailable>> {
        let key = key.clone();
        self.read(move |connection| read::read(connection, &key, after, limit))
    }

    fn snapshot(&self, key: &TaskKey) -> Reply<Result<Option<Snapshot>, Unavailable>> {
        let key = key.clone();
        let writes = self.database.queue();
        self.read(move |connection| {
            let found = fold::snapshot(connection, &key)?;
            Ok(found.map(|(snapshot, keep)| {
                if let Some(keep) = keep {
                    writes.submit(Box::new(keep));
                }
                snapshot
            }))
        })
    }

    fn list(&self, query: ListQuery) -> Reply<Result<ListPage, Unavailable>> {
        self.read(move |connection| list::list(connection, &query))
    }

    fn bell(&self, key: &TaskKey) -> Bell {
        self.rules.bells.bell(key)
    }

    fn bells(&self) -> usize {
        self.rules.bells.len()
    }

    fn renew(&self, holder: &Holder, until: SystemTime) -> Reply<Result<(), Unavailable>> {
        let holder = holder.clone();
        let until = row::millis(until);
        self.write(
            move |connection| lease::renew(connection, &holder, until),
            |()| {},
        )
    }

    fn orphans(
        &self,
        holder: &Holder,
        now: SystemTime,
        limit: usize,
    ) -> Reply<Result<Vec<Orphan>, Unavailable>> {
        let holder = holder.clone();
        let now = row::millis(now);
        self.write(
            move |connection| lease::take_over(connection, &holder, now, limit),
            |_| {},
        )
    }

    fn retain(&self, now: SystemTime) -> Reply<Result<usize, Unavailable>> {
        let retention = self.rules.retention;
        let oldest = retention
            .max_age()
            .and_then(|age| now.checked_sub(age))
            .map(row::millis);
        let rules = Arc::clone(&self.rules);
        let gone = self.write(
            move |connection| {
                let mut gone = retain::beyond_count(connection, retention.max_count())?;
                if let Some(oldest) = oldest {
                    gone.extend(retain::before(connection, oldest)?);
                }
                Ok(gone)
            },
            move |gone| gone.iter().for_each(|key| rules.bells.ring(key)),
        );
        Reply::later(async move { gone.await.map(|gone| gone.len()) })
    }
}
