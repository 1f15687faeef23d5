use std::{
    collections::VecDeque,
    fmt,
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use super::{ControlRefusal, RefusalCode};
use crate::{Prompt, Scope};

/// Makes both ends of an inbox that holds at most `capacity` prompts.
#[must_use]
pub fn inbox(capacity: usize) -> (InboxSender, Inbox) {
    let state = Arc::new(Mutex::new(State {
        queue: VecDeque::new(),
        capacity,
        reader: None,
        reading: false,
        sending: true,
    }));
    (
        InboxSender {
            state: Arc::clone(&state),
        },
        Inbox { state },
    )
}

struct State {
    queue: VecDeque<Prompt>,
    capacity: usize,
    reader: Option<Waker>,
    /// An engine has taken the inbox and still holds it.
    reading: bool,
    /// The sender lives.
    sending: bool,
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where a session layer puts prompts that steer a run.
pub struct InboxSender {
    state: Arc<Mutex<State>>,
}

impl InboxSender {
    /// Puts the inbox into a scope, for an engine to take.
    pub fn offer(inbox: Inbox, scope: &mut Scope) {
        scope
            .extensions_mut()
            .insert(Offered(Mutex::new(Some(inbox))));
    }

    /// Whether an engine took the inbox, so that the run can be steered.
    #[must_use]
    pub fn is_taken(&self) -> bool {
        lock(&self.state).reading
    }

    /// Puts a prompt in.
    ///
    /// # Errors
    ///
    /// When no engine took the inbox, or it is full.
    pub fn send(&self, prompt: Prompt) -> Result<(), ControlRefusal> {
        if let Some(reader) = self.put(prompt)? {
            reader.wake();
        }
        Ok(())
    }

    /// Like [`send`](Self::send), and says who is to be woken: for a caller that holds a
    /// lock, and wakes when it has let go.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub fn put(&self, prompt: Prompt) -> Result<Option<Waker>, ControlRefusal> {
        let mut state = lock(&self.state);
        if !state.sending {
            return Err(ControlRefusal::new(
                RefusalCode::NotRunning,
                "the run is over",
            ));
        }
        if !state.reading {
            return Err(ControlRefusal::new(
                RefusalCode::Unsupported,
                "the engine takes no steering",
            ));
        }
        if state.queue.len() >= state.capacity {
            return Err(ControlRefusal::new(
                RefusalCode::QueueFull,
                "too many prompts wait for the run",
            ));
        }
        state.queue.push_back(prompt);
        Ok(state.reader.take())
    }

    /// Closes the inbox and takes back what no engine took. An engine that waits hears
    /// of it when the sender is dropped.
    #[must_use]
    pub fn close(&self) -> Vec<Prompt> {
        let mut state = lock(&self.state);
        state.sending = false;
        state.queue.drain(..).collect()
    }

    /// How many prompts wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        lock(&self.state).queue.len()
    }
}

impl Drop for InboxSender {
    fn drop(&mut self) {
        let reader = {
            let mut state = lock(&self.state);
            state.sending = false;
            state.reader.take()
        };
        if let Some(reader) = reader {
            reader.wake();
        }
    }
}

impl fmt::Debug for InboxSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InboxSender")
            .field("waiting", &self.waiting())
            .finish_non_exhaustive()
    }
}

struct Offered(Mutex<Option<Inbox>>);

/// Where an engine finds prompts that steer its run.
///
/// ```
/// use portcullis::{AgentEvent, Inbox, Prompt, Scope, agent_fn};
///
/// let agent = agent_fn(async |scope: Scope, _prompt, out| {
///     // From here on the session says that it can be steered.
///     let mut inbox = Inbox::take(&scope);
///     for step in 1..=3 {
///         while let Some(prompt) = inbox.as_mut().and_then(Inbox::try_next) {
///             out.emit(AgentEvent::text(format!("I see: {}. ", prompt.as_text()))).await;
///         }
///         out.emit(AgentEvent::text(format!("Step {step}. "))).await;
///     }
///     Ok(())
/// });
/// # let _ = agent;
/// ```
pub struct Inbox {
    state: Arc<Mutex<State>>,
}

impl Inbox {
    /// Takes the inbox of a turn, if somebody offered one and nobody took it yet.
    #[must_use]
    pub fn take(scope: &Scope) -> Option<Self> {
        let offered = scope.extensions().get::<Offered>()?;
        let inbox = offered
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()?;
        lock(&inbox.state).reading = true;
        Some(inbox)
    }

    /// The next prompt, if one waits.
    pub fn try_next(&mut self) -> Option<Prompt> {
        lock(&self.state).queue.pop_front()
    }

    /// Waits for the next prompt. `None` when no more can come.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Prompt>> {
        let mut state = lock(&self.state);
        match state.queue.pop_front() {
            Some(prompt) => Poll::Ready(Some(prompt)),
            None if !state.sending => Poll::Ready(None),
            None => {
                state.reader = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    /// Waits for the next prompt. `None` when no more can come.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses no prompt.
    pub async fn next(&mut self) -> Option<Prompt> {
        poll_fn(|cx| self.poll_next(cx)).await
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        lock(&self.state).reading = false;
    }
}

impl fmt::Debug for Inbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox").finish_non_exhaustive()
    }
}
