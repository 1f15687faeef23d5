use std::{
    fmt,
    sync::Arc,
    task::{Context, Poll},
};

use super::{record::Record, turns::Turns};
use crate::server::line::Line;

/// Who reads a turn. Dropping it leaves the turn, for as long as its grace; a turn that nobody can name
/// is cancelled.
pub(in crate::server) struct Reader {
    turns: Arc<Turns>,
    record: Arc<Record>,
    id: Arc<str>,
    number: u64,
    is_named: bool,
}

impl Reader {
    pub(super) const fn new(
        turns: Arc<Turns>,
        record: Arc<Record>,
        id: Arc<str>,
        number: u64,
        is_named: bool,
    ) -> Self {
        Self {
            turns,
            record,
            id,
            number,
            is_named,
        }
    }

    /// What names the turn. From now on its caller may know.
    pub(in crate::server) fn name(&mut self) -> &str {
        self.is_named = true;
        &self.id
    }

    pub(in crate::server) fn poll_line(&self, cx: &Context<'_>) -> Poll<Option<(u64, Line)>> {
        self.record.poll_line(self.number, cx)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if !self.is_named {
            self.record.cancel();
        } else if self.record.leave(self.number) {
            self.turns.left(&self.id, self.number);
        }
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("turn", &self.id)
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}
