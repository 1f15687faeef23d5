/// How much is read. A recording may come from anybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct ReadLimits {
    pub(super) line: usize,
    pub(super) total: usize,
    pub(super) turns: usize,
}

impl ReadLimits {
    /// Sixteen mebibytes a line, 256 in all, and ten thousand turns.
    pub const fn new() -> Self {
        Self {
            line: 16 << 20,
            total: 256 << 20,
            turns: 10_000,
        }
    }

    /// So many bytes a line.
    pub const fn line(mut self, bytes: usize) -> Self {
        self.line = bytes;
        self
    }

    /// So many bytes in all.
    pub const fn total(mut self, bytes: usize) -> Self {
        self.total = bytes;
        self
    }

    /// So many turns.
    pub const fn turns(mut self, turns: usize) -> Self {
        self.turns = turns;
        self
    }
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self::new()
    }
}
