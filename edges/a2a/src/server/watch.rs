use std::{
    collections::VecDeque,
    fmt,
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use tokio::sync::watch;

use super::{Frame, core::Core, streams::OpenStream};
use crate::{
    log::{Bell, Record, Reply, Seq, TaskKey, Unavailable},
    model::{Error, StreamResponse, Task, TaskState},
};

/// A cursor over the log of a task: every record after a place, once each and in order,
/// however slowly they are read (A2A-OP-66, ruling 17).
pub(super) struct Watch {
    core: Arc<Core>,
    key: TaskKey,
    bell: Bell,
    after: Seq,
    records: VecDeque<Record>,
    reading: Option<Reading>,
    /// Whether the bell rang since the last read was begun.
    rung: bool,
    stop: Stop,
    lost: Option<watch::Receiver<bool>>,
}

type Reading = Reply<Result<Option<Vec<Record>>, Unavailable>>;

/// What ends a watch early; made when it has to wait for the first time.
type Stop = Option<Pin<Box<dyn Future<Output = Ended> + Send>>>;

/// Why a watch ends although its task goes on.
#[derive(Debug)]
pub(super) enum Ended {
    /// The server shuts down.
    Closing,
    /// The log failed.
    Broken(Error),
}

impl Watch {
    /// Watches what comes after a place. `lost` says when the runner cannot write any more.
    pub(super) fn new(
        core: Arc<Core>,
        key: TaskKey,
        after: Seq,
        lost: Option<watch::Receiver<bool>>,
    ) -> Self {
        // The bell first, then the first read: what is appended between them rings.
        let bell = core.log.bell(&key);
        Self {
            core,
            key,
            bell,
            after,
            records: VecDeque::new(),
            reading: None,
            rung: true,
            stop: None,
            lost,
        }
    }

    pub(super) async fn next(&mut self) -> Result<Record, Ended> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Record, Ended>> {
        loop {
            if let Some(record) = self.records.pop_front() {
                self.after = record.seq();
                return Poll::Ready(Ok(record));
            }
            if let Some(reading) = &mut self.reading {
                match Pin::new(reading).poll(cx) {
                    Poll::Ready(read) => {
                        self.reading = None;
                        match read {
                            Ok(Some(records)) => {
                                // A full answer may have left something behind.
                                self.rung |= !records.is_empty();
                                self.records = records.into();
                                continue;
                            }
                            Ok(None) => return Poll::Ready(Err(Ended::Broken(gone(&self.key)))),
                            Err(error) => {
                                tracing::error!(%error, task = self.key.id(), "a watcher cannot read the log");
                                return Poll::Ready(Err(Ended::Broken(Error::internal(error))));
                            }
                        }
                    }
                    Poll::Pending => return Poll::Pending,
                }
            }
            if self.rung {
                self.rung = false;
                let limit = self.core.limits.read_ahead;
                self.reading = Some(self.core.log.read(&self.key, self.after, limit));
                continue;
            }
            if self.bell.poll_rung(cx).is_ready() {
                self.rung = true;
                continue;
            }
            let ended = ready!(self.poll_stop(cx));
            return Poll::Ready(Err(ended));
        }
    }

    fn poll_stop(&mut self, cx: &mut Context<'_>) -> Poll<Ended> {
        let stop = self.stop.get_or_insert_with(|| {
            let mut closing = self.core.closing.subscribe();
            let mut lost = self.lost.take();
            Box::pin(async move {
                let closing = Box::pin(async move {
                    let _ = closing.wait_for(|closing| *closing).await;
                });
                let lost = Box::pin(async move {
                    if let Some(lost) = &mut lost
                        && lost.wait_for(|lost| *lost).await.is_ok()
                    {
                        return;
                    }
                    // The runner has ended and wrote all that it had to write.
                    std::future::pending().await
                });
                match futures_util::future::select(closing, lost).await {
                    futures_util::future::Either::Left(_) => Ended::Closing,
                    futures_util::future::Either::Right(_) => {
                        Ended::Broken(Error::internal("the log takes no updates"))
                    }
                }
            })
        });
        stop.as_mut().poll(cx)
    }
}

/// The log of a finished task went while somebody still read it.
fn gone(key: &TaskKey) -> Error {
    Error::task_not_found(key.id())
}

/// The frames of a stream: a [`Stream`] of `Result<Frame, Error>` that ends after the
/// terminal state, or after the one error (A2A-OP-58, A2A-RPC-23).
///
/// # Cancel safety
/// Dropping it takes nothing from anybody: the turn goes on (A2A-OP-34).
#[must_use = "streams do nothing unless polled"]
pub struct Frames {
    first: Option<Frame>,
    rest: Option<Box<Rest>>,
}

struct Rest {
    watch: Watch,
    ends_at_input: bool,
    /// Given back when nothing more can come, read or not.
    _place: OpenStream,
}

impl Frames {
    /// The whole answer is one message.
    pub(super) fn message(message: crate::model::Message) -> Self {
        let frame = Frame::new(None, &StreamResponse::Message(message));
        Self {
            first: Some(frame),
            rest: None,
        }
    }

    /// A task as it stood at a place, then what comes after it, if anything can.
    pub(super) fn task(
        seq: Seq,
        task: Task,
        watch: Option<(Watch, OpenStream)>,
        ends_at_input: bool,
    ) -> Self {
        let frame = Frame::new(Some(seq), &StreamResponse::Task(task));
        let rest = watch.map(|(watch, place)| Rest {
            watch,
            ends_at_input,
            _place: place,
        });
        Self {
            first: Some(frame),
            rest: rest.map(Box::new),
        }
    }
}

impl Stream for Frames {
    type Item = Result<Frame, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        loop {
            let Some(rest) = &mut self.rest else {
                return Poll::Ready(None);
            };
            match ready!(rest.watch.poll_next(cx)) {
                Ok(record) if !record.is_frame() => {}
                Ok(record) => {
                    let last = record
                        .state()
                        .is_some_and(|state| ends(state, rest.ends_at_input));
                    if last {
                        self.rest = None;
                    }
                    return Poll::Ready(Some(Ok(Frame::of(&record))));
                }
                Err(ended) => {
                    self.rest = None;
                    return Poll::Ready(match ended {
                        Ended::Closing => None,
                        Ended::Broken(error) => Some(Err(error)),
                    });
                }
            }
        }
    }
}

/// Whether a stream ends with this state.
pub(super) const fn ends(state: TaskState, at_input: bool) -> bool {
    state.is_terminal() || (at_input && matches!(state, TaskState::InputRequired))
}

impl fmt::Debug for Frames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frames").finish_non_exhaustive()
    }
}
