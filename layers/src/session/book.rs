use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::Arc,
    task::Waker,
};

use portcullis::{
    Accepted, ControlCapabilities, ControlRefusal, Fate, Inbox, InboxSender, Prompt, RefusalCode,
    SessionState, inbox,
};

use super::{Limits, live::Live};

/// Which sessions have a turn, and what became of their prompts. Every change is one step under
/// one lock, which the [desk](super::SessionDesk) holds.
///
/// What may run somebody's code, wakers and the ends of inboxes, is handed out to be dealt with when
/// the lock is gone.
pub(super) struct Book {
    limits: Limits,
    /// Those with a turn, and those whose fates are kept.
    sessions: HashMap<Arc<str>, Session>,
    /// Sessions without a turn, the one that ended first in front.
    idle: BTreeMap<u64, Arc<str>>,
    next_number: u64,
    open: usize,
}

#[derive(Default)]
struct Session {
    /// The turn that began last is the one that is reached. With a gate there is one.
    windows: Vec<Window>,
    /// By rising id.
    fates: VecDeque<(Accepted, Fate)>,
    /// Its place among the idle ones.
    idle: Option<u64>,
}

/// A turn that can be reached.
pub(super) struct Window {
    number: u64,
    live: Arc<Live>,
    /// What other runs begin with, by rising id.
    queue: VecDeque<(Accepted, Prompt)>,
    /// Out of the queue, and the run has not begun yet.
    taken: Option<Accepted>,
    /// Of the run that is under way.
    inbox: Option<InboxSender>,
    /// What was put into it, oldest first, up to what is known to be read.
    steers: VecDeque<Accepted>,
}

/// The name of a window: of its session, and nobody else's.
#[derive(Clone)]
pub(super) struct Key {
    session: Arc<str>,
    number: u64,
}

/// How a turn goes on when a run has ended.
pub(super) enum After {
    /// With another run.
    Run(Prompt),
    /// Not at all.
    Over { aborted: bool },
}

