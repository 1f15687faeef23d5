use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use portcullis::SessionControl;
use tokio::{
    sync::{Semaphore, mpsc, oneshot, watch},
    task::JoinSet,
};

use super::{Signs, Turn, run::Run};
use crate::{
    log::TaskKey,
    model::{Error, ErrorKind, Message},
    server::core::Core,
};

/// What somebody asks of a running turn. Its reply says that it is done.
pub(in crate::server) enum Control {
    /// Stop, as the client wants it.
    Cancel(oneshot::Sender<()>),
    /// Stop, since the server does.
    ShutDown,
    /// Hand this message on and log it.
    Message {
        message: Box<Message>,
        to: Recipient,
        logged: oneshot::Sender<Result<(), NotTaken>>,
    },
}

/// Who reads messages to a turn that runs.
#[derive(Clone)]
pub(in crate::server) enum Recipient {
    /// The executor.
    Executor,
    /// The session of the agent.
    Session(Arc<dyn SessionControl>),
}

/// A running turn does not take a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum NotTaken {
    /// It takes none now.
    Busy,
    /// Too many wait for it.
    Full,
}

/// A turn that runs in this process.
#[derive(Clone)]
pub(in crate::server) struct Running {
    generation: u64,
    session: Arc<str>,
    signs: Arc<Signs>,
    control: mpsc::Sender<Control>,
    lost: watch::Receiver<bool>,
}

impl Running {
    /// Whether it waits for its caller, so that a message begins another turn.
    pub(in crate::server) fn asks(&self) -> bool {
        self.signs.asks()
    }

    /// Becomes true when the turn can no longer write to its log.
    pub(in crate::server) fn lost(&self) -> watch::Receiver<bool> {
        self.lost.clone()
    }

    /// Asks the turn to stop, and waits until it stands still and the log says so. `false`
    /// if it did not in time, or had ended.
    pub(in crate::server) async fn cancel(&self, wait: Duration) -> bool {
        let (reply, done) = oneshot::channel();
        let asked = async {
            self.control.send(Control::Cancel(reply)).await.ok()?;
            done.await.ok()
        };
        matches!(tokio::time::timeout(wait, asked).await, Ok(Some(())))
    }

    /// Hands a message to the turn, and adds it to the history of the task.
    pub(in crate::server) async fn message(
        &self,
        message: Message,
        to: Recipient,
    ) -> Result<(), NotTaken> {
        let (logged, done) = oneshot::channel();
        let message = Box::new(message);
        let control = Control::Message {
            message,
            to,
            logged,
        };
        let sent = self.control.send(control).await;
        sent.map_err(|_| NotTaken::Busy)?;
        done.await.unwrap_or(Err(NotTaken::Busy))
    }
}

/// The turns that run in this process. Dropping it drops them all.
pub(in crate::server) struct Runs {
    core: Arc<Core>,
    state: Arc<Mutex<State>>,
    /// One for each turn whose work may live at once.
    seats: Arc<Semaphore>,
    /// How many run.
    count: watch::Sender<usize>,
}

struct State {
    tasks: JoinSet<()>,
    by_key: HashMap<TaskKey, Running>,
    next_generation: u64,
    draining: bool,
    kept_up: bool,
}

impl Runs {
    pub(in crate::server) fn new(core: Arc<Core>) -> Self {
        let seats = core.limits.running_turns.min(Semaphore::MAX_PERMITS);
        Self {
            core,
            seats: Arc::new(Semaphore::new(seats)),
            state: Arc::new(Mutex::new(State {
                tasks: JoinSet::new(),
                by_key: HashMap::new(),
                next_generation: 0,
                draining: false,
                kept_up: false,
            })),
            count: watch::Sender::new(0),
        }
    }

