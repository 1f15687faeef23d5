use std::{
    collections::VecDeque,
    convert::Infallible,
    fmt,
    future::{Ready, ready},
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::Stream;
use portcullis::{BoxAgent, BoxEventStream, Scope};
use tokio::time::{Instant, Sleep, sleep};
use tower_service::Service;

use super::{Coalescing, EVENTS_EXTENSION, Reducer, events_extension::narrow, prompt_of};
use crate::server::{Emission, RequestContext};

/// An agent as an executor: for one that hands some requests to an agent and answers others
/// itself. A server of nothing but an agent is [`Server::agent`](super::super::Server::agent).
#[derive(Clone)]
pub struct AgentExecutor {
    agent: BoxAgent,
    coalescing: Coalescing,
}

impl AgentExecutor {
    /// The updates of this agent, its text coalesced.
    #[must_use]
    pub const fn new(agent: BoxAgent, coalescing: Coalescing) -> Self {
        Self { agent, coalescing }
    }
}

impl fmt::Debug for AgentExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentExecutor")
            .field("coalescing", &self.coalescing)
            .finish_non_exhaustive()
    }
}

impl Service<RequestContext> for AgentExecutor {
    type Response = AgentEmissions;
    type Error = Infallible;
    type Future = Ready<Result<AgentEmissions, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        // A boxed agent becomes ready within the turn.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, context: RequestContext) -> Self::Future {
        let artifacts = context.task().map_or(0, |task| task.artifacts.len());
        let shows_events = context.is_active(EVENTS_EXTENSION);
        let reducer = Reducer::new(artifacts, shows_events, self.coalescing);
        let prompt = prompt_of(context.message());
        let events = portcullis::AgentExt::invoke(&self.agent, scope_of(context), prompt);
        ready(Ok(AgentEmissions {
            events: Some(BoxEventStream::new(events)),
            reducer,
            interval: self.coalescing.interval,
            alarm: None,
            ready: VecDeque::new(),
            reduced: Vec::new(),
        }))
    }
}

/// Where the turn takes place: session, source, tenant and principal; what the caller's own scope
/// binds it to; among the extensions the trace that it belongs to, where the caller calls from, and
/// the request itself.
fn scope_of(context: RequestContext) -> Scope {
    let mut scope = Scope::new(context.session()).with_source("a2a");
    if let Some(tenant) = context.tenant() {
        scope = scope.with_tenant(tenant);
    }
    scope.set_principal(context.principal().cloned());
    if context.is_active(EVENTS_EXTENSION) {
        scope = narrow(scope, context.metadata(), Instant::now().into_std());
    }
    if let Some(trace) = context.trace() {
        scope.extensions_mut().insert(trace.clone());
    }
    if let Some(peer) = context.peer() {
        scope.extensions_mut().insert(peer);
    }
    scope.extensions_mut().insert(context);
    scope
}

/// The updates of one turn.
pub struct AgentEmissions {
    /// `None` once the terminal event has come.
    events: Option<BoxEventStream>,
    reducer: Reducer,
    interval: std::time::Duration,
    /// When text that waits has to go out. Kept while text waits.
    alarm: Option<Pin<Box<Sleep>>>,
    ready: VecDeque<Emission>,
    reduced: Vec<Emission>,
}

impl AgentEmissions {
    /// Text has waited long enough.
    fn poll_alarm(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if !self.reducer.holds_text() {
            self.alarm = None;
            return Poll::Pending;
        }
        let interval = self.interval;
        let alarm = self.alarm.get_or_insert_with(|| Box::pin(sleep(interval)));
        alarm.as_mut().poll(cx)
    }
}

impl fmt::Debug for AgentEmissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentEmissions").finish_non_exhaustive()
    }
}

impl Stream for AgentEmissions {
    type Item = Emission;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Emission>> {
        let this = &mut *self;
        loop {
            if let Some(emission) = this.ready.pop_front() {
                return Poll::Ready(Some(emission));
            }
            let Some(events) = &mut this.events else {
                return Poll::Ready(None);
            };
            // Event first, then clock.
            match Pin::new(events).poll_next(cx) {
                Poll::Ready(Some(event)) => {
                    if event.is_terminal() {
                        this.events = None;
                    }
                    this.reducer.reduce(event, &mut this.reduced);
                }
                Poll::Ready(None) => {
                    this.events = None;
                    this.reducer.cut(&mut this.reduced);
                }
                Poll::Pending => {
                    std::task::ready!(this.poll_alarm(cx));
                    this.reducer.flush(&mut this.reduced);
                    this.alarm = None;
                }
            }
            this.ready.extend(this.reduced.drain(..));
        }
    }
}
