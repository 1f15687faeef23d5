use std::{collections::VecDeque, fmt};

use super::Flow;
use crate::{AgentEvent, Failure};

/// What a layer adds to the stream of its turn.
///
/// Everything rare sits behind one pointer, so that a turn that adds nothing pays for
/// one comparison an event.
#[derive(Default)]
pub struct Outbox {
    rare: Option<Box<Rare>>,
}

#[derive(Default)]
struct Rare {
    before: Vec<AgentEvent>,
    after: Vec<AgentEvent>,
    /// The terminal event that a layer asked for.
    cut: Option<AgentEvent>,
    /// Ready to leave.
    queue: VecDeque<AgentEvent>,
    /// The terminal event that leaves when the queue is empty and the epilogue is over.
    last: Option<AgentEvent>,
}

impl Outbox {
    pub(super) const fn new() -> Self {
        Self { rare: None }
    }

    fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Adds an event before the one that is looked at. A terminal one ends the turn, as
    /// [`fail`](Self::fail) does.
    pub fn before(&mut self, event: impl Into<AgentEvent>) {
        let event = event.into();
        if event.is_terminal() {
            self.rare().cut.get_or_insert(event);
        } else {
            self.rare().before.push(event);
        }
    }

    /// Adds an event after the one that is looked at; before it, if that is terminal. A
    /// terminal one ends the turn, as [`fail`](Self::fail) does.
    pub fn after(&mut self, event: impl Into<AgentEvent>) {
        let event = event.into();
        if event.is_terminal() {
            self.rare().cut.get_or_insert(event);
        } else {
            self.rare().after.push(event);
        }
    }

    /// Cuts the turn: what is below is dropped in this very poll. With
    /// [`Flow::Forward`] the event that is looked at is delivered and the failure comes
    /// next, with [`Flow::Skip`] the failure comes in its place.
    ///
    /// The first call counts. If the event is terminal already, `Forward` keeps it and
    /// the failure is dropped.
    pub fn fail(&mut self, failure: Failure) {
        self.rare().cut.get_or_insert(AgentEvent::Failed(failure));
    }

    /// Whether there is nothing to do but to forward.
    pub(super) const fn is_idle(&self) -> bool {
        self.rare.is_none()
    }

    /// Files what a layer said of `event`. Returns whether the turn is cut or over.
    pub(super) fn file(&mut self, event: Option<AgentEvent>, flow: Flow) -> bool {
        let rare = self.rare();
        rare.queue.extend(rare.before.drain(..));
        match event {
            Some(event) if event.is_terminal() => {
                rare.last = Some(match (rare.cut.take(), flow) {
                    (Some(cut), Flow::Skip) => cut,
                    (_, _) => event,
                });
            }
            event => {
                rare.queue.extend(event.filter(|_| flow == Flow::Forward));
                rare.last = rare.cut.take();
            }
        }
        rare.queue.extend(rare.after.drain(..));
        rare.last.is_some()
    }

    /// The next event that is ready to leave.
    pub(super) fn pop(&mut self) -> Option<AgentEvent> {
        self.rare.as_mut()?.queue.pop_front()
    }

    /// The terminal event, while it waits for the epilogue.
    pub(super) fn last(&mut self) -> Option<&mut AgentEvent> {
        self.rare.as_mut()?.last.as_mut()
    }

    /// Takes what is left, and becomes idle.
    pub(super) fn clear(&mut self) -> Option<AgentEvent> {
        self.rare.take()?.last
    }
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outbox")
            .field("idle", &self.is_idle())
            .finish_non_exhaustive()
    }
}
