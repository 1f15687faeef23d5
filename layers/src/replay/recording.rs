use std::{
    collections::HashMap,
    io::{BufRead, Read},
    sync::Arc,
    time::Duration,
};

use portcullis::{AgentEvent, Prompt, Scope};

use super::{
    ReadError, ReadLimits,
    error::Fault,
    line::{Line, What},
};

/// A recorded turn. Cloning is one reference count.
#[derive(Clone, Debug)]
pub struct Recording(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    scope: Option<Scope>,
    prompt: Option<Prompt>,
    events: Vec<(Duration, AgentEvent)>,
    end: Option<RecordedEnd>,
    incomplete: bool,
}

/// How a recorded turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a turn has these five ends and no other"
)]
pub enum RecordedEnd {
    /// With `completed`.
    Completed,
    /// With `failed`.
    Failed,
    /// The caller left.
    Cancelled,
    /// Without a terminal event.
    Truncated,
    /// With a panic.
    Panicked,
}

impl RecordedEnd {
    pub(super) fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "completed" => Self::Completed,
            "failed" => Self::Failed,
            "cancelled" => Self::Cancelled,
            "truncated" => Self::Truncated,
            "panicked" => Self::Panicked,
            _ => return None,
        })
    }
}

impl Recording {
    /// Reads the recordings that stand in some lines, in the order in which they begin. Empty lines are skipped.
    ///
    /// # Errors
    ///
    /// With the number of the line: when it is no line of a recording; when its turn has not begun, begins
    /// twice, is over, or goes back in time; when an end does not fit the last event; when it is
    /// more than [`ReadLimits::new`] has.
    pub fn read(lines: impl BufRead) -> Result<Vec<Self>, ReadError> {
        Self::read_at_most(lines, ReadLimits::new())
    }

    /// Reads recordings, see [`read`](Self::read), with limits of your own.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn read_at_most(lines: impl BufRead, limits: ReadLimits) -> Result<Vec<Self>, ReadError> {
        let mut reading = Reading {
            limits,
            turns: Vec::new(),
            places: HashMap::new(),
        };
        let (mut lines, mut text, mut total) = (lines, Vec::new(), 0_usize);
        for number in 1.. {
            text.clear();
            let fault = |fault: Fault| ReadError::new(number, fault);
            // One byte more than there may be shows that there are.
            let mut line = (&mut lines).take(limits.line as u64 + 1);
            let read = line.read_until(b'\n', &mut text);
            let read = read.map_err(|error| fault(error.into()))?;
            if read == 0 {
                break;
            }
            total = total.saturating_add(read);
            if read > limits.line || total > limits.total {
                return Err(fault(Fault::Line("is more than may be read")));
            }
            let Ok(line) = str::from_utf8(&text) else {
                return Err(fault(Fault::Line("is not UTF-8")));
            };
            if !line.trim_ascii().is_empty() {
                reading.line(line).map_err(fault)?;
            }
        }
        let recordings = reading.turns.into_iter();
        Ok(recordings.map(|inner| Self(Arc::new(inner))).collect())
    }

    /// The scope that was asked in, if it was recorded.
    #[must_use]
    pub fn scope(&self) -> Option<&Scope> {
        self.0.scope.as_ref()
    }

    /// What was asked, if it was recorded.
    #[must_use]
    pub fn prompt(&self) -> Option<&Prompt> {
        self.0.prompt.as_ref()
    }

    /// The events, each with the time since the turn began.
    #[must_use]
    pub fn events(&self) -> impl ExactSizeIterator<Item = (Duration, &AgentEvent)> {
        self.0.events.iter().map(|(at, event)| (*at, event))
    }

    pub(super) fn event(&self, index: usize) -> Option<&(Duration, AgentEvent)> {
        self.0.events.get(index)
    }

    /// How the turn ended. `None` if nobody wrote it down, as when the process dies.
    #[must_use]
    pub fn end(&self) -> Option<RecordedEnd> {
        self.0.end
    }

    /// Whether nothing is missing: neither events nor the end.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.0.end.is_some() && !self.0.incomplete
    }
}

struct Reading {
    limits: ReadLimits,
    turns: Vec<Inner>,
    places: HashMap<String, usize>,
}

impl Reading {
    fn line(&mut self, text: &str) -> Result<(), Fault> {
        let Line { turn, at, what } = Line::read(text)?;
        if let What::Begin { scope, prompt } = what {
            if self.turns.len() >= self.limits.turns {
                return Err(Fault::Line("begins one turn too many"));
            }
            if self.places.insert(turn, self.turns.len()).is_some() {
                return Err(Fault::Line("begins a turn that has begun"));
            }
            self.turns.push(Inner {
                scope,
                prompt,
                ..Inner::default()
            });
            return Ok(());
        }
        let place = self.places.get(&turn);
        let place = *place.ok_or(Fault::Line("is of a turn that has not begun"))?;
        let turn = &mut self.turns[place];
        if turn.end.is_some() {
            return Err(Fault::Line("is of a turn that is over"));
        }
        let last = turn.events.last();
        if last.is_some_and(|(before, _)| *before > at) {
            return Err(Fault::Line("goes back in time"));
        }
        let terminal = last.map(|(_, event)| event).filter(|it| it.is_terminal());
        match what {
            What::Event(_) if terminal.is_some() => {
                return Err(Fault::Line("follows a terminal event"));
            }
            What::Event(event) => turn.events.push((at, event)),
            What::End { end, incomplete } => {
                let fits = match (end, terminal) {
                    (RecordedEnd::Completed, terminal) => {
                        matches!(terminal, Some(AgentEvent::Completed(_)))
                    }
                    (RecordedEnd::Failed, terminal) => {
                        matches!(terminal, Some(AgentEvent::Failed(_)))
                    }
                    (RecordedEnd::Truncated, terminal) => terminal.is_none(),
                    (RecordedEnd::Cancelled | RecordedEnd::Panicked, None) => true,
                    // It was on its way when the turn was dropped, or what said it panicked in its drop:
                    // nobody heard it.
                    (RecordedEnd::Cancelled | RecordedEnd::Panicked, Some(_)) => {
                        turn.events.pop();
                        true
                    }
                };
                if !fits && !incomplete {
                    return Err(Fault::Line("has an end that does not fit the last event"));
                }
                turn.end = Some(end);
                turn.incomplete = incomplete;
            }
            What::Begin { .. } | What::Other => {}
        }
        Ok(())
    }
}
