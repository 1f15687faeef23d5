use std::{
    convert::Infallible,
    future::{Ready, ready},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use portcullis::{Failure, FailureCode, Prompt, Scope};
use tower_service::Service;

use super::{Recording, ReplayStream};

/// An agent that plays recordings. See the [module docs](super). Clones share their place in a conversation.
#[derive(Clone, Debug)]
pub struct Replay {
    recordings: Arc<[Recording]>,
    /// Which one comes next, if they come one after the other.
    next: Option<Arc<AtomicUsize>>,
    timed: bool,
}

impl Replay {
    /// Plays one recording, each time.
    #[must_use]
    pub fn new(recording: Recording) -> Self {
        Self {
            recordings: [recording].into(),
            next: None,
            timed: false,
        }
    }

    /// Plays one recording after the other, a turn each. A turn after the last one fails with
    /// `unavailable`.
    #[must_use]
    pub fn conversation(recordings: impl IntoIterator<Item = Recording>) -> Self {
        Self {
            recordings: recordings.into_iter().collect(),
            next: Some(Arc::default()),
            timed: false,
        }
    }

    /// Plays each event at the time it had, on tokio's clock, which counts in milliseconds.
    #[must_use]
    pub fn timed(mut self) -> Self {
        self.timed = true;
        self
    }
}

impl Service<(Scope, Prompt)> for Replay {
    type Response = ReplayStream;
    type Error = Infallible;
    type Future = Ready<Result<ReplayStream, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: (Scope, Prompt)) -> Self::Future {
        let turn = match &self.next {
            Some(next) => next
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |turn| {
                    Some(turn.saturating_add(1))
                })
                .unwrap_or(usize::MAX),
            None => 0,
        };
        let recording = self.recordings.get(turn).cloned().ok_or_else(|| {
            Failure::with_code(
                FailureCode::UNAVAILABLE,
                "there is no recording of this turn",
            )
        });
        ready(Ok(ReplayStream::new(recording, self.timed)))
    }
}
