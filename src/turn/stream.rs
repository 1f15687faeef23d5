use std::{
    fmt, mem,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    pin::Pin,
    task::{Context, Poll},
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

/// How many events in a row a layer may withhold before the stream lets others run.
const WITHHELD_BEFORE_YIELD: usize = 64;

impl<St: Stream<Item = AgentEvent>, T: Turn> Stream for TurnStream<St, T> {
    type Item = AgentEvent;

    #[inline]
    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        let this = self.project();
        let mut watching = Watching {
            below: this.below,
            turn: this.turn,
            outbox: this.outbox,
        };
        for _ in 0..WITHHELD_BEFORE_YIELD {
            if !watching.outbox.is_idle()
                && let Some(poll) = watching.empty_outbox(cx)
            {
                return poll;
            }
            // The plain case touches the event where it is and moves it once.
            let (polled, flow) = watching.poll_below(cx);
            let is_plain = watching.outbox.is_idle()
                && match &polled {
                    Poll::Ready(Some(event)) => flow == Flow::Forward && !event.is_terminal(),
                    Poll::Ready(None) => watching.turn.is_none(),
                    Poll::Pending => true,
                };
            if is_plain {
                return polled;
            }
            if let Some(poll) = watching.judge(polled, flow, cx) {
                return poll;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

/// A turn that is polled.
struct Watching<'a, St, T: Turn> {
    below: Pin<&'a mut Option<St>>,
    turn: &'a mut Option<T>,
    outbox: &'a mut Outbox,
}

impl<St: Stream<Item = AgentEvent>, T: Turn> Watching<'_, St, T> {
    /// Polls what is below and lets the turn look at what came.
    #[inline]
    fn poll_below(&mut self, cx: &mut Context<'_>) -> (Poll<Option<AgentEvent>>, Flow) {
        // Tells the end while a panic unwinds: a guard costs nothing where there is none.
        let mut watched = EndOnPanic(Watching {
            below: self.below.as_mut(),
            turn: self.turn,
            outbox: self.outbox,
        });
        let Watching {
            below,
            turn,
            outbox,
        } = &mut watched.0;
        let (Some(below), Some(turn)) = (below.as_mut().as_pin_mut(), turn.as_mut()) else {
            mem::forget(watched);
            return (Poll::Ready(None), Flow::Forward);
        };
        let mut polled = turn.around(|| below.poll_next(cx));
        let flow = match &mut polled {
            Poll::Ready(Some(event)) => turn.on_event(event, outbox),
            Poll::Ready(None) => Flow::Forward,
            Poll::Pending => {
                turn.poll_quiet(cx, outbox);
                Flow::Forward
            }
        };
        mem::forget(watched);
        (polled, flow)
    }

    /// Lets leave what the layer added. `None` if there is nothing more.
    #[cold]
    fn empty_outbox(&mut self, cx: &mut Context<'_>) -> Option<Poll<Option<AgentEvent>>> {
        if let Some(event) = self.outbox.pop() {
            return Some(Poll::Ready(Some(event)));
        }
        if self.outbox.last().is_none() {
            self.outbox.clear();
            return None;
        }
        if close(self.turn, self.outbox, cx).is_pending() {
            return Some(Poll::Pending);
        }
        let last = self.outbox.clear().expect("it is there, see above");
        end(self.turn, &last);
        Some(Poll::Ready(Some(last)))
    }

    /// Whatever is not plain: an end, a cut, an addition, an event that is withheld.
    /// `None` if there is something to do before anything can leave.
    #[cold]
    fn judge(
        &mut self,
        polled: Poll<Option<AgentEvent>>,
        flow: Flow,
        cx: &mut Context<'_>,
    ) -> Option<Poll<Option<AgentEvent>>> {
        match polled {
            Poll::Ready(None) => {
                self.drop_below();
                tell(self.turn, End::Truncated);
                Some(Poll::Ready(None))
            }
            Poll::Ready(Some(last)) if self.outbox.is_idle() && last.is_terminal() => {
                self.finish(last, cx)
            }
            Poll::Ready(Some(_)) if self.outbox.is_idle() => None,
            polled => {
                let event = match polled {
                    Poll::Ready(event) => event,
                    Poll::Pending => None,
                };
                if self.outbox.file(event, flow) {
                    self.drop_below();
                }
                None
            }
        }
    }

    /// The ordinary end. Nothing withholds a terminal event.
    fn finish(
        &mut self,
        mut last: AgentEvent,
        cx: &mut Context<'_>,
    ) -> Option<Poll<Option<AgentEvent>>> {
        self.drop_below();
        let turn = self.turn.as_mut().expect("told the end only below");
        match catch_unwind(AssertUnwindSafe(|| turn.poll_close(cx, &mut last))) {
            Ok(Poll::Ready(())) => {
                end(self.turn, &last);
                Some(Poll::Ready(Some(last)))
            }
            Ok(Poll::Pending) => {
                self.outbox.file(Some(last), Flow::Forward);
                Some(Poll::Pending)
            }
            Err(panic) => {
                tell(self.turn, End::Panicked);
                resume_unwind(panic);
            }
        }
    }

    fn drop_below(&mut self) {
        if let Err(panic) = drop_quietly(self.below.as_mut(), self.turn) {
            // Nothing follows a panic, not even what was about to leave.
            self.outbox.clear();
            tell(self.turn, End::Panicked);
            resume_unwind(panic);
        }
    }
}

/// Ends the turn when it is dropped, which only a panic does.
struct EndOnPanic<'a, St, T: Turn>(Watching<'a, St, T>);

impl<St, T: Turn> Drop for EndOnPanic<'_, St, T> {
    #[cold]
    fn drop(&mut self) {
        let Watching {
            below,
            turn,
            outbox,
        } = &mut self.0;
        outbox.clear();
        // A second panic, while what is below is dropped, says nothing new.
        let _ = drop_quietly(below.as_mut(), turn);
        // And one here would abort the process.
        let _ = catch_unwind(AssertUnwindSafe(|| tell(turn, End::Panicked)));
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
