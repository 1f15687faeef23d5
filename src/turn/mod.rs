//! Layers that watch a turn: the first of the three shapes.

mod end;
mod layer;
mod outbox;
mod service;
mod stream;

use std::task::{Context, Poll};

use crate::AgentEvent;

pub use self::{
    end::End,
    layer::{MakeTurn, TurnLayer},
    outbox::Outbox,
    service::Watched,
    stream::TurnStream,
};

/// What a layer does during one turn: it sees every event, and the end, whatever ends it.
///
/// One value a turn. The methods are called in this order: `on_event` for each event of
/// the stream below, `poll_quiet` whenever that has nothing to say, `poll_close` before
/// the terminal event leaves, and [`on_end`](Self::on_end) exactly once. All have a
/// default, so a layer writes what it needs.
///
/// What a turn holds, a permit or a span, is released when it is dropped, after
/// `on_end`, and always after everything below is gone.
///
/// A panic below or in one of the methods drops what is below, is told to `on_end`, and
/// goes on upwards.
///
/// ```
/// use portcullis::{AgentEvent, Failure, Flow, Outbox, Turn};
///
/// /// Cuts the answer after so many bytes.
/// struct Bytes(usize);
///
/// impl Turn for Bytes {
///     fn on_event(&mut self, event: &mut AgentEvent, out: &mut Outbox) -> Flow {
///         if let AgentEvent::Text(text) = event {
///             match self.0.checked_sub(text.delta().len()) {
///                 Some(left) => self.0 = left,
///                 // What was produced is delivered, the failure comes next.
///                 None => out.fail(Failure::new("the answer is too long")),
///             }
///         }
///         Flow::Forward
///     }
/// }
/// ```
pub trait Turn {
    /// Sees an event, may edit it in place, and says whether it goes on.
    ///
    /// A terminal event always goes on, unless [`Outbox::fail`] and [`Flow::Skip`]
    /// together put a failure in its place.
    fn on_event(&mut self, event: &mut AgentEvent, out: &mut Outbox) -> Flow {
        let _ = (event, out);
        Flow::Forward
    }

    /// Called while the stream below is pending, its call included. The place for
    /// clocks: event first, then clock, and a clock runs only while somebody waits.
    ///
    /// Must register the waker for whatever it waits for.
    fn poll_quiet(&mut self, cx: &mut Context<'_>, out: &mut Outbox) {
        let _ = (cx, out);
    }

    /// An epilogue before the terminal event leaves: what is below is gone already, and
    /// the caller has not heard of the end. It may edit `last`, which has to stay
    /// terminal. A drop meanwhile ends the turn as [`End::Cancelled`].
    fn poll_close(&mut self, cx: &mut Context<'_>, last: &mut AgentEvent) -> Poll<()> {
        let _ = (cx, last);
        Poll::Ready(())
    }

    /// The turn is over. Called exactly once, after everything below is dropped.
    ///
    /// It may run inside `drop`: it must not block, and must not panic.
    fn on_end(self, end: End<'_>)
    where
        Self: Sized,
    {
        let _ = end;
    }

    /// Wraps whatever runs below: the call, each poll, and the drop. The place to enter
    /// a span. It must call `below`.
    fn around<R>(&mut self, below: impl FnOnce() -> R) -> R
    where
        Self: Sized,
    {
        below()
    }
}

/// Whether an event goes on.
#[expect(clippy::exhaustive_enums, reason = "it goes on or it does not")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// It goes on.
    Forward,
    /// It does not.
    Skip,
}

/// Watches nothing: for a policy that only admits.
impl Turn for () {}

/// Watches where there is something to watch: an optional layer keeps one type.
impl<T: Turn> Turn for Option<T> {
    fn on_event(&mut self, event: &mut AgentEvent, out: &mut Outbox) -> Flow {
        self.as_mut()
            .map_or(Flow::Forward, |turn| turn.on_event(event, out))
    }

    fn poll_quiet(&mut self, cx: &mut Context<'_>, out: &mut Outbox) {
        if let Some(turn) = self {
            turn.poll_quiet(cx, out);
        }
    }

    fn poll_close(&mut self, cx: &mut Context<'_>, last: &mut AgentEvent) -> Poll<()> {
        self.as_mut()
            .map_or(Poll::Ready(()), |turn| turn.poll_close(cx, last))
    }

    fn on_end(self, end: End<'_>) {
        if let Some(turn) = self {
            turn.on_end(end);
        }
    }

    fn around<R>(&mut self, below: impl FnOnce() -> R) -> R {
        match self {
            Some(turn) => turn.around(below),
            None => below(),
        }
    }
}
