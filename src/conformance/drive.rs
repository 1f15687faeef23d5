//! Drives a turn by hand: one poll at a time, on virtual time.

use std::{
    fmt,
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::{Pin, pin},
    task::Poll,
    time::Duration,
};

use futures_core::Stream;

use crate::{AgentEvent, Panicked};

/// What one poll came to.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Polled {
    Event(AgentEvent),
    End,
    Pending,
    Panicked(String),
}

/// Polls once, with the waker of the task.
pub(super) async fn poll_once<St>(mut events: Pin<&mut St>) -> Polled
where
    St: Stream<Item = AgentEvent> + ?Sized,
{
    poll_fn(|cx| {
        let polled = catch_unwind(AssertUnwindSafe(|| events.as_mut().poll_next(cx)));
        Poll::Ready(match polled {
            Ok(Poll::Ready(Some(event))) => Polled::Event(event),
            Ok(Poll::Ready(None)) => Polled::End,
            Ok(Poll::Pending) => Polled::Pending,
            Err(panic) => Polled::Panicked(Panicked::new(&*panic).to_string()),
        })
    })
    .await
}

/// Longer than any clock of a layer that somebody would test.
const FOR_EVER: Duration = Duration::from_secs(60 * 60 * 24 * 400);

/// Waits until the task is woken. `false` if that never happens.
pub(super) async fn woken() -> bool {
    let mut polled = false;
    let mut never = pin!(tokio::time::sleep(FOR_EVER));
    poll_fn(|cx| {
        if never.as_mut().poll(cx).is_ready() {
            return Poll::Ready(false);
        }
        if std::mem::replace(&mut polled, true) {
            return Poll::Ready(true);
        }
        Poll::Pending
    })
    .await
}

/// How far a turn is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// It was never polled.
    NotPolled,
    /// The last poll was pending.
    Pending,
    /// The last poll gave this event, counted from 0.
    Event(usize),
    /// The terminal event has come, as this event.
    Terminal(usize),
    /// The stream has ended.
    End,
    /// It panicked.
    Panicked,
    /// It is pending, and nothing will ever wake it.
    Stuck,
}

impl Place {
    /// Whether nothing more can come.
    #[must_use]
    pub const fn is_over(self) -> bool {
        matches!(
            self,
            Self::Terminal(_) | Self::End | Self::Panicked | Self::Stuck
        )
    }

    /// The event, where there is one.
    #[must_use]
    pub const fn event(self) -> Option<usize> {
        match self {
            Self::Event(event) | Self::Terminal(event) => Some(event),
            _ => None,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotPolled => "not polled yet",
            Self::Pending => "pending",
            Self::Event(_) => "after an event",
            Self::Terminal(_) => "after the terminal event",
            Self::End => "after the end",
            Self::Panicked => "after a panic",
            Self::Stuck => "never woken",
        })
    }
}

/// A turn under way.
pub(super) struct Driven<'a> {
    turn: Pin<Box<dyn Stream<Item = AgentEvent> + 'a>>,
    pub(super) place: Place,
    pub(super) events: Vec<AgentEvent>,
    pub(super) panic: Option<String>,
}

impl<'a> Driven<'a> {
    pub(super) fn new(turn: impl Stream<Item = AgentEvent> + 'a) -> Self {
        Self {
            turn: Box::pin(turn),
            place: Place::NotPolled,
            events: Vec::new(),
            panic: None,
        }
    }

    /// Polls once; waits before that if the last poll was pending.
    pub(super) async fn step(&mut self) -> Place {
        if self.place.is_over() {
            return self.place;
        }
        if self.place == Place::Pending && !woken().await {
            self.place = Place::Stuck;
            return self.place;
        }
        self.poll().await
    }

    /// Polls once, whether or not somebody woke the task.
    pub(super) async fn poll(&mut self) -> Place {
        self.place = match poll_once(self.turn.as_mut()).await {
            Polled::Pending => Place::Pending,
            Polled::End => Place::End,
            Polled::Panicked(message) => {
                self.panic = Some(message);
                Place::Panicked
            }
            Polled::Event(event) => {
                let place = self.events.len();
                let terminal = event.is_terminal();
                self.events.push(event);
                if terminal {
                    Place::Terminal(place)
                } else {
                    Place::Event(place)
                }
            }
        };
        self.place
    }

    pub(super) async fn run_to_end(&mut self) -> Place {
        while !self.step().await.is_over() {}
        self.place
    }

    /// What a reader that goes on after the terminal event would get.
    pub(super) async fn after_the_end(&mut self) -> Polled {
        poll_once(self.turn.as_mut()).await
    }

    /// Drops the turn. `Some` if that panics.
    pub(super) fn drop_turn(self) -> Option<String> {
        let turn = self.turn;
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(turn)));
        dropped
            .err()
            .map(|panic| Panicked::new(&*panic).to_string())
    }
}

/// Starts turns and drops them, one after each poll: after every event and at every
/// `Pending`, before the first poll and after the terminal event. Between polls that are
/// pending it waits to be woken.
///
/// `check` is called after each drop, with where the turn was and what it had said.
/// Returns how many turns there were.
///
/// ```
/// use portcullis::{AgentExt, Prompt, Scope, conformance::{ProbeAgent, drop_at_every_poll}};
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let agent = ProbeAgent::new().pending(1).text("a").completed();
/// let log = agent.log();
/// let turns = drop_at_every_poll(
///     || agent.invoke(Scope::new("s"), Prompt::text("p")),
///     |place, _said| assert_eq!(log.live_runs(), 0, "{place}"),
/// )
/// .await;
/// assert_eq!(turns, 4);
/// # }
/// ```
///
/// # Panics
///
/// Where dropping a turn panics.
pub async fn drop_at_every_poll<St>(
    mut start: impl FnMut() -> St,
    mut check: impl FnMut(Place, &[AgentEvent]),
) -> usize
where
    St: Stream<Item = AgentEvent>,
{
    for polls in 0.. {
        let mut turn = Driven::new(start());
        for _ in 0..polls {
            turn.step().await;
        }
        let (place, said) = (turn.place, std::mem::take(&mut turn.events));
        if let Some(panic) = turn.drop_turn() {
            panic!("dropping the turn {place}: {panic}");
        }
        check(place, &said);
        if place.is_over() {
            return polls + 1;
        }
    }
    unreachable!("a turn is over some time")
}
