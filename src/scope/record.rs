use std::sync::{Arc, Mutex, PoisonError};

use crate::event::{Failure, Usage, UsageTally};

/// What the layers of one turn share. Clones write to the same record.
#[derive(Clone, Debug, Default)]
pub struct TurnRecord(Arc<Mutex<TurnSummary>>);

/// What is known of a turn so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TurnSummary {
    /// How often a layer invoked the agent below it, where a layer does that.
    pub attempts: u32,
    /// Why attempts were given up, in their order; see [`TurnRecord::give_up`].
    pub given_up: Vec<Failure>,
    /// What the calls consumed.
    pub usage: UsageTally,
}

/// How many reasons a record keeps.
const REASONS: usize = 16;

impl TurnRecord {
    /// An empty record.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads or writes the record.
    pub fn with<R>(&self, f: impl FnOnce(&mut TurnSummary) -> R) -> R {
        // A panic of somebody's closure leaves plain counters behind, still fit to read.
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds to the usage.
    pub fn add_usage(&self, usage: &Usage) {
        self.with(|turn| turn.usage.record(usage));
    }

    /// Keeps why an attempt was given up and another one begins. Of more than sixteen, the
    /// first fifteen and the last are kept.
    pub fn give_up(&self, failure: Failure) {
        let replaced = self.with(|turn| {
            let full = turn.given_up.len() >= REASONS;
            let replaced = if full { turn.given_up.pop() } else { None };
            turn.given_up.push(failure);
            replaced
        });
        // Its source is somebody's: not dropped under the lock.
        drop(replaced);
    }

    /// The record as it stands.
    #[must_use]
    pub fn summary(&self) -> TurnSummary {
        self.with(|turn| turn.clone())
    }
}
