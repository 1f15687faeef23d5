use std::{
    error::Error,
    fmt,
    fs::File,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::{
    OpenError, SqliteOptions,
    file::Opened,
    readers::Readers,
    writer::{Job, Queue, Writer},
};

/// One SQLite file, open, in which the stores of this crate live side by side.
///
/// Cloning shares it. The file is closed when the last clone, and the last store in it, is
/// gone: what waits is written first. See the crate's documentation for what is on disk when.
#[derive(Clone)]
pub struct Database(Arc<Inner>);

struct Inner {
    // In the order in which they have to go: readers queue writes, and the file is ours
    // until the writer is done.
    readers: Readers,
    writer: Writer,
    path: PathBuf,
    parts: Mutex<Vec<&'static str>>,
    _lock: File,
}

impl Database {
    /// Opens a file with the defaults, or makes one.
    ///
    /// # Errors
    /// When the file cannot be opened or is not ours, see [`OpenError`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::open_with(path, &SqliteOptions::new())
    }

    /// Opens a file, or makes one.
    ///
    /// # Errors
    /// When the file cannot be opened or is not ours, see [`OpenError`].
    pub fn open_with(path: impl AsRef<Path>, options: &SqliteOptions) -> Result<Self, OpenError> {
        let path = path.as_ref();
        let Opened {
            lock,
            writer,
            readers,
        } = options.open(path)?;
        let thread = |source| OpenError::unreachable(path.to_owned(), source);
        Ok(Self(Arc::new(Inner {
            readers: Readers::start(readers).map_err(thread)?,
            writer: Writer::start(writer).map_err(thread)?,
            path: path.to_owned(),
            parts: Mutex::default(),
            _lock: lock,
        })))
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Hands out a part of the file that may have one handle only, since the handle keeps something
    /// in memory.
    pub(crate) fn claim(&self, part: &'static str) -> Result<(), OpenError> {
        let mut parts = self.0.parts.lock().unwrap_or_else(PoisonError::into_inner);
        if parts.contains(&part) {
            return Err(OpenError::Taken {
                path: self.0.path.clone(),
                part,
            });
        }
        parts.push(part);
        Ok(())
    }

    /// Reads on a reader's thread, all from one state of the file.
    pub(crate) fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> impl Future<Output = Result<T, Trouble>> + Send + 'static {
        let (reply, answer) = oneshot::channel();
        self.0.readers.submit(move |connection| {
            let result = connection.unchecked_transaction().and_then(|transaction| {
                let value = read(&transaction)?;
                transaction.commit()?;
                Ok(value)
            });
            // Whoever does not wait any more has dropped the other end.
            drop(reply.send(result.map_err(Arc::new)));
        });
        settle(answer)
    }

    /// Writes with the next group. `write` runs again if the group's transaction failed for
    /// another one; `after` runs on the writer's thread once the commit is done. Both happen whether
    /// or not the future is polled.
    pub(crate) fn write<T: Send + 'static>(
        &self,
        write: impl FnMut(&Connection) -> rusqlite::Result<T> + Send + 'static,
        after: impl FnOnce(&T) + Send + 'static,
    ) -> impl Future<Output = Result<T, Trouble>> + Send + 'static {
        let (reply, answer) = oneshot::channel();
        self.submit(Box::new(Write {
            write,
            after,
            value: None,
            reply,
        }));
        settle(answer)
    }

    pub(crate) fn submit(&self, job: Box<dyn Job>) {
        self.0.writer.submit(job);
    }

    pub(crate) fn queue(&self) -> Queue {
        self.0.writer.queue()
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database")
            .field("path", &self.0.path)
            .finish_non_exhaustive()
    }
}

async fn settle<T>(
    answer: oneshot::Receiver<Result<T, Arc<rusqlite::Error>>>,
) -> Result<T, Trouble> {
    match answer.await {
        Ok(result) => result.map_err(Trouble::Failed),
        Err(_) => Err(Trouble::Stopped),
    }
}

/// Why the database did not do it.
#[derive(Clone, Debug)]
pub(crate) enum Trouble {
    Failed(Arc<rusqlite::Error>),
    Stopped,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Failed(_) => "the database failed",
            Self::Stopped => "the database has stopped",
        })
    }
}

impl Error for Trouble {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Failed(error) => Some(&**error),
            Self::Stopped => None,
        }
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
