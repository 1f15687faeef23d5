use std::{
    ffi::{OsStr, OsString},
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use cap_std::fs::Dir;

use super::{FileError, Limits, TextFile, open::open};
use crate::plain::push_plain;

/// Walks the files below a directory in the order of their names, depth first. Links
/// are not followed, so a walk sees each file once and always ends.
pub(crate) struct Walk {
    levels: Vec<Level>,
    limits: Arc<Limits>,
    files: usize,
    entries: usize,
    truncated: bool,
}

struct Level {
    dir: Arc<Dir>,
    path: PathBuf,
    /// Sorted backwards, so that the next one is popped.
    entries: Vec<(OsString, bool)>,
}

/// A file or a directory that a walk came by.
pub(crate) struct Entry {
    dir: Arc<Dir>,
    name: OsString,
    pub(crate) path: PathBuf,
    pub(crate) is_dir: bool,
}

impl Walk {
    pub(super) fn new(dir: Dir, path: PathBuf, limits: Arc<Limits>) -> Result<Self, FileError> {
        let mut walk = Self {
            levels: Vec::new(),
            limits,
            files: 0,
            entries: 0,
            truncated: false,
        };
        let name = shown(&path);
        walk.push(Arc::new(dir), path)
            .map_err(|error| FileError::from_io(&name, error))?;
        Ok(walk)
    }

    /// Whether a bound kept it from seeing everything.
    pub(crate) const fn is_truncated(&self) -> bool {
        self.truncated
    }

    /// The entries of the directory itself, without walking on.
    pub(crate) fn into_entries(mut self) -> Vec<Entry> {
        let Some(mut level) = self.levels.pop() else {
            return Vec::new();
        };
        level.entries.reverse();
        level
            .entries
            .into_iter()
            .map(|(name, is_dir)| Entry {
                dir: Arc::clone(&level.dir),
                path: level.path.join(&name),
                name,
                is_dir,
            })
            .collect()
    }

    fn push(&mut self, dir: Arc<Dir>, path: PathBuf) -> std::io::Result<()> {
        let mut entries = Vec::new();
        for entry in dir.entries()? {
            self.entries += 1;
            if self.entries > self.limits.entries {
                self.truncated = true;
                break;
            }
            // An entry that vanishes meanwhile is as if it had never been there.
            let Ok(entry) = entry else { continue };
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let name = entry.file_name();
            if (kind.is_dir() || kind.is_file()) && !ignored(&name) {
                entries.push((name, kind.is_dir()));
            }
        }
        entries.sort_unstable_by(|left, right| right.cmp(left));
        self.levels.push(Level { dir, path, entries });
        Ok(())
    }
}

impl Iterator for Walk {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        loop {
            let level = self.levels.last_mut()?;
            let Some((name, is_dir)) = level.entries.pop() else {
                self.levels.pop();
                continue;
            };
            let (dir, path) = (Arc::clone(&level.dir), level.path.join(&name));
            if is_dir {
                if self.levels.len() >= self.limits.depth {
                    self.truncated = true;
                } else if let Ok(below) = dir.open_dir(&name)
                    && self.push(Arc::new(below), path.clone()).is_err()
                {
                    self.truncated = true;
                }
            } else {
                self.files += 1;
                if self.files > self.limits.files {
                    self.truncated = true;
                    self.levels.clear();
                    return None;
                }
            }
            return Some(Entry {
                dir,
                name,
                path,
                is_dir,
            });
        }
    }
}

impl fmt::Debug for Walk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Walk")
            .field("files", &self.files)
            .finish_non_exhaustive()
    }
}

impl Entry {
    pub(crate) fn extension(&self) -> Option<&OsStr> {
        self.path.extension()
    }

    /// The path for an answer.
    pub(crate) fn shown(&self) -> String {
        shown(&self.path)
    }

    pub(crate) fn bytes(&self) -> Option<u64> {
        let metadata = self.dir.symlink_metadata(&self.name).ok()?;
        metadata.is_file().then(|| metadata.len())
    }

    pub(crate) fn open(&self, limits: &Limits) -> Result<TextFile, FileError> {
        let shown = self.shown();
        let file = open(&self.dir, &self.name, false)
            .map_err(|error| FileError::from_io(&shown, error))?;
        TextFile::new(file, &shown, limits)
    }
}

/// Hidden, or made by programs: never looked at. This keeps `.git`, `.env` and the like
/// from whoever may ask.
pub(super) fn ignored(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".") || name == "target"
}

/// A path for people: bytes that are no UTF-8 become U+FFFD, and control characters are
/// escaped, so that a name cannot forge lines of an answer.
pub(crate) fn shown(path: &Path) -> String {
    if path.as_os_str().is_empty() {
        return ".".to_owned();
    }
    let mut shown = String::new();
    push_plain(&mut shown, &path.to_string_lossy());
    shown
}
