use std::{
    collections::VecDeque,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use futures_core::Stream;

use crate::AgentEvent;

/// Sees the events of a turn. It has no effect on the turn; a fake may buffer all.
#[derive(Clone)]
pub(super) struct Observer(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    queue: VecDeque<AgentEvent>,
    over: bool,
    reader: Option<Waker>,
}

impl Observer {
    pub(super) fn new() -> Self {
        Self(Arc::default())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn tell(&self, event: AgentEvent) {
        self.change(|state| state.queue.push_back(event));
    }

    pub(super) fn end(&self) {
        self.change(|state| state.over = true);
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let reader = {
            let mut state = self.state();
            change(&mut state);
            state.reader.take()
        };
        if let Some(reader) = reader {
            reader.wake();
        }
    }
}

impl Stream for Observer {
    type Item = AgentEvent;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        let mut state = self.state();
        match state.queue.pop_front() {
            Some(event) => Poll::Ready(Some(event)),
            None if state.over => Poll::Ready(None),
            None => {
                state.reader = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}
