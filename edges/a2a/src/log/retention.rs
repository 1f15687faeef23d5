use std::time::Duration;

/// How long finished tasks are kept (A2A-OP-118). Bounded by default.
///
/// Whatever is older or one too many goes, the longest finished first, with its log.
/// Then it is unknown, to its owner too. A task that is not finished stays, however
/// old, and so does each of its updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    max_count: usize,
    max_age: Option<Duration>,
}

impl Retention {
    /// At most this many finished tasks, of any age.
    #[must_use]
    pub const fn count(max_count: usize) -> Self {
        Self {
            max_count,
            max_age: None,
        }
    }

    /// And none that finished longer ago than this.
    #[must_use]
    pub const fn with_max_age(mut self, max_age: Duration) -> Self {
        self.max_age = Some(max_age);
        self
    }

    /// How many finished tasks are kept.
    #[must_use]
    pub const fn max_count(&self) -> usize {
        self.max_count
    }

    /// How long finished tasks are kept.
    #[must_use]
    pub const fn max_age(&self) -> Option<Duration> {
        self.max_age
    }
}

impl Default for Retention {
    /// 10,000 finished tasks, each for at most a week.
    fn default() -> Self {
        Self::count(10_000).with_max_age(Duration::from_secs(7 * 24 * 60 * 60))
    }
}

/// How long the log of one task may become.
///
/// A live task's log is never trimmed, so something has to bound it: an append beyond is
/// [`Full`](super::AppendError::Full). A batch that finishes the task is taken all the
/// same, so that a task can always be failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    max_updates: u64,
    max_bytes: u64,
}

impl Limits {
    /// At most so many updates, and so many bytes of JSON in all.
    #[must_use]
    pub const fn new(max_updates: u64, max_bytes: u64) -> Self {
        Self {
            max_updates,
            max_bytes,
        }
    }

    /// How many updates.
    #[must_use]
    pub const fn max_updates(&self) -> u64 {
        self.max_updates
    }

    /// How many bytes.
    #[must_use]
    pub const fn max_bytes(&self) -> u64 {
        self.max_bytes
    }
}

impl Default for Limits {
    /// 250,000 updates, 64 MiB.
    fn default() -> Self {
        Self::new(250_000, 64 << 20)
    }
}
