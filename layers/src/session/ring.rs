use std::{
    collections::{HashMap, VecDeque},
    fmt, mem,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Waker},
};

use futures_core::Stream;
use portcullis::{AgentEvent, views::Lagged};

use super::live::Live;

/// The last events of a turn, for all its observers together.
///
/// Nobody who writes waits. Who reads too slowly finds that the oldest are gone.
pub(super) struct Ring {
    /// How many observe. While it is none, nothing is kept.
    observers: AtomicUsize,
    most_events: usize,
    most_bytes: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Events and what they weigh.
    events: VecDeque<(AgentEvent, usize)>,
    /// The number of the first of them.
    first: u64,
    bytes: usize,
    over: bool,
    /// Those who wait for the next event.
    waiting: HashMap<u64, Waker>,
    next_observer: u64,
}

impl State {
    fn end(&self) -> u64 {
        self.first + self.events.len() as u64
    }

    fn forget_first(&mut self) {
        if let Some((_, weight)) = self.events.pop_front() {
            self.bytes -= weight;
            self.first += 1;
        }
    }
}

impl Ring {
    pub(super) fn new(most_events: usize, most_bytes: usize) -> Self {
        Self {
            observers: AtomicUsize::new(0),
            most_events,
            most_bytes,
            state: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets observers see an event.
    pub(super) fn tell(&self, event: &AgentEvent) {
        if self.observers.load(Ordering::Relaxed) == 0 {
            return;
        }
        let (event, weight) = (event.clone(), weight(event));
        self.change(|state| {
            state.bytes += weight;
            state.events.push_back((event, weight));
            while state.events.len() > self.most_events || state.bytes > self.most_bytes {
                state.forget_first();
            }
        });
    }

    /// Nothing follows.
    pub(super) fn end(&self) {
        self.change(|state| state.over = true);
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let waiting = {
            let mut state = self.lock();
            change(&mut state);
            mem::take(&mut state.waiting)
        };
        // Woken outside of the lock: it may run anything.
        waiting.into_values().for_each(Waker::wake);
    }
}

/// What an event holds in memory, roughly.
fn weight(event: &AgentEvent) -> usize {
    let content = match event {
        AgentEvent::Text(text) => text.delta().len(),
        AgentEvent::Thinking(text) => text.delta().len(),
        AgentEvent::ToolStarted(tool) => tool.args().as_str().len(),
        AgentEvent::ToolEnded(tool) => tool.content().as_str().len(),
        AgentEvent::Extension(extension) => extension.json().as_str().len(),
        AgentEvent::Completed(completed) => completed.data().map_or(0, |data| data.as_str().len()),
        AgentEvent::Failed(failure) => failure.details().len(),
        AgentEvent::Retrying(_) | AgentEvent::Usage(_) => 0,
    };
    content + size_of::<AgentEvent>() + OVERHEAD
}

/// Names, ids and counters.
const OVERHEAD: usize = 192;

/// The events of a turn, for somebody who only looks.
pub(super) struct Observer {
    live: Arc<Live>,
    id: u64,
    /// The number of the event that it wants next.
    next: u64,
}

impl Observer {
    pub(super) fn new(live: Arc<Live>) -> Self {
        let mut state = live.ring.lock();
        live.ring.observers.fetch_add(1, Ordering::Relaxed);
        let (id, next) = (state.next_observer, state.end());
        state.next_observer += 1;
        drop(state);
        Self { live, id, next }
    }
}

impl Stream for Observer {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        let this = &mut *self;
        let mut state = this.live.ring.lock();
        let Some(place) = this.next.checked_sub(state.first) else {
            let missed = state.first - this.next;
            this.next = state.first;
            return Poll::Ready(Some(Lagged::new(missed).into()));
        };
        let place = usize::try_from(place).expect("it lies within what is kept");
        if let Some((event, _)) = state.events.get(place) {
            this.next += 1;
            return Poll::Ready(Some(event.clone()));
        }
        if state.over {
            return Poll::Ready(None);
        }
        state.waiting.insert(this.id, cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        let mut state = self.live.ring.lock();
        let waker = state.waiting.remove(&self.id);
        let mut kept = VecDeque::new();
        if self.live.ring.observers.fetch_sub(1, Ordering::Relaxed) == 1 {
            state.first = state.end();
            state.bytes = 0;
            kept = mem::take(&mut state.events);
        }
        drop(state);
        drop((waker, kept));
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observer").finish_non_exhaustive()
    }
}
