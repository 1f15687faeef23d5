//! A stream written as an async function.
//!
//! The function's future lives inside the stream: no task, no channel. `emit` is a
//! rendezvous. It resolves when the caller has taken the item *and polled again*, so
//! the function never runs ahead of what its caller has seen: a budget that cuts at an
//! event has cut before the step that follows it.

use std::{
    collections::VecDeque,
    fmt,
    marker::PhantomData,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use pin_project::{pin_project, pinned_drop};

use crate::AgentEvent;

/// Hands items to whoever reads the stream. Clones take turns: items of several that
/// emit at once alternate.
pub struct Emitter<E = AgentEvent> {
    desk: Arc<Mutex<Desk<E>>>,
}

impl<E> Emitter<E> {
    /// Emits an item. Resolves when the caller has taken it and polled again, or when
    /// the stream has ended.
    ///
    /// # Cancel safety
    ///
    /// An `emit` that is dropped before the caller took its item has sent nothing.
    pub fn emit(&self, item: impl Into<E>) -> Emit<'_, E> {
        Emit {
            emitter: self,
            state: EmitState::New(Some(item.into())),
        }
    }

    /// Whether the stream has ended, so that nothing emitted reaches anybody. Only a
    /// clone in another task ever sees `true`.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        lock(&self.desk).closed
    }
}

impl<E> Clone for Emitter<E> {
    fn clone(&self) -> Self {
        Self {
            desk: Arc::clone(&self.desk),
        }
    }
}

impl<E> fmt::Debug for Emitter<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Emitter").finish_non_exhaustive()
    }
}

/// Where emitters queue and the stream takes, first come, first served.
struct Desk<E> {
    /// Items that wait. Tickets rise from front to back.
    queue: VecDeque<Entry<E>>,
    /// Whose item the caller has; it resolves at the caller's next poll.
    taken: Option<(u64, Waker)>,
    next_ticket: u64,
    /// Who to wake when an item comes from another task.
    reader: Option<Waker>,
    /// The stream is polling its future and looks at the queue afterwards.
    polling: bool,
    closed: bool,
}

struct Entry<E> {
    ticket: u64,
    item: E,
    waker: Waker,
}

fn lock<E>(desk: &Mutex<Desk<E>>) -> MutexGuard<'_, Desk<E>> {
    desk.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<E> Desk<E> {
    /// The waker of an item that is queued or taken; `None` once it is acknowledged.
    fn waker_of(&mut self, ticket: u64) -> Option<&mut Waker> {
        match self.place_of(ticket) {
            Some(place) => self.queue.get_mut(place).map(|entry| &mut entry.waker),
            None => {
                let taken = self.taken.as_mut().filter(|(taken, _)| *taken == ticket);
                taken.map(|(_, waker)| waker)
            }
        }
    }

    fn place_of(&self, ticket: u64) -> Option<usize> {
        let place = self.queue.partition_point(|entry| entry.ticket < ticket);
        let found = self
            .queue
            .get(place)
            .is_some_and(|entry| entry.ticket == ticket);
        found.then_some(place)
    }
}

/// The future of [`Emitter::emit`].
#[must_use = "futures do nothing unless polled"]
pub struct Emit<'a, E> {
    emitter: &'a Emitter<E>,
    state: EmitState<E>,
}

enum EmitState<E> {
    /// Not polled yet.
    New(Option<E>),
    /// Queued, or taken and not yet acknowledged.
    Waiting(u64),
    /// Resolved.
    Done,
}

// The item is moved, never pinned.
impl<E> Unpin for Emit<'_, E> {}

impl<E> Future for Emit<'_, E> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let mut desk = lock(&this.emitter.desk);
        if desk.closed {
            this.state = EmitState::Done;
            return Poll::Ready(());
        }
        match &mut this.state {
            EmitState::New(item) => {
                let item = item.take().expect("set until the first poll");
                let ticket = desk.next_ticket;
                desk.next_ticket += 1;
                desk.queue.push_back(Entry {
                    ticket,
                    item,
                    waker: cx.waker().clone(),
                });
                this.state = EmitState::Waiting(ticket);
                let reader = if desk.polling {
                    None
                } else {
                    desk.reader.take()
                };
                drop(desk);
                if let Some(reader) = reader {
                    reader.wake();
                }
                Poll::Pending
            }
            EmitState::Waiting(ticket) => match desk.waker_of(*ticket) {
                Some(waker) => {
                    waker.clone_from(cx.waker());
                    Poll::Pending
                }
                None => {
                    this.state = EmitState::Done;
                    Poll::Ready(())
                }
            },
            EmitState::Done => Poll::Ready(()),
        }
    }
}

