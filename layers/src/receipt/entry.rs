use std::time::{Duration, SystemTime};

use portcullis::{Cost, FailureCode, Principal, TraceContext, Usage, UsageTally};

use super::{Outcome, measure::last};

/// What became of one turn. It holds no content.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Receipt {
    /// The session.
    pub session: String,
    /// Who asked, if somebody established that outside of the layer.
    pub principal: Option<Principal>,
    /// On whose behalf.
    pub tenant: Option<String>,
    /// Where the turn came from.
    pub source: Option<String>,
    /// The trace that the turn belongs to, if there is one.
    pub trace: Option<TraceContext>,
    /// When it began, by the clock on the wall.
    pub started: SystemTime,
    /// How long it took, waiting included.
    pub duration: Duration,
    /// When the first event came, from the beginning.
    pub first_event: Option<Duration>,
    /// When the first `text` or `thinking` came, from the beginning.
    pub first_token: Option<Duration>,
    /// How many events there were, the terminal one included.
    pub events: u64,
    /// How many tools were started.
    pub tools: u64,
    /// What each model call consumed.
    pub usage: UsageTally,
    /// How often a layer below invoked the agent; zero if none of them invokes again.
    pub attempts: u32,
    /// Why attempts were given up, in their order: the codes, where the failures had any.
    pub given_up: Vec<Option<FailureCode>>,
    /// How it ended.
    pub outcome: Outcome,
}

impl Receipt {
    /// The model of the last call that names one.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        last(&self.usage, Usage::model)
    }

    /// What the calls cost that say so, one sum for each currency. Empty means unpriced.
    #[must_use]
    pub fn costs(&self) -> Vec<Cost> {
        self.usage.costs()
    }
}
