use std::{
    future::Future,
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
    quiet: Pin<Box<Sleep>>,
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
            quiet: Box::pin(sleep(interval)),
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
            this.listen_again();
            return Poll::Ready(frame);
        }
        if this.quiet.as_mut().poll(cx).is_ready() {
            this.listen_again();
            // Registers the wake-up of the new interval when the body is polled next, which is at
            // once: a body that gave a frame is polled again.
            return Poll::Ready(Some(Bytes::from_static(b": keep-alive\n\n")));
        }
        Poll::Pending
    }

    fn listen_again(&mut self) {
        self.quiet.as_mut().reset(Instant::now() + self.interval);
    }
}

/// One frame: the id of the event where it has one, and one line of JSON (A2A-RPC-19).
pub(super) fn frame(id: Option<u64>, mut json: Vec<u8>) -> Bytes {
    one_line(&mut json);
    let mut frame = Vec::with_capacity(json.len() + 32);
    if let Some(id) = id {
        frame.extend_from_slice(format!("id: {id}\n").as_bytes());
    }
    frame.extend_from_slice(b"data: ");
    frame.append(&mut json);
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
