//! An agent that follows a script, and a log of what happened in which order.
#![allow(dead_code, reason = "each test file uses its part")]

use std::{
    collections::VecDeque,
    convert::Infallible,
    fmt,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    thread,
};

use futures_core::Stream;
use portcullis::{AgentEvent, End, Flow, Outbox, Prompt, Scope, Turn};
use tower_service::Service;

/// What happened, in order.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn push(&self, line: impl Into<String>) {
        self.0.lock().expect("not poisoned").push(line.into());
    }

    /// What was logged since the last call.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().expect("not poisoned"))
    }

    /// Logs when it is dropped.
    pub(crate) fn guard(&self, name: &'static str) -> Guard {
        Guard {
            log: self.clone(),
            name,
        }
    }
}

pub(crate) struct Guard {
    log: Log,
    name: &'static str,
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.log.push(format!("{} dropped", self.name));
    }
}

/// One step of a scripted stream.
#[derive(Clone, Debug)]
pub(crate) enum Do {
    Emit(AgentEvent),
    /// Is pending once, and says that it can go on.
    Yield,
    /// Is pending for ever.
    Hang,
    Panic,
}

pub(crate) fn text(delta: &str) -> Do {
    Do::Emit(AgentEvent::text(delta))
}

pub(crate) fn completed() -> Do {
    Do::Emit(AgentEvent::completed())
}

/// An agent that follows a script.
#[derive(Clone)]
pub(crate) struct Below {
    pub(crate) log: Log,
    pub(crate) steps: Vec<Do>,
    /// How often the call is pending.
    pub(crate) call_pending: usize,
    pub(crate) call_panics: bool,
    pub(crate) drop_panics: bool,
    pub(crate) polls: Arc<AtomicUsize>,
}

impl Below {
    pub(crate) fn new(log: &Log, steps: impl IntoIterator<Item = Do>) -> Self {
        Self {
            log: log.clone(),
            steps: steps.into_iter().collect(),
            call_pending: 0,
            call_panics: false,
            drop_panics: false,
            polls: Arc::default(),
        }
    }

    pub(crate) fn polls(&self) -> usize {
        self.polls.load(Ordering::SeqCst)
    }
}

impl Service<(Scope, Prompt)> for Below {
    type Response = Events;
    type Error = Infallible;
    type Future = Calling;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _request: (Scope, Prompt)) -> Calling {
        self.log.push("call");
        assert!(!self.call_panics, "the call panics");
        Calling {
            pending: self.call_pending,
            events: Some(Events {
                log: self.log.clone(),
                steps: self.steps.iter().cloned().collect(),
                drop_panics: self.drop_panics,
                polls: Arc::clone(&self.polls),
            }),
        }
    }
}

pub(crate) struct Calling {
    pending: usize,
    events: Option<Events>,
}

impl Future for Calling {
    type Output = Result<Events, Infallible>;

    fn poll(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.pending > 0 {
            self.pending -= 1;
            return Poll::Pending;
        }
        Poll::Ready(Ok(self.events.take().expect("polled once")))
    }
}

pub(crate) struct Events {
    log: Log,
    steps: VecDeque<Do>,
    drop_panics: bool,
    polls: Arc<AtomicUsize>,
}

impl Stream for Events {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        self.polls.fetch_add(1, Ordering::SeqCst);
        match self.steps.pop_front() {
            Some(Do::Emit(event)) => Poll::Ready(Some(event)),
            Some(Do::Yield) => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Some(Do::Hang) => {
                self.steps.push_front(Do::Hang);
                Poll::Pending
            }
            Some(Do::Panic) => panic!("the stream panics"),
            None => Poll::Ready(None),
        }
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.log.push("below dropped");
        if self.drop_panics && !thread::panicking() {
            panic!("the drop panics");
        }
    }
}

type OnEvent = Box<dyn FnMut(&mut AgentEvent, &mut Outbox) -> Flow + Send>;
type OnQuiet = Box<dyn FnMut(&mut Context<'_>, &mut Outbox) + Send>;
type OnClose = Box<dyn FnMut(&mut Context<'_>, &mut AgentEvent) -> Poll<()> + Send>;

/// A turn that logs its ends, and does what a test asks for.
pub(crate) struct Watch {
    pub(crate) log: Log,
    pub(crate) name: &'static str,
    pub(crate) on_event: Option<OnEvent>,
    pub(crate) on_quiet: Option<OnQuiet>,
    pub(crate) on_close: Option<OnClose>,
    pub(crate) log_around: bool,
    _permit: Guard,
}

impl Watch {
    pub(crate) fn new(log: &Log, name: &'static str) -> Self {
        Self {
            log: log.clone(),
            name,
            on_event: None,
            on_quiet: None,
            on_close: None,
            log_around: false,
            _permit: log.guard(name),
        }
    }

    pub(crate) fn on_event(
        mut self,
        f: impl FnMut(&mut AgentEvent, &mut Outbox) -> Flow + Send + 'static,
    ) -> Self {
        self.on_event = Some(Box::new(f));
        self
    }

    pub(crate) fn on_quiet(
        mut self,
        f: impl FnMut(&mut Context<'_>, &mut Outbox) + Send + 'static,
    ) -> Self {
        self.on_quiet = Some(Box::new(f));
        self
    }

    pub(crate) fn on_close(
        mut self,
        f: impl FnMut(&mut Context<'_>, &mut AgentEvent) -> Poll<()> + Send + 'static,
    ) -> Self {
        self.on_close = Some(Box::new(f));
        self
    }
}

impl Turn for Watch {
    fn on_event(&mut self, event: &mut AgentEvent, out: &mut Outbox) -> Flow {
        self.on_event
            .as_mut()
            .map_or(Flow::Forward, |f| f(event, out))
    }

    fn poll_quiet(&mut self, cx: &mut Context<'_>, out: &mut Outbox) {
        if let Some(f) = &mut self.on_quiet {
            f(cx, out);
        }
    }

    fn poll_close(&mut self, cx: &mut Context<'_>, last: &mut AgentEvent) -> Poll<()> {
        self.on_close
            .as_mut()
            .map_or(Poll::Ready(()), |f| f(cx, last))
    }

    fn on_end(self, end: End<'_>) {
        let end = match end {
            End::Failed(failure) => format!("failed: {failure}"),
            end => format!("{end:?}").to_lowercase(),
        };
        self.log.push(format!("{} {end}", self.name));
    }

    fn around<R>(&mut self, below: impl FnOnce() -> R) -> R {
        if !self.log_around {
            return below();
        }
        self.log.push(format!("{} enters", self.name));
        let result = below();
        self.log.push(format!("{} leaves", self.name));
        result
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watch")
    }
}

/// The events as short words.
pub(crate) fn words(events: &[AgentEvent]) -> Vec<String> {
    events.iter().map(word).collect()
}

pub(crate) fn word(event: &AgentEvent) -> String {
    match event {
        AgentEvent::Text(text) => text.delta().to_owned(),
        AgentEvent::Usage(usage) => format!("usage {}", usage.id()),
        AgentEvent::Failed(failure) => format!("failed: {failure}"),
        other => other.type_name().to_owned(),
    }
}

pub(crate) fn scope() -> Scope {
    Scope::new("s")
}

pub(crate) fn prompt() -> Prompt {
    Prompt::text("p")
}
