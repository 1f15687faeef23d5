use std::time::Duration;

use crate::{AgentEvent, Usage};

/// What a probe does, from readiness on.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// So many polls pending; `None` for ever.
    pub(super) ready_after: Option<u32>,
    pub(super) ready_panics: bool,
    pub(super) call_panics: bool,
    pub(super) future_pending: u32,
    pub(super) future_panics: bool,
    pub(super) drop_panics: bool,
    /// One for each run of a turn; the last one repeats.
    pub(super) runs: Vec<Vec<Step>>,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            ready_after: Some(0),
            ready_panics: false,
            call_panics: false,
            future_pending: 0,
            future_panics: false,
            drop_panics: false,
            runs: vec![Vec::new()],
        }
    }
}

/// One step of a stream.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Emit(AgentEvent),
    /// Is pending so many polls, and wakes each time.
    Pending(u32),
    Sleep(Duration),
    /// Is pending, and never wakes.
    Hang,
    PaidCall,
    /// From here on, a drop reports this.
    ReportOnDrop(Box<Usage>),
    Panic,
}