impl<E> Drop for Emit<'_, E> {
    fn drop(&mut self) {
        if let EmitState::Waiting(ticket) = self.state {
            let mut desk = lock(&self.emitter.desk);
            let withdrawn = desk
                .place_of(ticket)
                .and_then(|place| desk.queue.remove(place));
            // The item is somebody's: not dropped under the lock.
            drop(desk);
            drop(withdrawn);
        }
    }
}

impl<E> fmt::Debug for Emit<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Emit").finish_non_exhaustive()
    }
}

/// Runs an async function that emits items.
///
/// A building block: [`agent_fn`](crate::agent_fn) and the scripts are made of it.
pub fn emitting<E, F, Fut>(f: F) -> Emitting<Fut, E>
where
    F: FnOnce(Emitter<E>) -> Fut,
    Fut: Future,
{
    let desk = Arc::new(Mutex::new(Desk {
        queue: VecDeque::new(),
        taken: None,
        next_ticket: 0,
        reader: None,
        polling: false,
        closed: false,
    }));
    let closing = Closing(Some(Arc::clone(&desk)));
    Emitting {
        future: Some(f(Emitter { desk })),
        closing,
        item: PhantomData,
    }
}

/// A running function that emits items.
///
/// # Cancel safety
///
/// Dropping it drops the function's future.
#[pin_project(PinnedDrop)]
#[must_use = "does nothing unless polled"]
pub struct Emitting<Fut, E> {
    #[pin]
    future: Option<Fut>,
    closing: Closing<E>,
    item: PhantomData<fn() -> E>,
}

/// What a running function did.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "it emits or it returns")]
pub enum Step<E, T> {
    /// It emitted an item.
    Item(E),
    /// It returned.
    Done(T),
}

impl<Fut: Future, E> Emitting<Fut, E> {
    /// Runs the function up to its next item or its end. After its end it is `Pending`
    /// for ever.
    pub fn poll_step(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Step<E, Fut::Output>> {
        let mut this = self.project();
        let (Some(future), Some(desk)) = (this.future.as_mut().as_pin_mut(), &this.closing.0)
        else {
            return Poll::Pending;
        };
        let acknowledged = {
            let mut desk = lock(desk);
            match &mut desk.reader {
                Some(reader) => reader.clone_from(cx.waker()),
                reader @ None => *reader = Some(cx.waker().clone()),
            }
            desk.polling = true;
            desk.taken.take()
        };
        let polling = Polling(desk);
        // An emit that is polled together with the future needs no wake: that is next.
        if let Some((_, waker)) = acknowledged
            && !waker.will_wake(cx.waker())
        {
            waker.wake();
        }
        let output = future.poll(cx);
        drop(polling);
        match output {
            Poll::Ready(output) => {
                this.future.set(None);
                this.closing.close();
                Poll::Ready(Step::Done(output))
            }
            Poll::Pending => {
                let mut desk = lock(desk);
                let Some(Entry {
                    ticket,
                    item,
                    waker,
                }) = desk.queue.pop_front()
                else {
                    return Poll::Pending;
                };
                desk.taken = Some((ticket, waker));
                Poll::Ready(Step::Item(item))
            }
        }
    }
}

/// Says that the queue is not looked at any more, also when the future panics.
struct Polling<'a, E>(&'a Mutex<Desk<E>>);

impl<E> Drop for Polling<'_, E> {
    fn drop(&mut self) {
        lock(self.0).polling = false;
    }
}

/// Closes the desk, so that an emitter that outlives the stream does not wait for ever.
struct Closing<E>(Option<Arc<Mutex<Desk<E>>>>);

impl<E> Closing<E> {
    fn close(&mut self) {
        let Some(desk) = self.0.take() else { return };
        let (queue, taken) = {
            let mut desk = lock(&desk);
            desk.closed = true;
            desk.reader = None;
            (std::mem::take(&mut desk.queue), desk.taken.take())
        };
        let queued = queue.into_iter().map(|entry| entry.waker);
        queued
            .chain(taken.map(|(_, waker)| waker))
            .for_each(Waker::wake);
    }
}

impl<E> Drop for Closing<E> {
    fn drop(&mut self) {
        self.close();
    }
}

#[pinned_drop]
impl<Fut, E> PinnedDrop for Emitting<Fut, E> {
    fn drop(self: Pin<&mut Self>) {
        // Before the desk closes: no emit resolves while the future still lives.
        self.project().future.set(None);
    }
}

impl<Fut, E> fmt::Debug for Emitting<Fut, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Emitting").finish_non_exhaustive()
    }
}
