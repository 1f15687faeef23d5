use std::fmt;

/// What a suite checks. Each has a broken agent, consumer or layer in the tests of this
/// crate that is caught by it and by no other.
#[expect(
    clippy::exhaustive_enums,
    reason = "a new check has to make its tests fail to compile until it has a mutant"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Check {
    /// MUST 1: the stream ends with a terminal event.
    EndsWithTerminal,
    /// MUST 1: no event follows the terminal one.
    NothingAfterTerminal,
    /// MUST 2: a failure is a `failed` event, not a panic.
    NoPanic,
    /// MUST 3: dropping the turn stops the work.
    DropStops,
    /// MUST 4: a consumer ignores events that it does not know.
    IgnoresUnknown,
    /// A consumer takes no reasoning for the answer.
    KeepsThinkingApart,
    /// MUST 5: unknown events pass unchanged and in order.
    PassesUnknown,
    /// MUST 6: any process can serve any turn of a session.
    Portable,
    /// Known events pass unchanged.
    KeepsKnown,
    /// Unknown and known events keep their order among each other.
    KeepsOrder,
    /// A layer adds no events of its own, unless it says so.
    InsertsNothing,
    /// Dropping the turn drops what is below, before `drop` returns.
    DropReaches,
    /// What is below is gone when the terminal event leaves.
    FreeAtTerminal,
    /// However turns ended, later ones find the layer as they would a new one.
    ReturnsPermits,
    /// A turn that waits keeps nothing ready below.
    ReservesNothing,
    /// The agent below is called only when it is ready.
    CallsWhenReady,
    /// The agent below does not go on before the caller has taken what it said.
    NothingAhead,
    /// A panic below goes on, or becomes a `failed` event: it is not swallowed.
    HearsPanics,
    /// A turn that is pending will be woken.
    Wakes,
    /// Session, prompt and the typed map reach the agent below.
    PassesRequest,
    /// What the engine reports while it is dropped reaches the sink of the caller.
    PassesSink,
}

impl Check {
    /// All of them.
    pub const ALL: [Self; 21] = [
        Self::EndsWithTerminal,
        Self::NothingAfterTerminal,
        Self::NoPanic,
        Self::DropStops,
        Self::IgnoresUnknown,
        Self::KeepsThinkingApart,
        Self::PassesUnknown,
        Self::Portable,
        Self::KeepsKnown,
        Self::KeepsOrder,
        Self::InsertsNothing,
        Self::DropReaches,
        Self::FreeAtTerminal,
        Self::ReturnsPermits,
        Self::ReservesNothing,
        Self::CallsWhenReady,
        Self::NothingAhead,
        Self::HearsPanics,
        Self::Wakes,
        Self::PassesRequest,
        Self::PassesSink,
    ];

    /// The stable name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::EndsWithTerminal => "ends-with-terminal",
            Self::NothingAfterTerminal => "nothing-after-terminal",
            Self::NoPanic => "no-panic",
            Self::DropStops => "drop-stops",
            Self::IgnoresUnknown => "ignores-unknown",
            Self::KeepsThinkingApart => "keeps-thinking-apart",
            Self::PassesUnknown => "passes-unknown",
            Self::Portable => "portable",
            Self::KeepsKnown => "keeps-known",
            Self::KeepsOrder => "keeps-order",
            Self::InsertsNothing => "inserts-nothing",
            Self::DropReaches => "drop-reaches",
            Self::FreeAtTerminal => "free-at-terminal",
            Self::ReturnsPermits => "returns-permits",
            Self::ReservesNothing => "reserves-nothing",
            Self::CallsWhenReady => "calls-when-ready",
            Self::NothingAhead => "nothing-ahead",
            Self::HearsPanics => "hears-panics",
            Self::Wakes => "wakes",
            Self::PassesRequest => "passes-request",
            Self::PassesSink => "passes-sink",
        }
    }

    /// What is asked for, in one sentence.
    #[must_use]
    pub const fn promise(self) -> &'static str {
        match self {
            Self::EndsWithTerminal => {
                "a stream that is read to its end ends with `completed` or `failed` (MUST 1)"
            }
            Self::NothingAfterTerminal => {
                "nothing follows the terminal event, and the stream ends (MUST 1)"
            }
            Self::NoPanic => {
                "a failure is a `failed` event: neither call nor stream nor drop panics (MUST 2)"
            }
            Self::DropStops => "dropping the turn stops its work (MUST 3)",
            Self::IgnoresUnknown => "a consumer ignores events that it does not know (MUST 4)",
            Self::KeepsThinkingApart => "reasoning is no part of the answer",
            Self::PassesUnknown => "unknown events pass unchanged and in order (MUST 5)",
            Self::Portable => "turns of one session may run in different processes (MUST 6)",
            Self::KeepsKnown => "known events pass unchanged, unless the layer says that it edits",
            Self::KeepsOrder => "events keep their order, unless the layer says that it edits",
            Self::InsertsNothing => "a layer adds no events, unless it says that it inserts",
            Self::DropReaches => "everything below is gone when `drop` returns",
            Self::FreeAtTerminal => "what is below is dropped before the terminal event leaves",
            Self::ReturnsPermits => "whatever ends a turn, what it held is given back",
            Self::ReservesNothing => {
                "a turn that waits keeps nothing ready below: admit first, then readiness and call on a clone"
            }
            Self::CallsWhenReady => {
                "`call` follows a `poll_ready` that was `Ready`, on the same service"
            }
            Self::NothingAhead => {
                "the agent below goes on only when the caller, who has the last event, polls again"
            }
            Self::HearsPanics => "a panic below goes on upwards or becomes `failed`",
            Self::Wakes => "a turn that is pending registers its waker with what it waits for",
            Self::PassesRequest => "session, prompt, and the typed map reach the agent below",
            Self::PassesSink => {
                "usage that is reported while the engine is dropped reaches the sink before `drop` returns"
            }
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