    /// Runs a turn. One of the same task that still lingers keeps running, but nobody
    /// reaches it any more and the log takes nothing from it (O-L11).
    pub(in crate::server) fn spawn(&self, turn: Turn) -> Result<(), Error> {
        let mut state = lock(&self.state);
        while state.tasks.try_join_next().is_some() {}
        self.check_draining(&state)?;
        let Ok(seat) = Arc::clone(&self.seats).try_acquire_owned() else {
            let message = "Too many tasks are running";
            return Err(self.core.limits.refusal(ErrorKind::Unavailable, message));
        };
        let generation = state.next_generation;
        state.next_generation += 1;
        let key = turn.key.clone();
        let (control, commands) = mpsc::channel(CONTROL_QUEUE);
        let (lost, is_lost) = watch::channel(false);
        self.count.send_modify(|count| *count += 1);
        let session = turn.cx.session().into();
        let signs = Arc::default();
        let running = Running {
            generation,
            session,
            signs: Arc::clone(&signs),
            control,
            lost: is_lost,
        };
        let earlier = state.by_key.insert(key.clone(), running);
        // It leaves when the turn is gone, whatever ended it.
        let mut place = Place {
            state: Arc::downgrade(&self.state),
            count: self.count.clone(),
            key,
            generation,
            earlier,
        };
        let core = Arc::clone(&self.core);
        let mut run = Run::new(core, turn, seat, commands, lost, signs);
        state.tasks.spawn(async move {
            if run.resume().await {
                place.supersede();
                run.drive().await;
            }
            drop(place);
        });
        Ok(())
    }

    /// The turn that runs for a task.
    pub(in crate::server) fn of(&self, key: &TaskKey) -> Option<Running> {
        lock(&self.state).by_key.get(key).cloned()
    }

    /// Whether a control plane that knows sessions, and not tasks, reaches the turn of this task and
    /// no other: of the turns of its session it is the only one, or the only one that has said
    /// anything, while the others wait.
    pub(in crate::server) fn is_reached(&self, key: &TaskKey) -> bool {
        let state = lock(&self.state);
        let Some(it) = state.by_key.get(key) else {
            return false;
        };
        let begun = |running: &Running| running.signs.has_begun();
        let mut others = state
            .by_key
            .values()
            .filter(|other| other.generation != it.generation && other.session == it.session)
            .peekable();
        others.peek().is_none() || (begun(it) && !others.any(begun))
    }

    fn check_draining(&self, state: &State) -> Result<(), Error> {
        if state.draining {
            let message = "The server is shutting down";
            return Err(self.core.limits.refusal(ErrorKind::Unavailable, message));
        }
        Ok(())
    }

    /// Runs the housekeeping of the server, once, beside the turns.
    pub(in crate::server) fn keep_up(&self, upkeep: impl Future<Output = ()> + Send + 'static) {
        let mut state = lock(&self.state);
        if !state.kept_up {
            state.kept_up = true;
            state.tasks.spawn(upkeep);
        }
    }

    pub(in crate::server) fn is_kept_up(&self) -> bool {
        lock(&self.state).kept_up
    }

    /// Takes no new turns, lets those that run go on for a while, and stops them then.
    pub(in crate::server) async fn shut_down(&self, grace: Duration) {
        lock(&self.state).draining = true;
        let mut count = self.count.subscribe();
        let idle = count.wait_for(|count| *count == 0);
        if tokio::time::timeout(grace, idle).await.is_ok() {
            return;
        }
        let running: Vec<Running> = lock(&self.state).by_key.values().cloned().collect();
        for turn in running {
            // A full queue means that the turn does not answer; it is aborted below.
            let _full = turn.control.try_send(Control::ShutDown);
        }
        let idle = count.wait_for(|count| *count == 0);
        if tokio::time::timeout(LAST_WORDS, idle).await.is_err() {
            tracing::warn!("turns did not stop in time and are dropped");
        }
        lock(&self.state).tasks.abort_all();
    }
}

impl std::fmt::Debug for Runs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runs").finish_non_exhaustive()
    }
}

/// Where a turn is written down. Dropped, it takes it out of the books, if it is still the one that
/// is written there.
struct Place {
    state: Weak<Mutex<State>>,
    count: watch::Sender<usize>,
    key: TaskKey,
    generation: u64,
    /// Who had the place before, as long as it is not certain that this turn begins.
    earlier: Option<Running>,
}

impl Place {
    /// Nobody reaches the earlier turn any more.
    fn supersede(&mut self) {
        self.earlier = None;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(state) = self.state.upgrade() {
            let mut state = lock(&state);
            let current = state.by_key.get(&self.key);
            if current.is_some_and(|running| running.generation == self.generation) {
                state.by_key.remove(&self.key);
                let earlier = self.earlier.take();
                if let Some(earlier) = earlier.filter(|earlier| !earlier.control.is_closed()) {
                    state.by_key.insert(self.key.clone(), earlier);
                }
            }
        }
        self.count.send_modify(|count| *count -= 1);
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Who asks more of one turn at a time waits.
const CONTROL_QUEUE: usize = 8;
/// How long turns have to log that they were stopped.
const LAST_WORDS: Duration = Duration::from_secs(2);
