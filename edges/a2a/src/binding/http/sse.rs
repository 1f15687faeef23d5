use std::{
    future::Future,
    io::Write,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures_core::Stream;
use tokio::time::{Instant, Sleep, sleep};

/// Frames that are due, and comments while there is none.
///
/// A proxy that sees no bytes for a while closes the connection; a comment is what every reader
/// skips (A2A-RPC-20, O-S07).
pub(super) struct Events {
    frames: Pin<Box<dyn Stream<Item = Bytes> + Send>>,
    interval: Duration,
    /// When the last bytes were given. The alarm is moved only when it goes off: a busy stream
    /// would move it with each frame.
    last: Instant,
    alarm: Pin<Box<Sleep>>,
    ended: bool,
}

impl Events {
    pub(super) fn new(
        frames: Pin<Box<dyn Stream<Item = Bytes> + Send>>,
        interval: Duration,
    ) -> Self {
        Self {
            frames,
            interval,
            last: Instant::now(),
            alarm: Box::pin(sleep(interval)),
            ended: false,
        }
    }

    pub(super) fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Bytes>> {
        let this = &mut *self;
        if this.ended {
            return Poll::Ready(None);
        }
        // The event first, then the clock.
        if let Poll::Ready(frame) = this.frames.as_mut().poll_next(cx) {
            this.ended = frame.is_none();
            this.last = Instant::now();
            return Poll::Ready(frame);
        }
        while this.alarm.as_mut().poll(cx).is_ready() {
            let now = Instant::now();
            let due = this.last + this.interval;
            if now >= due {
                this.last = now;
                this.alarm.as_mut().reset(now + this.interval);
                return Poll::Ready(Some(Bytes::from_static(b": keep-alive\n\n")));
            }
            this.alarm.as_mut().reset(due);
        }
        Poll::Pending
    }
}

/// Begins a frame: what the event is called and its id, where it has them, and the field of the
/// data.
pub(in crate::binding) fn begin(event: Option<&str>, id: Option<u64>, room: usize) -> Vec<u8> {
    let mut frame = Vec::with_capacity(room + 96);
    if let Some(event) = event {
        writeln!(frame, "event: {event}").expect("a vector takes everything");
    }
    if let Some(id) = id {
        writeln!(frame, "id: {id}").expect("a vector takes everything");
    }
    frame.extend_from_slice(b"data: ");
    frame
}

/// Ends a frame whose data begins at `start` (A2A-RPC-19).
pub(in crate::binding) fn end(mut frame: Vec<u8>, start: usize) -> Bytes {
    one_line(&mut frame[start..]);
    frame.extend_from_slice(b"\n\n");
    frame.into()
}

/// A value that passes through as text may hold line breaks between its tokens. Inside a string
/// they are always escaped, so a space does as well.
fn one_line(json: &mut [u8]) {
    for byte in json {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
}
