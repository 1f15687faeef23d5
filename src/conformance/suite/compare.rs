//! Compares what an agent said with what the caller of a layer got.

use super::LayerOptions;
use crate::{
    AgentEvent,
    conformance::{Check, probe::Emitted, unknown},
};

/// Something that differs.
pub(super) struct Difference {
    pub(super) check: Check,
    /// Which event of the caller.
    pub(super) event: Option<usize>,
    pub(super) details: String,
}

/// What both sides said, of one turn that was read as far as it went.
pub(super) struct Comparison<'a> {
    said: Vec<&'a Emitted>,
    got: &'a [AgentEvent],
    options: LayerOptions,
    /// The layer ended the turn by an event of its own.
    cut: bool,
    /// Something panicked, perhaps in the place of an event.
    panicked: bool,
    /// The agent ended as it ought to, or would have: there is nothing to repair.
    sound: bool,
    /// For each event of the caller, which one of the agent's it is.
    origin: Vec<Option<usize>>,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(said: &'a [Emitted], got: &'a [AgentEvent], options: LayerOptions) -> Self {
        // Nobody is to hear what a run says after its terminal event.
        let mut over = Vec::new();
        let said: Vec<_> = said
            .iter()
            .filter(|event| {
                let heard = !over.contains(&event.run);
                if event.event.is_terminal() {
                    over.push(event.run);
                }
                heard
            })
            .collect();
        let terminal = got.last().filter(|event| event.is_terminal());
        let cut = terminal.is_some() && said.last().map(|last| &last.event) != terminal;
        Self {
            said,
            got,
            options,
            cut,
            panicked: false,
            sound: false,
            origin: vec![None; got.len()],
        }
    }

    pub(super) const fn panicked(mut self, panicked: bool) -> Self {
        self.panicked = panicked;
        self
    }

    pub(super) const fn sound(mut self, sound: bool) -> Self {
        self.sound = sound;
        self
    }

    /// The first thing that differs.
    pub(super) fn difference(mut self) -> Option<Difference> {
        self.of_unknown().or_else(|| {
            if self.options.edits {
                return None;
            }
            self.of_known()
                .or_else(|| self.of_order())
                .or_else(|| self.of_inserted())
                .or_else(|| self.of_end())
        })
    }

    fn of_unknown(&mut self) -> Option<Difference> {
        let got = self.got;
        let mut theirs = (0..got.len())
            .filter(|at| unknown::is_ours(&got[*at]))
            .peekable();
        for index in 0..self.said.len() {
            let event = &self.said[index].event;
            if !unknown::is_ours(event) {
                continue;
            }
            match theirs.peek() {
                Some(at) if got[*at] == *event => {
                    self.origin[*at] = Some(index);
                    theirs.next();
                }
                _ if self.may_miss(index) => {}
                next => {
                    let what = match next {
                        Some(at) => format!("{:?} came", got[*at].type_name()),
                        None => "it did not come".to_owned(),
                    };
                    return Some(Difference {
                        check: Check::PassesUnknown,
                        event: next.copied(),
                        details: format!("the agent said {:?}, {what}", event.type_name()),
                    });
                }
            }
        }
        theirs.next().map(|at| Difference {
            check: Check::PassesUnknown,
            event: Some(at),
            details: format!("{:?} came once more, or changed", got[at].type_name()),
        })
    }

    fn of_known(&mut self) -> Option<Difference> {
        let mut from = 0;
        for index in 0..self.said.len() {
            let event = &self.said[index].event;
            if unknown::is_ours(event) {
                continue;
            }
            // What ends the turn is the end of the last run, though an earlier one ended the same.
            if self.options.invokes_again && event.is_terminal() && self.is_of_earlier_run(index) {
                continue;
            }
            let found = (from..self.got.len()).find(|at| self.same(event, &self.got[*at]));
            match found {
                Some(at) => {
                    self.origin[at] = Some(index);
                    from = at + 1;
                }
                None if self.may_miss(index) => {}
                None => {
                    return Some(Difference {
                        check: Check::KeepsKnown,
                        event: Some(from).filter(|from| *from < self.got.len()),
                        details: format!("{event:?} did not come, or changed"),
                    });
                }
            }
        }
        None
    }

    fn of_order(&self) -> Option<Difference> {
        let mut last = None;
        for (at, origin) in self.origin.iter().enumerate() {
            if origin.is_some() && *origin < last {
                return Some(Difference {
                    check: Check::KeepsOrder,
                    event: Some(at),
                    details: format!("{:?} came late", self.got[at].type_name()),
                });
            }
            last = last.max(*origin);
        }
        None
    }

    fn of_inserted(&self) -> Option<Difference> {
        let ends = |at: usize| at + 1 == self.got.len() && self.got[at].is_terminal();
        let at = (0..self.got.len()).find(|at| self.origin[*at].is_none() && !ends(*at))?;
        (!self.options.inserts).then(|| Difference {
            check: Check::InsertsNothing,
            event: Some(at),
            details: format!("{:?} is not from the agent", self.got[at]),
        })
    }

    /// A sound turn was ended by the layer, which does not say that it does that.
    fn of_end(&self) -> Option<Difference> {
        let ends = self.options.ends_turns || self.options.invokes_again;
        (self.sound && self.cut && !ends).then(|| Difference {
            check: Check::EndsNoTurns,
            event: self.got.len().checked_sub(1),
            details: format!("{:?} is not from the agent", self.got.last()),
        })
    }

    fn is_of_earlier_run(&self, index: usize) -> bool {
        let run = self.said[index].run;
        self.said.last().is_some_and(|last| last.run != run)
    }

    fn may_miss(&self, index: usize) -> bool {
        let last = index + 1 == self.said.len();
        let event = self.said[index];
        let earlier_run = self.is_of_earlier_run(index);
        let withheld = event.event.is_terminal() || matches!(event.event, AgentEvent::Retrying(_));
        // A cut may come in the place of an event, and so may a panic.
        (last && self.cut && self.options.ends_turns)
            || (last && self.panicked)
            || (self.options.invokes_again && withheld && (earlier_run || self.cut))
    }

    fn same(&self, said: &AgentEvent, got: &AgentEvent) -> bool {
        if said == got {
            return true;
        }
        let (AgentEvent::Usage(said), AgentEvent::Usage(got)) = (said, got) else {
            return false;
        };
        // Layers that invoke again number the runs.
        let numbers = got.id().strip_suffix(said.id());
        let numbered = numbers.is_some_and(|numbers| {
            numbers
                .bytes()
                .all(|byte| byte == b'/' || byte.is_ascii_digit())
        });
        let mut got = got.clone();
        got.set_id(said.id());
        self.options.invokes_again && numbered && got == *said
    }
}
