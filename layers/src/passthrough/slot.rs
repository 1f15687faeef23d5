use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Waker},
};

use portcullis::{AgentEvent, Scope};

/// Where an unknown event lies on its way around a layer: a place for one, so that memory
/// is bounded and nothing that follows can overtake it.
#[derive(Debug, Default)]
pub(super) struct Slot {
    state: Mutex<State>,
    /// The slot of an enclosing `passthrough`, which has to be in the scope again below.
    outer: Option<Arc<Self>>,
}

#[derive(Debug, Default)]
struct State {
    event: Option<AgentEvent>,
    /// How many events were put, and with that the number of the last one.
    put: u64,
    /// The reader, when it found nothing.
    merge: Option<Waker>,
    /// Those that wait until their event is taken, or for the place.
    diverts: Vec<Waker>,
    closed: bool,
}

/// How the slot travels to the other side of the layer.
struct Current(Arc<Slot>);

/// What became of an attempt to put an event.
pub(super) enum Put {
    /// It lies there, as this number.
    Lies(u64),
    /// The place is taken by another's.
    Taken(AgentEvent),
    /// Nobody reads any more.
    Closed,
}

impl Slot {
    /// Puts a new slot into a scope.
    pub(super) fn open(scope: &mut Scope) -> Arc<Self> {
        let outer = scope.extensions().get::<Current>();
        let slot = Arc::new(Self {
            outer: outer.map(|current| Arc::clone(&current.0)),
            ..Self::default()
        });
        scope.extensions_mut().insert(Current(Arc::clone(&slot)));
        slot
    }

    /// Takes the slot out of a scope, and leaves the enclosing one there.
    pub(super) fn find(scope: &mut Scope) -> Option<Arc<Self>> {
        let slot = Arc::clone(&scope.extensions().get::<Current>()?.0);
        match &slot.outer {
            Some(outer) => scope.extensions_mut().insert(Current(Arc::clone(outer))),
            None => scope.extensions_mut().remove::<Current>(),
        };
        Some(slot)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn put(&self, event: AgentEvent, cx: &Context<'_>) -> Put {
        let mut state = self.lock();
        if state.closed {
            return Put::Closed;
        }
        state.wait(cx);
        if state.event.is_some() {
            return Put::Taken(event);
        }
        state.event = Some(event);
        state.put += 1;
        let number = state.put;
        // Polled by the reader's own task, the reader looks here next.
        let merge = state.merge.take_if(|merge| !merge.will_wake(cx.waker()));
        drop(state);
        if let Some(merge) = merge {
            merge.wake();
        }
        Put::Lies(number)
    }

    /// Whether an event has been taken.
    pub(super) fn is_taken(&self, number: u64, cx: &Context<'_>) -> bool {
        let mut state = self.lock();
        let lies = state.event.is_some() && state.put == number && !state.closed;
        if lies {
            state.wait(cx);
        }
        !lies
    }

    /// Takes the event, or says whom to wake when one comes.
    pub(super) fn take(&self, cx: &Context<'_>) -> Option<AgentEvent> {
        let mut state = self.lock();
        let Some(event) = state.event.take() else {
            match &mut state.merge {
                Some(merge) => merge.clone_from(cx.waker()),
                merge => *merge = Some(cx.waker().clone()),
            }
            return None;
        };
        let waiting = mem::take(&mut state.diverts);
        drop(state);
        // The reader's own task polls again when it has had the event.
        let others = waiting.into_iter();
        others
            .filter(|divert| !divert.will_wake(cx.waker()))
            .for_each(Waker::wake);
        Some(event)
    }

    /// Nobody reads any more, except for what lies there now. Whoever still runs below
    /// must not wait for ever, nor hold up the end for ever.
    pub(super) fn close(&self) -> Option<AgentEvent> {
        let mut state = self.lock();
        state.closed = true;
        let event = state.event.take();
        let waiting = mem::take(&mut state.diverts);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
        event
    }
}

impl State {
    fn wait(&mut self, cx: &Context<'_>) {
        let known = |waker: &Waker| waker.will_wake(cx.waker());
        if !self.diverts.iter().any(known) {
            self.diverts.push(cx.waker().clone());
        }
    }
}