impl Book {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            sessions: HashMap::new(),
            idle: BTreeMap::new(),
            next_number: 1,
            open: 0,
        }
    }

    pub(super) const fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(super) const fn open_windows(&self) -> usize {
        self.open
    }

    pub(super) fn sessions(&self) -> usize {
        self.sessions.len()
    }

    /// Unique over windows, prompts and idle sessions, so that a session which is forgotten and comes
    /// again gives no number twice.
    fn number(&mut self) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        number
    }

    /// A turn begins.
    pub(super) fn open(&mut self, session: &str, live: Arc<Live>) -> Key {
        let number = self.number();
        let session = match self.sessions.get_key_value(session) {
            Some((session, _)) => Arc::clone(session),
            None => session.into(),
        };
        let entry = self.sessions.entry(Arc::clone(&session)).or_default();
        if let Some(idle) = entry.idle.take() {
            self.idle.remove(&idle);
        }
        entry.windows.push(Window {
            number,
            live,
            queue: VecDeque::new(),
            taken: None,
            inbox: None,
            steers: VecDeque::new(),
        });
        self.open += 1;
        Key { session, number }
    }

    /// A run begins, the first one or with a prompt that was accepted. `None` if the turn has to
    /// stop instead.
    pub(super) fn begin(&mut self, key: &Key) -> Option<Option<Inbox>> {
        let steers = self.limits.steers;
        let session = self.sessions.get_mut(&key.session)?;
        let window = session
            .windows
            .iter_mut()
            .find(|it| it.number == key.number)?;
        if window.live.is_aborted() {
            return None;
        }
        if let Some(taken) = window.taken.take() {
            set(&mut session.fates, &taken, Fate::Delivered);
        }
        if steers == 0 {
            return Some(None);
        }
        let (sender, inbox) = inbox(steers);
        window.inbox = Some(sender);
        Some(Some(inbox))
    }

    /// A run has ended well: takes the next prompt, or closes the window. One step, so that no
    /// prompt is accepted between the look and the close.
    pub(super) fn next(&mut self, key: &Key) -> (After, Leftover) {
        let takes_more = self.limits.follow_ups > 0;
        let mut leftover = Leftover::default();
        let session = self.sessions.get_mut(&key.session);
        let window = session.and_then(|session| {
            let Session { windows, fates, .. } = session;
            let window = windows.iter_mut().find(|it| it.number == key.number)?;
            leftover.inbox = window.end_run(fates, takes_more);
            Some(window)
        });
        if let Some(window) = window
            && !window.live.is_aborted()
            && let Some((accepted, prompt)) = window.queue.pop_front()
        {
            window.taken = Some(accepted);
            return (After::Run(prompt), leftover);
        }
        let aborted = self.close(key, &mut leftover);
        (After::Over { aborted }, leftover)
    }

    /// A turn is over, whatever ended it: what was accepted and still waits is dropped, and said to
    /// be. Closes no other turn's window (O-L11). Answers whether somebody had stopped it.
    pub(super) fn close(&mut self, key: &Key, leftover: &mut Leftover) -> bool {
        let Some(session) = self.sessions.get_mut(&key.session) else {
            return false;
        };
        let Some(place) = session
            .windows
            .iter()
            .position(|it| it.number == key.number)
        else {
            return false;
        };
        let mut window = session.windows.remove(place);
        self.open -= 1;
        let inbox = window.end_run(&mut session.fates, false);
        leftover.inbox = leftover.inbox.take().or(inbox);
        let waiting = window.queue.iter().map(|(accepted, _)| accepted);
        for accepted in waiting.chain(&window.taken) {
            set(&mut session.fates, accepted, Fate::Dropped);
        }
        let aborted = window.live.is_aborted();
        leftover.window = Some(window);
        self.rest(&key.session);
        aborted
    }

    /// Forgets a session that has no turn, or keeps its fates for a while.
    fn rest(&mut self, name: &Arc<str>) {
        let number = self.number();
        let Some(session) = self.sessions.get_mut(name) else {
            return;
        };
        if !session.windows.is_empty() {
            return;
        }
        if session.fates.is_empty() {
            self.sessions.remove(name);
            return;
        }
        session.idle = Some(number);
        self.idle.insert(number, Arc::clone(name));
        if self.idle.len() > self.limits.sessions
            && let Some((_, oldest)) = self.idle.pop_first()
        {
            self.sessions.remove(&oldest);
        }
    }

    /// The turn of a session that is reached, unless it is being stopped.
    fn running(&mut self, session: &str) -> Result<(&mut Window, &mut Fates), ControlRefusal> {
        let session = self.sessions.get_mut(session);
        let running = session.and_then(|session| {
            let window = session.windows.last_mut()?;
            Some((window, &mut session.fates)).filter(|(window, _)| !window.live.is_aborted())
        });
        running.ok_or_else(|| {
            let details = "the session has no turn that runs";
            ControlRefusal::new(RefusalCode::NotRunning, details)
        })
    }

    pub(super) fn steer(
        &mut self,
        session: &str,
        prompt: Prompt,
    ) -> Result<(Accepted, Option<Waker>), ControlRefusal> {
        let (accepted, most) = (Accepted::new(self.number()), self.limits.fates);
        let (window, fates) = self.running(session)?;
        window.note_steers(fates);
        let inbox = window.inbox.as_ref().ok_or_else(|| {
            let details = "the turn takes no steering now";
            ControlRefusal::new(RefusalCode::Unsupported, details)
        })?;
        let reader = inbox.put(prompt)?;
        window.steers.push_back(accepted.clone());
        add(fates, accepted.clone(), most);
        Ok((accepted, reader))
    }

    pub(super) fn follow_up(
        &mut self,
        session: &str,
        prompt: Prompt,
    ) -> Result<Accepted, ControlRefusal> {
        let (accepted, limits) = (Accepted::new(self.number()), self.limits);
        let (window, fates) = self.running(session)?;
        if limits.follow_ups == 0 {
            let details = "the turn takes no follow-ups";
            return Err(ControlRefusal::new(RefusalCode::Unsupported, details));
        }
        if window.queue.len() >= limits.follow_ups {
            let details = "too many prompts wait for the turn";
            return Err(ControlRefusal::new(RefusalCode::QueueFull, details));
        }
        window.queue.push_back((accepted.clone(), prompt));
        add(fates, accepted.clone(), limits.fates);
        Ok(accepted)
    }

    /// Stops the turn. It is to be woken then.
    pub(super) fn abort(&mut self, session: &str) -> Result<Arc<Live>, ControlRefusal> {
        let (window, _) = self.running(session)?;
        window.live.mark_aborted();
        Ok(Arc::clone(&window.live))
    }

    pub(super) fn live(&self, session: &str) -> Option<Arc<Live>> {
        let window = self.sessions.get(session)?.windows.last()?;
        Some(Arc::clone(&window.live))
    }

    pub(super) fn capabilities(&mut self, session: &str) -> ControlCapabilities {
        let follow_up = self.limits.follow_ups > 0;
        let mut can = ControlCapabilities::default();
        if let Ok((window, _)) = self.running(session) {
            can.steer = window.inbox.as_ref().is_some_and(InboxSender::is_taken);
            can.follow_up = follow_up;
            can.abort = true;
        }
        can
    }

    pub(super) fn state(&mut self, session: &str) -> SessionState {
        let mut state = SessionState::default();
        if let Some(session) = self.sessions.get_mut(session) {
            for window in &mut session.windows {
                window.note_steers(&mut session.fates);
            }
            state.running = !session.windows.is_empty();
            state.fates = session.fates.iter().cloned().collect();
        }
        state
    }
}

