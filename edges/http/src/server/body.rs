use std::{
    convert::Infallible,
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep};

use super::lines::{Lines, Numbered};
use crate::wire::Format;

/// The body of a response: problem details in one piece, or the events of a turn.
///
/// It owns the turn: dropping it cancels the turn.
pub struct ResponseBody(Kind);

enum Kind {
    Whole(Bytes),
    Events(Box<Events>),
}

impl ResponseBody {
    pub(super) const fn whole(bytes: Bytes) -> Self {
        Self(Kind::Whole(bytes))
    }

    pub(super) fn events(events: Events) -> Self {
        Self(Kind::Events(Box::new(events)))
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = match &mut self.0 {
            Kind::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Kind::Whole(bytes) => Poll::Ready(Some(std::mem::take(bytes))),
            Kind::Events(events) => events.poll_bytes(cx),
        };
        bytes.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Whole(bytes) => bytes.is_empty(),
            Kind::Events(events) => events.ended,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Kind::Events(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            Kind::Whole(_) => "ResponseBody(whole)",
            Kind::Events(_) => "ResponseBody(events)",
        })
    }
}

/// The frames of a turn, and what keeps the connection alive while there is none: a proxy that sees
/// no bytes for a while closes it (O-S07).
pub(super) struct Events {
    lines: Lines,
    format: Format,
    /// What was read to know the status.
    first: Option<Numbered>,
    interval: Duration,
    /// When the last bytes were given. The alarm is moved only when it goes off: a busy turn
    /// would move it with each frame.
    last: Instant,
    alarm: Pin<Box<Sleep>>,
    ended: bool,
}

impl Events {
    pub(super) fn new(
        lines: Lines,
        first: Option<Numbered>,
        format: Format,
        interval: Duration,
    ) -> Self {
        Self {
            lines,
            format,
            first,
            interval,
            last: Instant::now(),
            alarm: Box::pin(sleep(interval)),
            ended: false,
        }
    }

    fn poll_bytes(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let line = match self.first.take() {
            Some(line) => Poll::Ready(Some(line)),
            None => self.lines.poll_line(cx),
        };
        match line {
            Poll::Ready(Some((seq, line))) => {
                self.last = Instant::now();
                self.ended = line.is_last;
                Poll::Ready(Some(self.format.frame(seq, &line.json).into()))
            }
            Poll::Ready(None) => {
                self.ended = true;
                Poll::Ready(None)
            }
            Poll::Pending => self.poll_keep_alive(cx).map(Some),
        }
    }

    fn poll_keep_alive(&mut self, cx: &mut Context<'_>) -> Poll<Bytes> {
        while self.alarm.as_mut().poll(cx).is_ready() {
            let now = Instant::now();
            let due = self.last + self.interval;
            if now >= due {
                self.last = now;
                self.alarm.as_mut().reset(now + self.interval);
                return Poll::Ready(Bytes::from_static(self.format.keep_alive()));
            }
            self.alarm.as_mut().reset(due);
        }
        Poll::Pending
    }
}
