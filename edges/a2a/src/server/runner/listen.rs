use std::{
    future::{pending, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    task::{Context, Poll},
};

use portcullis::Panicked;
use tokio::time::{Instant, sleep_until};

use super::{Control, run::Run};
use crate::server::emission::{Emission, Kind};

/// What the turn met.
#[expect(
    clippy::large_enum_variant,
    reason = "one lives at a time, and most are emissions"
)]
pub(super) enum Event {
    Emitted(Kind),
    Ended,
    Panicked(Panicked),
    Asked(Control),
    /// A later turn of this task runs.
    Superseded,
    Silent,
}

/// What a run waits for.
impl Run {
    /// What the turn has to say at once, if anything.
    pub(super) async fn poll_once(&mut self) -> Option<Event> {
        poll_fn(|cx| {
            Poll::Ready(match self.poll_emission(cx) {
                Poll::Ready(event) => Some(event),
                Poll::Pending => None,
            })
        })
        .await
    }

    /// What comes next: an order, an event, or the end of a patience.
    pub(super) async fn next(&mut self) -> Event {
        let deadline = self.deadline();
        let mut alarm = pin!(async move {
            match deadline {
                Some(deadline) => sleep_until(deadline).await,
                None => pending().await,
            }
        });
        poll_fn(|cx| {
            if self.lingers_until.is_none() {
                match self.commands.poll_recv(cx) {
                    Poll::Ready(Some(control)) => return Poll::Ready(Event::Asked(control)),
                    Poll::Ready(None) => return Poll::Ready(Event::Superseded),
                    Poll::Pending => {}
                }
            }
            if let Poll::Ready(event) = self.poll_emission(cx) {
                return Poll::Ready(event);
            }
            alarm.as_mut().poll(cx).map(|()| Event::Silent)
        })
        .await
    }

    /// When the silence of the turn has lasted too long (O-L18).
    fn deadline(&self) -> Option<Instant> {
        // What an earlier turn has asked says nothing of this one.
        let waits = self.signs.asks();
        let silent = self.core.limits.inactivity.filter(|_| !waits);
        self.lingers_until
            .or_else(|| silent.map(|silent| self.last_event + silent))
    }

    fn poll_emission(&mut self, cx: &mut Context<'_>) -> Poll<Event> {
        let Some(emissions) = &mut self.emissions else {
            return Poll::Pending;
        };
        // A panic of the executor is its own: the task fails, nothing else (O-J08).
        match catch_unwind(AssertUnwindSafe(|| emissions.as_mut().poll_next(cx))) {
            Ok(Poll::Ready(Some(Emission(kind)))) => Poll::Ready(Event::Emitted(kind)),
            Ok(Poll::Ready(None)) => {
                self.drop_turn();
                Poll::Ready(Event::Ended)
            }
            Ok(Poll::Pending) => Poll::Pending,
            Err(panic) => {
                self.drop_turn();
                Poll::Ready(Event::Panicked(Panicked::new(&*panic)))
            }
        }
    }

    pub(super) fn drop_turn(&mut self) {
        let emissions = self.emissions.take();
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(emissions))) {
            let panicked = Panicked::new(&*panic);
            tracing::error!(task = self.key.id(), %panicked, "a turn panicked while it was dropped");
        }
        self.seat = None;
    }
}
