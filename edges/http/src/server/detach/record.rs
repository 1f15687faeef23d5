use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::Duration,
};

use tokio::time::Instant;

use super::Owner;
use crate::server::line::Line;

/// What the task of a turn and its readers share.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) owner: Owner,
    grace: Duration,
    room: usize,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// What can be read again, and what nobody has read.
    lines: VecDeque<Line>,
    /// The number of the first of them.
    first: u64,
    /// The number of the line that the reader reads next.
    next: u64,
    /// What all lines take, and what those take that nobody has read.
    bytes: usize,
    unread: usize,
    /// Whether the last line has come.
    ended: bool,
    cancelled: bool,
    /// Which reader it is. Every one that comes takes the place of the one before.
    reader: u64,
    /// Since when there is none.
    left: Option<Instant>,
    /// Whether the reader waits for a line.
    waits: bool,
    wakes_reader: Option<Waker>,
    wakes_run: Option<Waker>,
}

/// What the task of the turn does next.
pub(super) enum Step {
    /// It lets the turn run.
    Run,
    /// It waits: somebody has to read first, or come back by then.
    Wait,
    /// It is over.
    Stop,
}

/// Why nobody can read on there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum Absent {
    /// There is no such turn, or it is none of theirs.
    Unknown,
    /// The events after that one are not kept any more.
    Gone,
    /// There is no such event yet.
    Ahead,
}

impl Record {
    pub(super) fn new(owner: Owner, grace: Duration, room: usize) -> Self {
        Self {
            owner,
            grace,
            room,
            state: Mutex::new(State {
                lines: VecDeque::new(),
                first: 1,
                next: 1,
                bytes: 0,
                unread: 0,
                ended: false,
                cancelled: false,
                reader: 0,
                left: None,
                waits: false,
                wakes_reader: None,
                wakes_run: None,
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the task does next, and when it is over if nobody comes.
    pub(super) fn step(&self, cx: &Context<'_>) -> (Step, Option<Instant>) {
        let mut state = self.state();
        keep(&mut state.wakes_run, cx);
        if state.cancelled {
            return (Step::Stop, None);
        }
        let Some(left) = state.left else {
            // Nothing runs ahead of a reader.
            let runs = state.waits && !state.ended;
            return (if runs { Step::Run } else { Step::Wait }, None);
        };
        let until = left.checked_add(self.grace);
        let runs = !state.ended && state.unread < self.room;
        (if runs { Step::Run } else { Step::Wait }, until)
    }

    /// A line has come.
    pub(super) fn push(&self, line: Line) {
        let mut state = self.state();
        state.ended = line.is_last;
        state.waits = false;
        state.bytes += size(&line);
        state.unread += size(&line);
        state.lines.push_back(line);
        wake(&mut state.wakes_reader);
    }

    /// Ends the turn, whoever reads it.
    pub(super) fn cancel(&self) {
        let mut state = self.state();
        state.cancelled = true;
        wake(&mut state.wakes_run);
        wake(&mut state.wakes_reader);
    }

    /// Begins to read after the line with this number, in place of whoever read before. Answers which
    /// reader it is, and whether there will be anything to read.
    pub(super) fn attach(&self, after: u64) -> Result<(u64, bool), Absent> {
        let mut state = self.state();
        if state.cancelled {
            return Err(Absent::Unknown);
        }
        let end = state.first + state.lines.len() as u64;
        let next = after.checked_add(1).filter(|next| *next <= end);
        let next = next.ok_or(Absent::Ahead)?;
        if next < state.first {
            return Err(Absent::Gone);
        }
        state.next = next;
        let read = state.index_of_next();
        state.unread = state.lines.iter().skip(read).map(size).sum();
        state.reader += 1;
        state.left = None;
        state.waits = false;
        wake(&mut state.wakes_reader);
        wake(&mut state.wakes_run);
        Ok((state.reader, next < end || !state.ended))
    }

    /// The next line for this reader, and its number. `None` when there is none any more, and when
    /// somebody else reads.
    pub(super) fn poll_line(&self, reader: u64, cx: &Context<'_>) -> Poll<Option<(u64, Line)>> {
        let mut state = self.state();
        if state.cancelled || state.reader != reader {
            return Poll::Ready(None);
        }
        let index = state.index_of_next();
        if let Some(line) = state.lines.get(index).cloned() {
            let number = state.next;
            state.next += 1;
            state.unread -= size(&line);
            state.trim(self.room);
            return Poll::Ready(Some((number, line)));
        }
        if state.ended {
            return Poll::Ready(None);
        }
        state.waits = true;
        keep(&mut state.wakes_reader, cx);
        wake(&mut state.wakes_run);
        Poll::Pending
    }

    /// This reader is gone. Answers whether nobody reads now.
    pub(super) fn leave(&self, reader: u64) -> bool {
        let mut state = self.state();
        if state.cancelled || state.reader != reader {
            return false;
        }
        state.left = Some(Instant::now());
        state.wakes_reader = None;
        wake(&mut state.wakes_run);
        true
    }

    /// Whether nobody has read since this reader left.
    pub(super) fn is_left_by(&self, reader: u64) -> bool {
        let state = self.state();
        !state.cancelled && state.reader == reader && state.left.is_some()
    }
}

impl State {
    /// Lets go what was read, but for the last of it: whoever was cut may not have got that.
    fn trim(&mut self, room: usize) {
        while let Some(oldest) = self.lines.front()
            && self.bytes - self.unread >= room + size(oldest)
        {
            self.bytes -= size(oldest);
            self.lines.pop_front();
            self.first += 1;
        }
    }

    fn index_of_next(&self) -> usize {
        usize::try_from(self.next - self.first).unwrap_or(usize::MAX)
    }
}

/// What a line takes: also the small ones of a chatty agent.
fn size(line: &Line) -> usize {
    line.json.len() + size_of::<Line>()
}

fn keep(waker: &mut Option<Waker>, cx: &Context<'_>) {
    match waker {
        Some(waker) => waker.clone_from(cx.waker()),
        None => *waker = Some(cx.waker().clone()),
    }
}

fn wake(waker: &mut Option<Waker>) {
    if let Some(waker) = waker.take() {
        waker.wake();
    }
}
