use std::{collections::BTreeSet, error::Error, fmt};

use super::Check;

/// What a suite found.
#[derive(Clone, Debug, Default)]
#[must_use = "call `assert`, or look at the breaches"]
pub struct Report {
    breaches: Vec<Breach>,
    turns: usize,
}

impl Report {
    pub(super) fn turn(&mut self) {
        self.turns += 1;
    }

    pub(super) fn breach(&mut self, breach: Breach) {
        self.breaches.push(breach);
    }

    /// What is wrong, in the order in which it was found.
    #[must_use]
    pub fn breaches(&self) -> &[Breach] {
        &self.breaches
    }

    /// The checks that did not pass.
    #[must_use]
    pub fn failed(&self) -> BTreeSet<Check> {
        self.breaches.iter().map(|breach| breach.check).collect()
    }

    /// How many turns were driven.
    #[must_use]
    pub const fn turns(&self) -> usize {
        self.turns
    }

    /// Says of which layers this is.
    pub(super) fn named(mut self, name: &str) -> Self {
        for breach in &mut self.breaches {
            breach.scenario = format!("{name}: {}", breach.scenario);
        }
        self
    }

    /// Adds what another suite found.
    pub fn merge(&mut self, other: Self) {
        self.turns += other.turns;
        self.breaches.extend(other.breaches);
    }

    /// Panics if anything is wrong, and says what.
    ///
    /// # Panics
    ///
    /// If a check did not pass.
    #[track_caller]
    pub fn assert(&self) {
        assert!(self.breaches.is_empty(), "{self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.breaches.is_empty() {
            return write!(f, "conforms ({} turns)", self.turns);
        }
        write!(
            f,
            "does not conform ({} breaches in {} turns):",
            self.breaches.len(),
            self.turns
        )?;
        // One cause shows in many states; a page of them says no more than a few.
        const SHOWN: usize = 12;
        for breach in self.breaches.iter().take(SHOWN) {
            write!(f, "\n- {breach}")?;
        }
        if self.breaches.len() > SHOWN {
            write!(f, "\n- and {} more", self.breaches.len() - SHOWN)?;
        }
        Ok(())
    }
}

/// A check that did not pass: which one, in which state, and at which event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    check: Check,
    scenario: String,
    state: String,
    event: Option<usize>,
    details: String,
}

impl Breach {
    pub(super) fn new(
        check: Check,
        scenario: impl Into<String>,
        state: impl Into<String>,
        event: Option<usize>,
        details: impl Into<String>,
    ) -> Self {
        Self {
            check,
            scenario: scenario.into(),
            state: state.into(),
            event,
            details: details.into(),
        }
    }

    /// Which check.
    #[must_use]
    pub const fn check(&self) -> Check {
        self.check
    }

    /// What the agent below was doing as a whole.
    #[must_use]
    pub fn scenario(&self) -> &str {
        &self.scenario
    }

    /// How far the turn was.
    #[must_use]
    pub fn state(&self) -> &str {
        &self.state
    }

    /// At which event of the turn, counted from 0.
    #[must_use]
    pub const fn event(&self) -> Option<usize> {
        self.event
    }

    /// What was seen instead.
    #[must_use]
    pub fn details(&self) -> &str {
        &self.details
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: \"{}\", {}", self.check, self.scenario, self.state)?;
        if let Some(event) = self.event {
            write!(f, ", at event {event}")?;
        }
        write!(f, ": {} – {}", self.details, self.check.promise())
    }
}

impl Error for Breach {}
