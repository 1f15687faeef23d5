use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    pin::Pin,
    task::{Context, Poll, ready},
    thread,
};

use futures_core::Stream;
use pin_project::{pin_project, pinned_drop};

use super::{End, Flow, Outbox, Turn};
use crate::AgentEvent;

/// A stream that a [`Turn`] watches.
///
/// # Cancel safety
///
/// Dropping it drops the stream below, then tells the turn [`End::Cancelled`].
#[pin_project(PinnedDrop)]
#[must_use = "streams do nothing unless polled"]
pub struct TurnStream<St, T: Turn> {
    /// `None` once the turn is cut or over: what is below goes first, whatever the end.
    #[pin]
    below: Option<St>,
    /// `None` once it has been told the end.
    turn: Option<T>,
    outbox: Outbox,
}

impl<St, T: Turn> TurnStream<St, T> {
    /// Watches `events`.
    pub const fn new(events: St, turn: T) -> Self {
        Self {
            below: Some(events),
            turn: Some(turn),
            outbox: Outbox::new(),
        }
    }
}

/// What one poll of what is below came to.
enum Polled {
    /// The plain case: an event that goes on as it is.
    Event(AgentEvent),
    /// The ordinary end. Nothing withholds a terminal event.
    Last(AgentEvent),
    /// The layer withheld an event.
    Withheld,
    /// The layer has put something into the outbox.
    Outbox(Option<AgentEvent>, Flow),
    /// The stream has ended without a terminal event.
    BareEnd,
    Pending,
}

fn poll_below<St: Stream<Item = AgentEvent>, T: Turn>(
    below: Pin<&mut St>,
    turn: &mut T,
    outbox: &mut Outbox,
    cx: &mut Context<'_>,
) -> Polled {
    match turn.around(|| below.poll_next(cx)) {
        Poll::Ready(Some(mut event)) => {
            let flow = turn.on_event(&mut event, outbox);
            if !outbox.is_idle() {
                Polled::Outbox(Some(event), flow)
            } else if event.is_terminal() {
                Polled::Last(event)
            } else if flow == Flow::Forward {
                Polled::Event(event)
            } else {
                Polled::Withheld
            }
        }
        Poll::Ready(None) => Polled::BareEnd,
        Poll::Pending => {
            turn.poll_quiet(cx, outbox);
            if outbox.is_idle() {
                Polled::Pending
            } else {
                Polled::Outbox(None, Flow::Skip)
            }
        }
    }
}

/// How many events in a row a layer may withhold before the stream lets others run.
const WITHHELD_BEFORE_YIELD: usize = 64;

impl<St: Stream<Item = AgentEvent>, T: Turn> Stream for TurnStream<St, T> {
    type Item = AgentEvent;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        let mut this = self.project();
        for _ in 0..WITHHELD_BEFORE_YIELD {
            if !this.outbox.is_idle() {
                if let Some(event) = this.outbox.pop() {
                    return Poll::Ready(Some(event));
                }
                if this.outbox.last().is_some() {
                    ready!(close(this.turn, this.outbox, cx));
                    let last = this.outbox.clear().expect("it is there, see above");
                    end(this.turn, &last);
                    return Poll::Ready(Some(last));
                }
                this.outbox.clear();
            }
            let (Some(below), Some(turn)) = (this.below.as_mut().as_pin_mut(), this.turn.as_mut())
            else {
                return Poll::Ready(None);
            };
            let polled = catch_unwind(AssertUnwindSafe(|| {
                poll_below(below, turn, this.outbox, cx)
            }));
            match polled {
                Ok(Polled::Event(event)) => return Poll::Ready(Some(event)),
                Ok(Polled::Pending) => return Poll::Pending,
                Ok(Polled::Withheld) => {}
                Ok(Polled::Last(mut last)) => {
                    drop_below(this.below.as_mut(), this.turn, this.outbox);
                    let turn = this.turn.as_mut().expect("told the end only below");
                    match catch_unwind(AssertUnwindSafe(|| turn.poll_close(cx, &mut last))) {
                        Ok(Poll::Ready(())) => {
                            end(this.turn, &last);
                            return Poll::Ready(Some(last));
                        }
                        Ok(Poll::Pending) => {
                            this.outbox.file(Some(last), Flow::Forward);
                            return Poll::Pending;
                        }
                        Err(panic) => {
                            tell(this.turn, End::Panicked);
                            resume_unwind(panic);
                        }
                    }
                }
                Ok(Polled::Outbox(event, flow)) => {
                    if this.outbox.file(event, flow) {
                        drop_below(this.below.as_mut(), this.turn, this.outbox);
                    }
                }
                Ok(Polled::BareEnd) => {
                    drop_below(this.below.as_mut(), this.turn, this.outbox);
                    tell(this.turn, End::Truncated);
                    return Poll::Ready(None);
                }
                Err(panic) => {
                    this.outbox.clear();
                    // A second panic, while what is below is dropped, says nothing new.
                    let _ = drop_quietly(this.below.as_mut(), this.turn);
                    tell(this.turn, End::Panicked);
                    resume_unwind(panic);
                }
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Runs the epilogue of a terminal event that waits in the outbox.
fn close<T: Turn>(turn: &mut Option<T>, outbox: &mut Outbox, cx: &mut Context<'_>) -> Poll<()> {
    let (Some(watching), Some(last)) = (turn.as_mut(), outbox.last()) else {
        return Poll::Ready(());
    };
    match catch_unwind(AssertUnwindSafe(|| watching.poll_close(cx, last))) {
        Ok(poll) => poll,
        Err(panic) => {
            outbox.clear();
            tell(turn, End::Panicked);
            resume_unwind(panic);
        }
    }
}

fn end<T: Turn>(turn: &mut Option<T>, last: &AgentEvent) {
    tell(
        turn,
        match last {
            AgentEvent::Failed(failure) => End::Failed(failure),
            _ => End::Completed,
        },
    );
}

/// Tells the end once.
fn tell<T: Turn>(turn: &mut Option<T>, end: End<'_>) {
    if let Some(turn) = turn.take() {
        turn.on_end(end);
    }
}

fn drop_quietly<St, T: Turn>(
    mut below: Pin<&mut Option<St>>,
    turn: &mut Option<T>,
) -> thread::Result<()> {
    catch_unwind(AssertUnwindSafe(|| match turn {
        Some(turn) => turn.around(|| below.set(None)),
        None => below.set(None),
    }))
}

fn drop_below<St, T: Turn>(below: Pin<&mut Option<St>>, turn: &mut Option<T>, outbox: &mut Outbox) {
    if let Err(panic) = drop_quietly(below, turn) {
        // Nothing follows a panic, not even what was about to leave.
        outbox.clear();
        tell(turn, End::Panicked);
        resume_unwind(panic);
    }
}

#[pinned_drop]
impl<St, T: Turn> PinnedDrop for TurnStream<St, T> {
    fn drop(self: Pin<&mut Self>) {
        let this = self.project();
        if this.turn.is_none() {
            return;
        }
        let dropped = drop_quietly(this.below, this.turn);
        tell(
            this.turn,
            if dropped.is_ok() {
                End::Cancelled
            } else {
                End::Panicked
            },
        );
        if let Err(panic) = dropped
            && !thread::panicking()
        {
            resume_unwind(panic);
        }
    }
}

impl<St, T: Turn> fmt::Debug for TurnStream<St, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnStream")
            .field("over", &self.turn.is_none())
            .field("outbox", &self.outbox)
            .finish_non_exhaustive()
    }
}
