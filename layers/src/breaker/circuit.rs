use std::time::Duration;

use tokio::time::Instant;

use super::{Change, Outcome, Settings, State, window::Window};

/// The state machine of one key. Pure: whoever calls it says what time it is.
#[derive(Debug, Default)]
pub(super) struct Circuit {
    stage: Stage,
    /// Grows with every change: what was admitted before it says nothing about now.
    epoch: u64,
    next_probe: u64,
}

#[derive(Debug)]
enum Stage {
    Closed(Window),
    Open {
        until: Instant,
    },
    HalfOpen {
        /// Those that run and are not overdue, by number; the first is the oldest.
        probes: Vec<(u64, Instant)>,
        succeeded: usize,
    },
}

impl Default for Stage {
    fn default() -> Self {
        Self::Closed(Window::default())
    }
}

/// A turn that was let through.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pass {
    epoch: u64,
    probe: Option<u64>,
}

impl Circuit {
    /// Lets a turn through, or says for how long none will be.
    pub(super) fn admit(
        &mut self,
        now: Instant,
        settings: &Settings,
    ) -> (Result<Pass, Duration>, Option<Change>) {
        let mut change = None;
        if let Stage::Open { until } = self.stage
            && until <= now
        {
            self.turn_to(Stage::HalfOpen {
                probes: Vec::new(),
                succeeded: 0,
            });
            change = Some(Change::Probing);
        }
        let epoch = self.epoch;
        let decision = match &mut self.stage {
            Stage::Closed(_) => Ok(Pass { epoch, probe: None }),
            Stage::Open { until } => Err(until.saturating_duration_since(now)),
            Stage::HalfOpen { probes, .. } => {
                let overdue = |since: Instant| since + settings.probe_time <= now;
                probes.retain(|(_, since)| !overdue(*since));
                match probes.first() {
                    Some((_, oldest)) if probes.len() >= settings.probes => {
                        Err((*oldest + settings.probe_time).saturating_duration_since(now))
                    }
                    _ => {
                        let number = self.next_probe;
                        self.next_probe += 1;
                        probes.push((number, now));
                        Ok(Pass {
                            epoch,
                            probe: Some(number),
                        })
                    }
                }
            }
        };
        (decision, change)
    }

    /// A turn that was let through is over.
    pub(super) fn settle(
        &mut self,
        pass: Pass,
        outcome: Outcome,
        now: Instant,
        settings: &Settings,
    ) -> Option<Change> {
        if pass.epoch != self.epoch {
            return None;
        }
        match &mut self.stage {
            // Nobody is let through then.
            Stage::Open { .. } => None,
            Stage::Closed(window) => {
                if outcome == Outcome::Neutral {
                    return None;
                }
                window.add(now, outcome == Outcome::Failure, settings);
                window.is_bad(settings).then(|| self.open(now, settings))
            }
            Stage::HalfOpen { probes, succeeded } => {
                probes.retain(|(number, _)| Some(*number) != pass.probe);
                match outcome {
                    Outcome::Neutral => None,
                    Outcome::Failure => Some(self.open(now, settings)),
                    Outcome::Success => {
                        *succeeded += 1;
                        (*succeeded >= settings.probes).then(|| {
                            self.turn_to(Stage::default());
                            Change::Closed
                        })
                    }
                }
            }
        }
    }

    fn open(&mut self, now: Instant, settings: &Settings) -> Change {
        self.turn_to(Stage::Open {
            until: now + settings.open_for,
        });
        Change::Opened(settings.open_for)
    }

    fn turn_to(&mut self, stage: Stage) {
        self.stage = stage;
        self.epoch += 1;
    }

    pub(super) fn state(&self, now: Instant) -> State {
        match self.stage {
            Stage::Closed(_) => State::Closed,
            Stage::Open { until } if until > now => State::Open {
                remaining: until - now,
            },
            Stage::Open { .. } | Stage::HalfOpen { .. } => State::HalfOpen,
        }
    }

    /// Whether it says no more than a new one would.
    pub(super) fn is_blank(&mut self, now: Instant, settings: &Settings) -> bool {
        match &mut self.stage {
            Stage::Closed(window) => {
                window.forget(now, settings);
                window.is_empty()
            }
            Stage::Open { .. } | Stage::HalfOpen { .. } => false,
        }
    }
}
