/// What a layer does on purpose, so that the suite does not take it for a fault.
///
/// The suite always checks that drops reach everything, that permits come back, that
/// nothing is reserved by a turn that waits, that unknown events pass, and the terminal
/// event. Only what is declared here is left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct LayerOptions {
    pub(super) edits: bool,
    pub(super) inserts: bool,
    pub(super) ends_turns: bool,
    pub(super) invokes_again: bool,
    pub(super) edits_requests: bool,
    pub(super) paid_calls: Option<usize>,
}

impl LayerOptions {
    /// A layer that only watches.
    pub const fn new() -> Self {
        Self {
            edits: false,
            inserts: false,
            ends_turns: false,
            invokes_again: false,
            edits_requests: false,
            paid_calls: None,
        }
    }

    /// It changes, joins, holds back or withholds known events. The agent may run past text and thinking that it
    /// holds back, and past nothing else.
    pub const fn edits_events(mut self) -> Self {
        self.edits = true;
        self
    }

    /// It adds events.
    pub const fn inserts_events(mut self) -> Self {
        self.inserts = true;
        self
    }

    /// It refuses turns, or cuts them with a `failed` of its own.
    pub const fn ends_turns(mut self) -> Self {
        self.ends_turns = true;
        self
    }

    /// It invokes the agent below more than once a turn, and withholds what earlier runs
    /// ended with.
    pub const fn invokes_again(mut self) -> Self {
        self.invokes_again = true;
        self
    }

    /// It changes the scope or the prompt.
    pub const fn edits_requests(mut self) -> Self {
        self.edits_requests = true;
        self
    }

    /// It lets an agent that reports one token of usage before each of ten paid calls
    /// make at most so many of them. Implies [`ends_turns`](Self::ends_turns).
    pub const fn paid_calls_at_most(mut self, calls: usize) -> Self {
        self.paid_calls = Some(calls);
        self.ends_turns = true;
        self
    }

    /// What a stack of two layers does.
    pub fn and(self, other: Self) -> Self {
        Self {
            edits: self.edits || other.edits,
            inserts: self.inserts || other.inserts,
            ends_turns: self.ends_turns || other.ends_turns,
            invokes_again: self.invokes_again || other.invokes_again,
            edits_requests: self.edits_requests || other.edits_requests,
            // A layer that invokes again may give the other one a new allowance.
            paid_calls: if self.invokes_again || other.invokes_again {
                None
            } else {
                match (self.paid_calls, other.paid_calls) {
                    (Some(mine), Some(theirs)) => Some(mine.min(theirs)),
                    (mine, theirs) => mine.or(theirs),
                }
            },
        }
    }
}
