use std::{
    fs::{File, OpenOptions, TryLockError},
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, OpenFlags};

use crate::{
    OpenError,
    migration::{self, Found},
};

/// How a file is opened.
#[derive(Clone, Debug)]
#[must_use]
pub struct SqliteOptions {
    readers: usize,
    max_size: Option<u64>,
}

impl SqliteOptions {
    /// Two readers, and no bound on the size of the file.
    pub const fn new() -> Self {
        Self {
            readers: 2,
            max_size: None,
        }
    }

    /// How many threads read; at least one does.
    pub const fn readers(mut self, readers: usize) -> Self {
        self.readers = readers;
        self
    }

    /// The file grows to about so many bytes, not beyond: a write that would is refused as on
    /// a full disk.
    pub const fn max_size(mut self, bytes: u64) -> Self {
        self.max_size = Some(bytes);
        self
    }

    /// Opens a file, or makes one.
    pub(crate) fn open(&self, path: &Path) -> Result<Opened, OpenError> {
        let lock = lock(path)?;
        let sqlite = |source| OpenError::sqlite(path.to_owned(), source);
        let mut writer = connect(
            path,
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        )
        .map_err(sqlite)?;
        if writer.is_readonly(rusqlite::MAIN_DB).map_err(sqlite)? {
            return Err(OpenError::ReadOnly {
                path: path.to_owned(),
            });
        }
        // Before anything is changed: the file may be somebody else's.
        match migration::inspect(&writer).map_err(sqlite)? {
            Found::Ours(version) => {
                prepare(&writer, self.max_size).map_err(sqlite)?;
                migration::migrate(&mut writer, version).map_err(sqlite)?;
                // Nobody lives who held tasks before this process had the file.
                writer.execute("DELETE FROM holders", []).map_err(sqlite)?;
            }
            Found::Foreign => {
                return Err(OpenError::Foreign {
                    path: path.to_owned(),
                });
            }
            Found::Newer(found) => {
                return Err(OpenError::Newer {
                    path: path.to_owned(),
                    found,
                    known: migration::KNOWN,
                });
            }
        }
        let readers = (0..self.readers.max(1))
            .map(|_| connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY))
            .collect::<Result<_, _>>()
            .map_err(sqlite)?;
        Ok(Opened {
            lock,
            writer,
            readers,
        })
    }
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// A file that is ours until `lock` is dropped.
pub(crate) struct Opened {
    pub(crate) lock: File,
    pub(crate) writer: Connection,
    pub(crate) readers: Vec<Connection>,
}

/// One process has a store at a time: a bell does not ring in another one, so a watcher
/// there would wait for ever. The lock is on a file beside, for SQLite locks the
/// store itself in ways of its own, and it goes with the process, however that ends.
fn lock(path: &Path) -> Result<File, OpenError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push("-lock");
    let beside = PathBuf::from(beside);
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&beside)
        .map_err(|source| OpenError::unreachable(path.to_owned(), source))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse {
            path: path.to_owned(),
        }),
        Err(TryLockError::Error(source)) => Err(OpenError::unreachable(path.to_owned(), source)),
    }
}

fn connect(path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// What holds for the file and for its writer.
fn prepare(writer: &Connection, max_size: Option<u64>) -> rusqlite::Result<()> {
    writer.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    writer.pragma_update(None, "synchronous", "full")?;
    writer.pragma_update(None, "foreign_keys", true)?;
    if let Some(max_size) = max_size {
        let page: i64 = writer.pragma_query_value(None, "page_size", |row| row.get(0))?;
        let pages = i64::try_from(max_size).unwrap_or(i64::MAX) / page;
        writer.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    }
    Ok(())
}
