use std::{
    fs::{File, Metadata},
    io::Read,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use tokio::time::Instant;

use super::table::{InvalidKeys, MAX_FILE, Table};
use crate::auth::error::Chain;

/// How often it is looked whether the file has changed, at most.
const LOOK: Duration = Duration::from_secs(1);

/// Keys in a file, read again when it has changed and somebody asks.
///
/// Nothing runs in the background. One `stat` a second at most, and a read after a change;
/// both block for as long as a local file takes.
pub(super) struct KeyFile {
    path: PathBuf,
    state: Mutex<State>,
}

struct State {
    table: Arc<Table>,
    /// Of the file that was read last, good or bad. `None`: there was none.
    stamp: Option<Stamp>,
    looked: Instant,
}

impl KeyFile {
    pub(super) fn open(path: &Path) -> Result<Self, InvalidKeys> {
        let (stamp, table) = read(path)?;
        let table = table?;
        if table.is_empty() {
            return Err(InvalidKeys::empty());
        }
        Ok(Self {
            path: path.to_owned(),
            state: Mutex::new(State {
                table: Arc::new(table),
                stamp: Some(stamp),
                looked: Instant::now(),
            }),
        })
    }

    /// The keys as they are now, or as they were when the file last made sense.
    pub(super) fn table(&self) -> Arc<Table> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if now.duration_since(state.looked) >= LOOK {
            state.looked = now;
            state.look(&self.path);
        }
        Arc::clone(&state.table)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl State {
    fn look(&mut self, path: &Path) {
        let stamp = std::fs::metadata(path).ok().map(|meta| Stamp::of(&meta));
        // A file that is gone is told once, as a bad one is.
        if stamp == self.stamp {
            return;
        }
        let table = match read(path) {
            Ok((stamp, table)) => {
                self.stamp = Some(stamp);
                table
            }
            Err(error) => {
                self.stamp = stamp;
                Err(error)
            }
        };
        match table {
            // Without any key as well: whoever takes the last line out means it.
            Ok(table) => {
                tracing::info!(path = %path.display(), keys = table.len(), "API keys were read again");
                self.table = Arc::new(table);
            }
            Err(error) => tracing::error!(
                path = %path.display(),
                error = %Chain(&error),
                "the API keys stay as they were"
            ),
        }
    }
}

/// Reads a file that has an end. The stamp is that of the file which was read.
fn read(path: &Path) -> Result<(Stamp, Result<Table, InvalidKeys>), InvalidKeys> {
    let file = File::open(path).map_err(InvalidKeys::unreadable)?;
    let stamp = Stamp::of(&file.metadata().map_err(InvalidKeys::unreadable)?);
    let mut text = String::new();
    let table = file
        .take(MAX_FILE as u64 + 1)
        .read_to_string(&mut text)
        .map_err(InvalidKeys::unreadable)
        .and_then(|_| {
            if text.len() > MAX_FILE {
                return Err(InvalidKeys::too_long());
            }
            Table::parse(&text)
        });
    Ok((stamp, table))
}

/// What changes when a file does: its time, length and, where files have numbers, which one it
/// is. Two writes within the grain of a clock differ in one of the others.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
    #[cfg(unix)]
    number: (u64, u64, i64, i64),
}

impl Stamp {
    fn of(meta: &Metadata) -> Self {
        #[cfg(unix)]
        use std::os::unix::fs::MetadataExt;
        Self {
            modified: meta.modified().ok(),
            length: meta.len(),
            #[cfg(unix)]
            number: (meta.dev(), meta.ino(), meta.ctime(), meta.ctime_nsec()),
        }
    }
}
