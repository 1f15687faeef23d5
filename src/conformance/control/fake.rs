use std::{
    collections::HashMap,
    fmt,
    future::ready,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{FakeTurn, observer::Observer, session::Session};
use crate::{
    Accepted, BoxEventStream, ControlCapabilities, ControlFuture, ControlRefusal, MakeTurn, Prompt,
    RefusalCode, Scope, SessionControl, SessionState,
};

/// A [`SessionControl`] in memory: what an edge is tested against, without a session
/// layer.
///
/// It watches turns, as a [`MakeTurn`]: it offers each an [`Inbox`](crate::Inbox), lets
/// observers see the events, and cuts the turn at an abort. It invokes nothing again: an accepted
/// follow-up waits until a test takes it with [`take_follow_up`](Self::take_follow_up).
///
/// ```
/// use portcullis::{
///     AgentEvent, AgentExt, Prompt, Scope, SessionControl, TurnLayer,
///     conformance::{FakeSessionControl, ProbeAgent},
/// };
/// use futures_util::StreamExt;
/// use tower_layer::Layer;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let control = FakeSessionControl::new();
/// let agent = TurnLayer::new(control.clone()).layer(ProbeAgent::new().text("a").hang());
/// let mut turn = agent.invoke(Scope::new("s"), Prompt::text("p"));
/// assert_eq!(turn.next().await, Some(AgentEvent::text("a")));
/// control.abort("s").await.expect("a turn runs");
/// assert!(matches!(turn.next().await, Some(AgentEvent::Failed(_))));
/// assert!(!control.state("s").await.running);
/// # }
/// ```
#[derive(Clone, Default)]
pub struct FakeSessionControl(Arc<Mutex<HashMap<String, Session>>>);

impl FakeSessionControl {
    /// A control plane that knows no session.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The next follow-up that was accepted. It counts as delivered.
    #[must_use]
    pub fn take_follow_up(&self, session: &str) -> Option<Prompt> {
        self.sessions().get_mut(session)?.take_follow_up()
    }

    pub(super) fn sessions(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the running turn of a session says to something.
    fn running<T>(
        &self,
        session: &str,
        ask: impl FnOnce(&mut Session) -> Result<T, ControlRefusal>,
    ) -> Result<T, ControlRefusal> {
        match self.sessions().get_mut(session) {
            Some(session) if session.is_running() => ask(session),
            _ => Err(ControlRefusal::new(
                RefusalCode::NotRunning,
                "the session has no turn that runs",
            )),
        }
    }
}

impl MakeTurn for FakeSessionControl {
    type Turn = FakeTurn;

    fn make_turn(&self, scope: &mut Scope, _prompt: &mut Prompt) -> FakeTurn {
        let session = scope.session().to_owned();
        let mut sessions = self.sessions();
        let turn = sessions.entry(session.clone()).or_default().begin(scope);
        FakeTurn::new(self.clone(), session, turn)
    }
}

impl SessionControl for FakeSessionControl {
    fn capabilities<'a>(&'a self, session: &'a str) -> ControlFuture<'a, ControlCapabilities> {
        let sessions = self.sessions();
        let capabilities = sessions.get(session).map(Session::capabilities);
        Box::pin(ready(capabilities.unwrap_or_default()))
    }

    fn steer<'a>(
        &'a self,
        session: &'a str,
        prompt: Prompt,
    ) -> ControlFuture<'a, Result<Accepted, ControlRefusal>> {
        let accepted = self.running(session, |session| session.steer(prompt));
        Box::pin(ready(accepted))
    }

    fn follow_up<'a>(
        &'a self,
        session: &'a str,
        prompt: Prompt,
    ) -> ControlFuture<'a, Result<Accepted, ControlRefusal>> {
        let accepted = self.running(session, |session| session.follow_up(prompt));
        Box::pin(ready(accepted))
    }

    fn abort<'a>(&'a self, session: &'a str) -> ControlFuture<'a, Result<(), ControlRefusal>> {
        let waker = self.running(session, |session| Ok(session.abort()));
        Box::pin(ready(waker.map(|waker| {
            if let Some(waker) = waker {
                waker.wake();
            }
        })))
    }

    fn state<'a>(&'a self, session: &'a str) -> ControlFuture<'a, SessionState> {
        let sessions = self.sessions();
        let state = sessions.get(session).map(Session::state);
        Box::pin(ready(state.unwrap_or_default()))
    }

    fn events<'a>(&'a self, session: &'a str) -> ControlFuture<'a, Option<BoxEventStream>> {
        let observer = Observer::new();
        let observed = self.running(session, |session| {
            session.observe(observer.clone());
            Ok(BoxEventStream::new(observer))
        });
        Box::pin(ready(observed.ok()))
    }
}

impl fmt::Debug for FakeSessionControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sessions = self.sessions();
        let states = sessions
            .iter()
            .map(|(name, session)| (name, session.state()));
        f.debug_map().entries(states).finish()
    }
}
