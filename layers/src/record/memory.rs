use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{LineSink, Refused};

/// Keeps lines in memory, up to a bound. Clones are the same one.
#[derive(Clone)]
pub struct MemorySink {
    most: usize,
    lines: Arc<Mutex<Vec<u8>>>,
}

impl MemorySink {
    /// Keeps so many bytes.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        Self {
            most: bytes,
            lines: Arc::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lines, each with its line break.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.lock()).into_owned()
    }

    /// Takes the lines out, and has room again.
    #[must_use]
    pub fn take(&self) -> String {
        let lines = std::mem::take(&mut *self.lock());
        String::from_utf8_lossy(&lines).into_owned()
    }
}

impl LineSink for MemorySink {
    fn line(&self, line: &[u8]) -> Result<(), Refused> {
        let mut lines = self.lock();
        if lines.len().saturating_add(line.len()) >= self.most {
            return Err(Refused::FULL);
        }
        lines.extend_from_slice(line);
        lines.push(b'\n');
        Ok(())
    }
}

impl fmt::Debug for MemorySink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemorySink")
            .field("bytes", &self.lock().len())
            .field("most", &self.most)
            .finish()
    }
}
