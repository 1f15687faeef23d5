use std::fmt;

macro_rules! checks {
    ($($(#[$doc:meta])* $check:ident = $name:literal: $promise:literal;)*) => {
        /// What a suite checks. Each has a broken agent, consumer or layer in the tests of
        /// this crate that is caught by it and by no other.
        #[expect(
            clippy::exhaustive_enums,
            reason = "a new check has to break the tests until it has a mutant"
        )]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Check {
            $($(#[$doc])* $check,)*
        }

        impl Check {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$check,)*];

            /// The stable name.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$check => $name,)*
                }
            }

            /// What is asked for, in one sentence.
            #[must_use]
            pub const fn promise(self) -> &'static str {
                match self {
                    $(Self::$check => $promise,)*
                }
            }
        }
    };
}

checks! {
    /// MUST 1: the stream ends with a terminal event.
    EndsWithTerminal = "ends-with-terminal":
        "a stream that is read to its end ends with `completed` or `failed` (MUST 1)";
    /// MUST 1: no event follows the terminal one.
    NothingAfterTerminal = "nothing-after-terminal":
        "nothing follows the terminal event, and the stream ends (MUST 1)";
    /// MUST 2: a failure is a `failed` event, not a panic.
    NoPanic = "no-panic":
        "a failure is a `failed` event: neither call nor stream nor drop panics (MUST 2)";
    /// MUST 3: dropping the turn stops the work.
    DropStops = "drop-stops":
        "dropping the turn stops its work (MUST 3)";
    /// MUST 4: a consumer ignores events that it does not know.
    IgnoresUnknown = "ignores-unknown":
        "a consumer ignores events that it does not know (MUST 4)";
    /// A consumer takes no reasoning for the answer.
    KeepsThinkingApart = "keeps-thinking-apart":
        "reasoning is no part of the answer";
    /// MUST 5: unknown events pass unchanged and in order.
    PassesUnknown = "passes-unknown":
        "unknown events pass unchanged and in order (MUST 5)";
    /// MUST 6: any process can serve any turn of a session.
    Portable = "portable":
        "turns of one session may run in different processes (MUST 6)";
    /// Known events pass unchanged.
    KeepsKnown = "keeps-known":
        "known events pass unchanged, unless the layer declares `edits_events`";
    /// Unknown and known events keep their order among each other.
    KeepsOrder = "keeps-order":
        "events keep their order, unless the layer declares `edits_events`";
    /// A layer adds no events of its own, unless it says so.
    InsertsNothing = "inserts-nothing":
        "a layer adds no events, unless it declares `inserts_events`";
    /// A layer ends no turn by itself, unless it says so.
    EndsNoTurns = "ends-no-turns":
        "a layer ends no turn by an event of its own, unless it declares `ends_turns`";
    /// Dropping the turn drops what is below, before `drop` returns.
    DropReaches = "drop-reaches":
        "everything below is gone when `drop` returns";
    /// What is below is gone when the terminal event leaves.
    FreeAtTerminal = "free-at-terminal":
        "what is below is dropped before the terminal event leaves";
    /// However turns ended, later ones find the layer as they would a new one.
    ReturnsPermits = "returns-permits":
        "whatever ends a turn, what it held is given back";
    /// A turn that waits keeps nothing ready below.
    ReservesNothing = "reserves-nothing":
        "a turn that waits keeps nothing ready below: admit first, then readiness and call on a clone";
    /// The agent below is called only when it is ready.
    CallsWhenReady = "calls-when-ready":
        "`call` follows a `poll_ready` that was `Ready`, on the same service";
    /// The agent below does not go on before the caller has taken what it said.
    NothingAhead = "nothing-ahead":
        "the agent below goes on only when the caller, who has the last event, polls again";
    /// A panic below goes on, or becomes a `failed` event: it is not swallowed.
    HearsPanics = "hears-panics":
        "a panic below goes on upwards or becomes `failed`";
    /// A turn that is pending will be woken.
    Wakes = "wakes":
        "a turn that is pending registers its waker with what it waits for";
    /// Session, prompt and the typed map reach the agent below.
    PassesRequest = "passes-request":
        "session, prompt, and the typed map reach the agent below, unless the layer declares `edits_requests`";
    /// What the engine reports while it is dropped reaches the sink of the caller.
    PassesSink = "passes-sink":
        "usage that is reported while the engine is dropped reaches the sink before `drop` returns";
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