type Fates = VecDeque<(Accepted, Fate)>;

/// A prompt is accepted.
fn add(fates: &mut Fates, accepted: Accepted, most: usize) {
    fates.push_back((accepted, Fate::Queued));
    if fates.len() > most
        // What waits is bounded by the queues, and never forgotten.
        && let Some(oldest) = fates.iter().position(|(_, fate)| *fate != Fate::Queued)
    {
        fates.remove(oldest);
    }
}

fn set(fates: &mut Fates, accepted: &Accepted, fate: Fate) {
    if let Ok(place) = fates.binary_search_by_key(&accepted.id(), |(accepted, _)| accepted.id()) {
        fates[place].1 = fate;
    }
}

impl Window {
    /// Notes what the engine has read of its inbox.
    fn note_steers(&mut self, fates: &mut Fates) {
        let Some(inbox) = &self.inbox else { return };
        let waiting = inbox.waiting();
        while self.steers.len() > waiting
            && let Some(read) = self.steers.pop_front()
        {
            set(fates, &read, Fate::Delivered);
        }
    }

    /// A run is over. What it has not read of its inbox, another one may begin with, in the order in
    /// which everything was accepted.
    fn end_run(&mut self, fates: &mut Fates, takes_more: bool) -> Option<InboxSender> {
        let inbox = self.inbox.take()?;
        let unread = inbox.close();
        while self.steers.len() > unread.len()
            && let Some(read) = self.steers.pop_front()
        {
            set(fates, &read, Fate::Delivered);
        }
        let unread = self.steers.drain(..).zip(unread);
        if takes_more {
            self.queue.extend(unread);
            let queue = self.queue.make_contiguous();
            queue.sort_unstable_by_key(|(accepted, _)| accepted.id());
        } else {
            unread.for_each(|(accepted, _)| set(fates, &accepted, Fate::Dropped));
        }
        Some(inbox)
    }
}

/// What is dropped when the lock is gone.
#[derive(Default)]
pub(super) struct Leftover {
    inbox: Option<InboxSender>,
    window: Option<Window>,
}
