use std::{
    fmt,
    fs::OpenOptions,
    io::{self, Write},
    mem,
    path::Path,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
};

use super::{LineSink, Refused};

/// Writes lines to a file, on a thread of its own. Clones write to the same one.
///
/// Lines wait in a buffer with a bound. When the disk is slower than the turns, lines are refused and no turn
/// waits. After an error of the disk nothing more is taken.
///
/// Dropping the last clone writes what waits and ends the thread: it blocks for as long as that takes.
#[derive(Clone)]
pub struct FileSink(Arc<Owner>);

struct Owner {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    most: usize,
    state: Mutex<State>,
    /// Something waits, or nobody will come any more.
    work: Condvar,
    /// What waited is written.
    idle: Condvar,
}

#[derive(Default)]
struct State {
    waiting: Vec<u8>,
    writing: bool,
    closed: bool,
    broken: Option<io::ErrorKind>,
}

impl FileSink {
    /// How many bytes may wait.
    const BUFFER: usize = 1 << 20;

    /// Appends to a file, which is made if it is not there. A mebibyte may wait to be written.
    ///
    /// # Errors
    ///
    /// When the file cannot be opened, or no thread begins.
    pub fn append(path: impl AsRef<Path>) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        {
            // What people wrote is nobody else's business.
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        Self::to(options.open(path)?, Self::BUFFER)
    }

    /// Writes to anything. So many bytes may wait to be written.
    ///
    /// # Errors
    ///
    /// When no thread begins.
    pub fn to(writer: impl Write + Send + 'static, buffer: usize) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            most: buffer,
            state: Mutex::default(),
            work: Condvar::new(),
            idle: Condvar::new(),
        });
        let writing = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("portcullis-record".to_owned())
            .spawn(move || writing.write_all(writer))?;
        Ok(Self(Arc::new(Owner {
            shared,
            thread: Some(thread),
        })))
    }

    /// Waits until everything that was taken is written. It blocks.
    ///
    /// # Errors
    ///
    /// When the file is broken.
    pub fn flush(&self) -> io::Result<()> {
        let shared = &self.0.shared;
        let mut state = shared.lock();
        while (state.writing || !state.waiting.is_empty()) && state.broken.is_none() {
            let woken = shared.idle.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        state.broken.map_or(Ok(()), |kind| Err(kind.into()))
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_all(&self, mut writer: impl Write) {
        let mut lines = Vec::new();
        loop {
            let mut state = self.lock();
            while state.waiting.is_empty() && !state.closed {
                let woken = self.work.wait(state);
                state = woken.unwrap_or_else(PoisonError::into_inner);
            }
            if state.waiting.is_empty() {
                return;
            }
            mem::swap(&mut state.waiting, &mut lines);
            state.writing = true;
            drop(state);
            let written = writer.write_all(&lines).and_then(|()| writer.flush());
            lines.clear();
            // Two large buffers are enough for a rush, and not for ever.
            lines.shrink_to(64 * 1024);
            let mut state = self.lock();
            state.writing = false;
            if let Err(error) = written {
                tracing::error!(error = %error, "a recording cannot be written");
                state.broken = Some(error.kind());
                state.waiting = Vec::new();
            }
            self.idle.notify_all();
            if state.broken.is_some() {
                return;
            }
        }
    }
}

impl LineSink for FileSink {
    fn line(&self, line: &[u8]) -> Result<(), Refused> {
        let shared = &self.0.shared;
        let mut state = shared.lock();
        if state.broken.is_some() {
            return Err(Refused::BROKEN);
        }
        if state.waiting.len().saturating_add(line.len()) >= shared.most {
            return Err(Refused::FULL);
        }
        let was_empty = state.waiting.is_empty();
        state.waiting.extend_from_slice(line);
        state.waiting.push(b'\n');
        drop(state);
        if was_empty {
            shared.work.notify_one();
        }
        Ok(())
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.work.notify_one();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the writer of a recording panicked");
        }
    }
}

impl fmt::Debug for FileSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.0.shared.lock();
        f.debug_struct("FileSink")
            .field("waiting", &state.waiting.len())
            .field("broken", &state.broken)
            .finish()
    }
}
