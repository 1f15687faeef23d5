use std::{collections::VecDeque, task::Waker};

use super::observer::Observer;
use crate::{
    Accepted, AgentEvent, ControlCapabilities, ControlRefusal, Fate, InboxSender, Prompt, Scope,
    SessionState, inbox,
};

/// How many prompts wait at most.
const CAPACITY: usize = 16;

/// One session: at most one turn, and what became of the prompts.
#[derive(Default)]
pub(super) struct Session {
    accepted: u64,
    fates: Vec<(Accepted, Fate)>,
    turn: Option<Running>,
    turns: u64,
}

struct Running {
    number: u64,
    inbox: InboxSender,
    /// What was sent to the inbox, oldest first.
    steers: Vec<Accepted>,
    follow_ups: VecDeque<(Accepted, Prompt)>,
    aborted: bool,
    waker: Option<Waker>,
    observers: Vec<Observer>,
}

impl Session {
    /// A turn begins; returns its number.
    pub(super) fn begin(&mut self, scope: &mut Scope) -> u64 {
        self.end(self.turns);
        let (sender, inbox) = inbox(CAPACITY);
        InboxSender::offer(inbox, scope);
        self.turns += 1;
        self.turn = Some(Running {
            number: self.turns,
            inbox: sender,
            steers: Vec::new(),
            follow_ups: VecDeque::new(),
            aborted: false,
            waker: None,
            observers: Vec::new(),
        });
        self.turns
    }

    /// A turn is over; what it did not take is dropped.
    pub(super) fn end(&mut self, number: u64) {
        let Some(turn) = self.turn.take_if(|turn| turn.number == number) else {
            return;
        };
        let fates = turn.fates().into_iter().map(|(accepted, fate)| {
            let fate = match fate {
                Fate::Queued => Fate::Dropped,
                fate => fate,
            };
            (accepted, fate)
        });
        self.fates.extend(fates);
        turn.observers.iter().for_each(Observer::end);
    }

    pub(super) const fn is_running(&self) -> bool {
        self.turn.is_some()
    }

    pub(super) fn capabilities(&self) -> ControlCapabilities {
        let mut capabilities = ControlCapabilities::default();
        if let Some(turn) = &self.turn {
            capabilities.steer = turn.inbox.is_taken();
            capabilities.follow_up = true;
            capabilities.abort = true;
        }
        capabilities
    }

    pub(super) fn steer(&mut self, prompt: Prompt) -> Result<Accepted, ControlRefusal> {
        let accepted = Accepted::new(self.accepted);
        if let Some(turn) = &mut self.turn {
            turn.inbox.send(prompt)?;
            turn.steers.push(accepted.clone());
        }
        self.accepted += 1;
        Ok(accepted)
    }

    pub(super) fn follow_up(&mut self, prompt: Prompt) -> Result<Accepted, ControlRefusal> {
        let accepted = Accepted::new(self.accepted);
        if let Some(turn) = &mut self.turn {
            if turn.follow_ups.len() >= CAPACITY {
                let details = "too many prompts wait for the turn";
                return Err(ControlRefusal::new(crate::RefusalCode::QueueFull, details));
            }
            turn.follow_ups.push_back((accepted.clone(), prompt));
        }
        self.accepted += 1;
        Ok(accepted)
    }

    pub(super) fn take_follow_up(&mut self) -> Option<Prompt> {
        let (accepted, prompt) = self.turn.as_mut()?.follow_ups.pop_front()?;
        self.fates.push((accepted, Fate::Delivered));
        Some(prompt)
    }

    /// Returns who is to be woken.
    pub(super) fn abort(&mut self) -> Option<Waker> {
        let turn = self.turn.as_mut()?;
        turn.aborted = true;
        turn.waker.take()
    }

    /// Whether the turn has to stop; if not, `waker` is woken when it has.
    pub(super) fn is_aborted(&mut self, number: u64, waker: Option<&Waker>) -> bool {
        let Some(turn) = self.turn.as_mut().filter(|turn| turn.number == number) else {
            return false;
        };
        if let Some(waker) = waker {
            turn.waker = Some(waker.clone());
        }
        turn.aborted
    }

    pub(super) fn observe(&mut self, observer: Observer) {
        if let Some(turn) = &mut self.turn {
            turn.observers.push(observer);
        }
    }

    pub(super) fn tell(&self, number: u64, event: &AgentEvent) {
        if let Some(turn) = self.turn.as_ref().filter(|turn| turn.number == number) {
            turn.observers.iter().for_each(|it| it.tell(event.clone()));
        }
    }

    pub(super) fn state(&self) -> SessionState {
        let mut state = SessionState {
            running: self.is_running(),
            fates: self.fates.clone(),
        };
        if let Some(turn) = &self.turn {
            state.fates.extend(turn.fates());
        }
        state.fates.sort_by_key(|(accepted, _)| accepted.id());
        state
    }
}

impl Running {
    fn fates(&self) -> Vec<(Accepted, Fate)> {
        let delivered = self.steers.len().saturating_sub(self.inbox.waiting());
        let steers = self.steers.iter().enumerate().map(|(place, accepted)| {
            let fate = if place < delivered {
                Fate::Delivered
            } else {
                Fate::Queued
            };
            (accepted.clone(), fate)
        });
        let follow_ups = self.follow_ups.iter();
        steers
            .chain(follow_ups.map(|(accepted, _)| (accepted.clone(), Fate::Queued)))
            .collect()
    }
}
