use std::{
    fmt,
    fs::File,
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
use crate::{
    OpenError, SqliteOptions,
    file::Opened,
    readers::Readers,
    writer::{Job, Writer},
};

/// The task log in a SQLite file.
///
/// Cloning shares it. See the crate's documentation for what is on disk when. At opening,
/// whoever held tasks before is dead, so the next [`orphans`](TaskLog::orphans) hands
/// over all that the last process left behind.
#[derive(Clone)]
pub struct SqliteLog(Arc<Inner>);

struct Inner {
    // In the order in which they have to go: readers queue writes, and the file is ours
    // until the writer is done.
    readers: Readers,
    writer: Writer,
    rules: Arc<Rules>,
    _lock: File,
}

impl SqliteLog {
    /// Opens a file with the defaults, or makes one.
    ///
    /// # Errors
    /// When the file cannot be opened or is not ours, see [`OpenError`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::open_with(
            path,
            &SqliteOptions::new(),
            Retention::default(),
            Limits::default(),
        )
    }

    /// Opens a file, or makes one.
    ///
    /// # Errors
    /// When the file cannot be opened or is not ours, see [`OpenError`].
    pub fn open_with(
        path: impl AsRef<Path>,
        options: &SqliteOptions,
        retention: Retention,
        limits: Limits,
    ) -> Result<Self, OpenError> {
        let path = path.as_ref();
        let Opened {
            lock,
            writer,
            readers,
        } = options.open(path)?;
        lease::bury(&writer).map_err(|source| OpenError::sqlite(path.to_owned(), source))?;
        let thread = |source| OpenError::unreachable(path.to_owned(), source);
        Ok(Self(Arc::new(Inner {
            readers: Readers::start(readers).map_err(thread)?,
            writer: Writer::start(writer).map_err(thread)?,
            rules: Arc::new(Rules {
                bells: Bells::new(),
                limits,
                retention,
                finished: AtomicUsize::new(0),
            }),
            _lock: lock,
        })))
    }

    /// Reads on a reader's thread, all from one state of the file.
    fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Reply<Result<T, Unavailable>> {
        let (reply, answer) = oneshot::channel();
        self.0.readers.submit(move |connection| {
            let result = connection.unchecked_transaction().and_then(|transaction| {
                let value = read(&transaction)?;
                transaction.commit()?;
                Ok(value)
            });
            // Whoever does not wait any more has dropped the other end.
            drop(reply.send(result));
        });
        Reply::later(async move {
            match answer.await {
                Ok(result) => result.map_err(Unavailable::new),
                Err(stopped) => Err(Unavailable::new(stopped)),
            }
        })
    }

    /// Writes with the next group.
    fn write<T: Send + 'static>(
        &self,
        write: impl FnMut(&Connection) -> rusqlite::Result<T> + Send + 'static,
        after: impl FnOnce(&T) + Send + 'static,
    ) -> Reply<Result<T, Unavailable>> {
        let (reply, answer) = oneshot::channel();
        self.0.writer.submit(Box::new(Write {
            write,
            after,
            value: None,
            reply,
        }));
        Reply::later(async move {
            match answer.await {
                Ok(result) => result.map_err(Unavailable::new),
                Err(stopped) => Err(Unavailable::new(stopped)),
            }
        })
    }
}

impl fmt::Debug for SqliteLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteLog")
            .field("bells", &self.0.rules.bells.len())
            .finish_non_exhaustive()
    }
}

impl TaskLog for SqliteLog {
    fn append(&self, batch: Batch) -> Reply<Result<Seq, AppendError>> {
        let (reply, answer) = oneshot::channel();
        let append = Append::new(Arc::clone(&self.0.rules), batch, reply);
        self.0.writer.submit(Box::new(append));
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
        let writes = self.0.writer.queue();
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
        self.0.rules.bells.bell(key)
    }

    fn bells(&self) -> usize {
        self.0.rules.bells.len()
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
        let retention = self.0.rules.retention;
        let oldest = retention
            .max_age()
            .and_then(|age| now.checked_sub(age))
            .map(row::millis);
        let rules = Arc::clone(&self.0.rules);
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

/// A write made of closures.
struct Write<W, A, T> {
    write: W,
    after: A,
    value: Option<T>,
    reply: oneshot::Sender<Result<T, Arc<rusqlite::Error>>>,
}

impl<W, A, T> Job for Write<W, A, T>
where
    W: FnMut(&Connection) -> rusqlite::Result<T> + Send,
    A: FnOnce(&T) + Send,
    T: Send,
{
    fn run(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        self.value = Some((self.write)(connection)?);
        Ok(())
    }

    fn finish(self: Box<Self>, outcome: Result<(), Arc<rusqlite::Error>>) {
        let Self {
            after,
            value,
            reply,
            ..
        } = *self;
        let result = outcome.map(|()| value.expect("a job that did not fail has a value"));
        if let Ok(value) = &result {
            after(value);
        }
        // Whoever does not wait any more has dropped the other end.
        drop(reply.send(result));
    }
}
