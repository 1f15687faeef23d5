use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use portcullis::{AgentEvent, FailureCode, Scope, TurnRecord, Usage, UsageSink, UsageTally};
use tokio::time::Instant;

/// What is counted of a turn while it runs.
#[derive(Debug)]
pub(crate) struct Measure {
    started: Instant,
    first_event: Option<Duration>,
    first_token: Option<Duration>,
    events: u64,
    tools: u64,
    usage: Arc<Mutex<UsageTally>>,
    record: TurnRecord,
}

/// What was counted.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) duration: Duration,
    pub(crate) first_event: Option<Duration>,
    pub(crate) first_token: Option<Duration>,
    pub(crate) events: u64,
    pub(crate) tools: u64,
    pub(crate) usage: UsageTally,
    pub(crate) attempts: u32,
    pub(crate) given_up: Vec<Option<FailureCode>>,
}

impl Measure {
    /// From now on. Usage that the engine reports outside of the stream is counted too.
    pub(crate) fn begin(scope: &mut Scope) -> Self {
        let usage = Arc::<Mutex<UsageTally>>::default();
        let late = Arc::clone(&usage);
        scope.add_usage_sink(UsageSink::new(move |usage| lock(&late).record(usage)));
        Self {
            started: Instant::now(),
            first_event: None,
            first_token: None,
            events: 0,
            tools: 0,
            usage,
            record: scope.record().clone(),
        }
    }

    /// Counts an event.
    #[inline]
    pub(crate) fn see(&mut self, event: &AgentEvent) {
        self.events += 1;
        if self.first_event.is_none() {
            self.first_event = Some(self.started.elapsed());
        }
        match event {
            AgentEvent::Text(_) | AgentEvent::Thinking(_) if self.first_token.is_none() => {
                self.first_token = Some(self.started.elapsed());
            }
            AgentEvent::ToolStarted(_) => self.tools += 1,
            AgentEvent::Usage(usage) => self.add(usage),
            _ => {}
        }
    }

    #[cold]
    fn add(&self, usage: &Usage) {
        lock(&self.usage).record(usage);
    }

    /// At the end, when below is gone: whatever an engine reports while it is dropped has come.
    pub(crate) fn finish(self) -> Measured {
        let (attempts, given_up) = self.record.with(|turn| {
            let codes = turn.given_up.iter().map(|why| why.code().cloned());
            (turn.attempts, codes.collect())
        });
        Measured {
            duration: self.started.elapsed(),
            first_event: self.first_event,
            first_token: self.first_token,
            events: self.events,
            tools: self.tools,
            usage: mem::take(&mut *lock(&self.usage)),
            attempts,
            given_up,
        }
    }
}

/// What the last record says that says it.
pub(crate) fn last(usage: &UsageTally, name: fn(&Usage) -> Option<&str>) -> Option<&str> {
    usage.records().iter().rev().find_map(name)
}

fn lock(usage: &Mutex<UsageTally>) -> MutexGuard<'_, UsageTally> {
    usage.lock().unwrap_or_else(PoisonError::into_inner)
}
