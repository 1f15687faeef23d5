use std::{fmt, pin::Pin, task::Context, time::Duration};

use portcullis::{AgentEvent, Failure, FailureCode, Flow, Outbox, Scope, Turn};
use tokio::time::{Instant, Sleep, sleep_until};

use super::Clocks;

/// The clocks of one turn.
pub struct TimeoutTurn {
    meaningful: fn(&AgentEvent) -> bool,
    /// How long the silence of now may last: the first event's clock, then the idle one.
    quiet: Option<Duration>,
    idle: Option<Duration>,
    /// When the silence of now is over. Set while somebody waits.
    quiet_until: Option<Instant>,
    /// When the turn is over.
    until: Option<Until>,
    first_has_come: bool,
    /// Events until the clock is looked at although nobody waits.
    look_in: u8,
    /// One box a turn, made when somebody waits for the first time.
    sleep: Option<Pin<Box<Sleep>>>,
}

#[derive(Clone, Copy, Debug)]
struct Until {
    at: Instant,
    why: Why,
}

#[derive(Clone, Copy, Debug)]
enum Why {
    Total(Duration),
    Deadline,
}

/// An agent that is always ready is looked at after so many events: a look costs more
/// than all the rest.
const LOOK_EVERY: u8 = 64;

impl TimeoutTurn {
    pub(super) fn new(
        clocks: Clocks,
        meaningful: fn(&AgentEvent) -> bool,
        scope: &mut Scope,
    ) -> Self {
        let now = Instant::now();
        let total = clocks.total.and_then(|total| {
            let at = now.checked_add(total)?;
            let why = Why::Total(total);
            Some(Until { at, why })
        });
        let deadline = scope.deadline().filter(|_| clocks.deadline).map(|at| {
            let (at, why) = (Instant::from_std(at), Why::Deadline);
            Until { at, why }
        });
        let until = match (total, deadline) {
            (Some(total), Some(deadline)) if total.at < deadline.at => Some(total),
            (total, deadline) => deadline.or(total),
        };
        if let Some(Until {
            at,
            why: Why::Total(_),
        }) = until
        {
            // What is below may wish to know: a retry does not begin what cannot end.
            scope.set_deadline(Some(at.into_std()));
        }
        let over_already = until.is_some_and(|until| until.at <= now);
        Self {
            meaningful,
            quiet: clocks.first_event.or(clocks.idle),
            idle: clocks.idle,
            quiet_until: None,
            until,
            first_has_come: false,
            look_in: if over_already { 1 } else { LOOK_EVERY },
            sleep: None,
        }
    }

    /// The failure, if a clock has run out.
    fn run_out(&self, now: Instant) -> Option<Failure> {
        let details = match (self.until, self.quiet_until, self.quiet) {
            (Some(Until { at, why }), _, _) if at <= now => match why {
                Why::Total(total) => format!("the turn took longer than {total:?}"),
                Why::Deadline => "the deadline has passed".to_owned(),
            },
            (_, Some(at), Some(quiet)) if at <= now => {
                if self.first_has_come {
                    format!("nothing came for {quiet:?}")
                } else {
                    format!("no event came within {quiet:?}")
                }
            }
            _ => return None,
        };
        Some(Failure::with_code(FailureCode::TIMEOUT, details).retryable(true))
    }
}

impl Turn for TimeoutTurn {
    fn on_event(&mut self, event: &mut AgentEvent, out: &mut Outbox) -> Flow {
        if (self.meaningful)(event) {
            self.quiet_until = None;
            if !self.first_has_come {
                self.first_has_come = true;
                self.quiet = self.idle;
            }
        }
        self.look_in -= 1;
        if self.look_in == 0 {
            self.look_in = LOOK_EVERY;
            if let Some(failure) = self.run_out(Instant::now()) {
                // Event first: it was there before the clock was looked at.
                out.fail(failure);
            }
        }
        Flow::Forward
    }

    fn poll_quiet(&mut self, cx: &mut Context<'_>, out: &mut Outbox) {
        if let (None, Some(quiet)) = (self.quiet_until, self.quiet) {
            // A time out of reach is no clock.
            self.quiet_until = Instant::now().checked_add(quiet);
        }
        let turn = self.until.map(|until| until.at);
        let Some(next) = [turn, self.quiet_until].into_iter().flatten().min() else {
            return;
        };
        let sleep = self
            .sleep
            .get_or_insert_with(|| Box::pin(sleep_until(next)));
        // One that rings too early is left alone, and set anew when it has rung: events
        // then cost nothing.
        if sleep.deadline() > next {
            sleep.as_mut().reset(next);
        }
        while sleep.as_mut().poll(cx).is_ready() {
            if sleep.deadline() < next {
                sleep.as_mut().reset(next);
                continue;
            }
            let failure = self.run_out(next);
            out.fail(failure.expect("one of the clocks is the next"));
            return;
        }
    }
}

impl fmt::Debug for TimeoutTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimeoutTurn")
            .field("until", &self.until)
            .field("quiet_until", &self.quiet_until)
            .finish_non_exhaustive()
    }
}
