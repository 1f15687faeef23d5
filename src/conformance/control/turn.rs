use std::{
    fmt,
    task::{Context, Poll, Waker},
};

use super::FakeSessionControl;
use crate::{AgentEvent, End, Failure, FailureCode, Flow, Outbox, Turn};

/// What a [`FakeSessionControl`] does during a turn.
pub struct FakeTurn {
    control: FakeSessionControl,
    session: String,
    number: u64,
}

impl FakeTurn {
    pub(super) const fn new(control: FakeSessionControl, session: String, number: u64) -> Self {
        Self {
            control,
            session,
            number,
        }
    }

    fn is_aborted(&self, waker: Option<&Waker>) -> bool {
        let mut sessions = self.control.sessions();
        let session = sessions.get_mut(&self.session);
        session.is_some_and(|session| session.is_aborted(self.number, waker))
    }

    fn tell(&self, event: &AgentEvent) {
        if let Some(session) = self.control.sessions().get(&self.session) {
            session.tell(self.number, event);
        }
    }
}

fn aborted() -> Failure {
    Failure::with_code(FailureCode::ABORTED, "the turn was stopped")
}

impl Turn for FakeTurn {
    fn on_event(&mut self, event: &mut AgentEvent, out: &mut Outbox) -> Flow {
        if self.is_aborted(None) && !event.is_terminal() {
            out.fail(aborted());
            return Flow::Skip;
        }
        if !event.is_terminal() {
            self.tell(event);
        }
        Flow::Forward
    }

    fn poll_quiet(&mut self, cx: &mut Context<'_>, out: &mut Outbox) {
        if self.is_aborted(Some(cx.waker())) {
            out.fail(aborted());
        }
    }

    fn poll_close(&mut self, _cx: &mut Context<'_>, last: &mut AgentEvent) -> Poll<()> {
        self.tell(last);
        Poll::Ready(())
    }

    fn on_end(self, _end: End<'_>) {
        if let Some(session) = self.control.sessions().get_mut(&self.session) {
            session.end(self.number);
        }
    }
}

impl fmt::Debug for FakeTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeTurn")
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}
