use std::task::{Context, Poll};

use super::{detach::Reader, line::Line, turn::Turn};

/// A line, and its number.
pub(super) type Numbered = (u64, Line);

/// Where the lines of a response come from.
#[derive(Debug)]
pub(super) enum Lines {
    /// A turn that lives and ends with the response, and how many lines of it there were.
    Own(Turn, u64),
    /// One that may outlive it.
    Kept(Reader),
}

impl Lines {
    pub(super) const fn own(turn: Turn) -> Self {
        Self::Own(turn, 0)
    }

    pub(super) fn poll_line(&mut self, cx: &mut Context<'_>) -> Poll<Option<Numbered>> {
        match self {
            Self::Own(turn, seq) => turn.poll_line(cx).map(|line| {
                *seq += 1;
                line.map(|line| (*seq, line))
            }),
            Self::Kept(reader) => reader.poll_line(cx),
        }
    }
}
