//! An agent that does what a test says, and what the tests ask of a stack.
#![allow(dead_code, unreachable_pub, reason = "each test uses its part")]

use std::{
    collections::{HashMap, VecDeque},
    convert::Infallible,
    fmt::Debug,
    future::{Ready, ready},
    io,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use futures_util::{FutureExt, Stream, StreamExt};
use portcullis::{Agent, AgentEvent, AgentExt, Extension, Failure, Json, Prompt, Scope, Usage};
use tokio::time::{Sleep, sleep};
use tower::Service;
use tracing_subscriber::{Layer as _, layer::SubscriberExt, registry::LookupSpan};

/// What an [`Actor`] does next.
#[derive(Clone, Debug)]
pub enum Do {
    Say(AgentEvent),
    Wait(Duration),
    /// Pending once, and awake at once.
    Yield,
    Hang,
    Panic,
}

/// An agent that plays a part. Clones share the counters.
#[derive(Clone, Debug, Default)]
pub struct Actor {
    part: Vec<Do>,
    /// Another part for the second run, and so on; the last one stays.
    later: Vec<Vec<Do>>,
    /// Reported to the scope's sink when a stream is dropped.
    drop_report: Option<Usage>,
    pub seen: Arc<Seen>,
}

/// What an [`Actor`] has seen.
#[derive(Debug, Default)]
pub struct Seen {
    calls: AtomicUsize,
    alive: AtomicUsize,
    polls: AtomicUsize,
    scopes: Mutex<Vec<Scope>>,
}

impl Seen {
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    /// Streams that are not dropped yet.
    pub fn alive(&self) -> usize {
        self.alive.load(Ordering::SeqCst)
    }

    pub fn polls(&self) -> usize {
        self.polls.load(Ordering::SeqCst)
    }

    pub fn last_scope(&self) -> Scope {
        self.scopes.lock().unwrap().last().unwrap().clone()
    }
}

pub fn actor(part: impl IntoIterator<Item = Do>) -> Actor {
    Actor {
        part: part.into_iter().collect(),
        ..Actor::default()
    }
}

impl Actor {
    pub fn then(mut self, part: impl IntoIterator<Item = Do>) -> Self {
        self.later.push(part.into_iter().collect());
        self
    }

    pub fn report_when_dropped(mut self, usage: Usage) -> Self {
        self.drop_report = Some(usage);
        self
    }
}

impl Service<(Scope, Prompt)> for Actor {
    type Response = Acting;
    type Error = Infallible;
    type Future = Ready<Result<Acting, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, (scope, _): (Scope, Prompt)) -> Self::Future {
        let call = self.seen.calls.fetch_add(1, Ordering::SeqCst);
        self.seen.alive.fetch_add(1, Ordering::SeqCst);
        self.seen.scopes.lock().unwrap().push(scope.clone());
        let part = match call.checked_sub(1) {
            Some(call) => self.later.get(call).or(self.later.last()),
            None => None,
        };
        ready(Ok(Acting {
            part: part.unwrap_or(&self.part).clone().into(),
            wait: None,
            drop_report: self.drop_report.clone().map(|usage| (scope, usage)),
            seen: Arc::clone(&self.seen),
        }))
    }
}

#[derive(Debug)]
pub struct Acting {
    part: VecDeque<Do>,
    wait: Option<Pin<Box<Sleep>>>,
    drop_report: Option<(Scope, Usage)>,
    seen: Arc<Seen>,
}

impl Stream for Acting {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        let this = &mut *self;
        this.seen.polls.fetch_add(1, Ordering::SeqCst);
        loop {
            if let Some(wait) = &mut this.wait {
                if wait.poll_unpin(cx).is_pending() {
                    return Poll::Pending;
                }
                this.wait = None;
            }
            match this.part.pop_front() {
                None => return Poll::Ready(None),
                Some(Do::Say(event)) => return Poll::Ready(Some(event)),
                Some(Do::Wait(time)) => this.wait = Some(Box::pin(sleep(time))),
                Some(Do::Yield) => {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Some(Do::Hang) => {
                    this.part.push_front(Do::Hang);
                    return Poll::Pending;
                }
                Some(Do::Panic) => panic!("the actor fell off the stage"),
            }
        }
    }
}

impl Drop for Acting {
    fn drop(&mut self) {
        self.seen.alive.fetch_sub(1, Ordering::SeqCst);
        if let Some((scope, usage)) = &self.drop_report
            && let Some(sink) = scope.usage_sink()
        {
            sink.report(usage);
        }
    }
}

pub fn say(text: &str) -> Do {
    Do::Say(AgentEvent::text(text))
}

pub fn done() -> Do {
    Do::Say(AgentEvent::completed())
}

pub fn fail(details: &'static str, retryable: bool) -> Do {
    Do::Say(Failure::new(details).retryable(retryable).into())
}

pub fn used(id: &str, input: u64, output: u64) -> Do {
    Do::Say(Usage::new(id).with_input(input).with_output(output).into())
}

pub fn tool(id: &str) -> Do {
    Do::Say(AgentEvent::tool_started(id, "look", Json::null()))
}

pub fn tool_ended(id: &str) -> Do {
    Do::Say(AgentEvent::tool_ended(id, false, Json::null()))
}

pub fn unknown(name: &str) -> AgentEvent {
    let members = [("n", "123456789012345678901234567890")];
    let members: HashMap<_, _> = members.into_iter().collect();
    Extension::encode(name, &members).unwrap().into()
}

pub fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub fn ask<A: Agent + Clone>(agent: &A) -> portcullis::Invoke<A> {
    agent.invoke(Scope::new("session"), Prompt::text("hello"))
}

pub async fn events<A: Agent + Clone>(agent: &A) -> Vec<AgentEvent> {
    ask(agent).collect().await
}

/// The types of events, in one line.
pub fn types(events: &[AgentEvent]) -> String {
    let types: Vec<_> = events.iter().map(AgentEvent::type_name).collect();
    types.join(" ")
}

pub fn failure(events: &[AgentEvent]) -> &Failure {
    match events.last() {
        Some(AgentEvent::Failed(failure)) => failure,
        last => panic!("not failed: {last:?}"),
    }
}

/// One event of each kind, in an order that keeps to the contract, with waits.
pub fn everything() -> Vec<Do> {
    vec![
        Do::Yield,
        Do::Say(unknown("first")),
        Do::Say(AgentEvent::thinking("hm")),
        say("a"),
        Do::Wait(secs(1)),
        tool("t1"),
        Do::Yield,
        tool_ended("t1"),
        used("call-1", 3, 4),
        Do::Say(portcullis::Retrying::new(2, 3, secs(1), "busy").into()),
        Do::Say(unknown("second")),
        say("b"),
        Do::Yield,
        Do::Say(unknown("last")),
        done(),
    ]
}

pub fn said(part: &[Do]) -> Vec<AgentEvent> {
    let said = part.iter().filter_map(|step| match step {
        Do::Say(event) => Some(event.clone()),
        _ => None,
    });
    said.collect()
}

/// The layer hands on every event as it is.
pub async fn assert_transparent<A: Agent + Clone>(make: impl Fn(Actor) -> A) {
    let actor = actor(everything());
    let agent = make(actor.clone());
    assert_eq!(events(&agent).await, said(&everything()));
    assert_eq!(actor.seen.alive(), 0);
}

/// Drops the turn after every number of polls, in every state, and asks each time
/// whether everything is gone before `drop` returns (O-D02).
pub async fn assert_drops<A: Agent + Clone>(
    part: Vec<Do>,
    make: impl Fn(Actor) -> A,
    clean: impl Fn() -> bool,
) {
    for polls in 0.. {
        let actor = actor(part.clone());
        let agent = make(actor.clone());
        let mut turn = Box::pin(ask(&agent));
        let mut ended = false;
        for _ in 0..polls {
            let polled = turn.next().now_or_never();
            if polled.is_none() {
                tokio::time::advance(Duration::from_millis(300)).await;
            }
            ended = matches!(polled, Some(None));
        }
        drop(turn);
        assert_eq!(actor.seen.alive(), 0, "dropped after {polls} polls");
        assert!(clean(), "dropped after {polls} polls");
        if ended {
            assert!(polls > 3, "it has waited and said something");
            return;
        }
    }
}

/// The five ends of a turn.
pub fn five_ends() -> [(&'static str, Vec<Do>); 5] {
    [
        ("completed", vec![say("a"), done()]),
        ("failed", vec![say("a"), fail("no", false)]),
        ("cancelled", vec![say("a"), Do::Hang]),
        ("truncated", vec![say("a")]),
        ("panicked", vec![say("a"), Do::Panic]),
    ]
}

/// Runs a turn to its end: if it hangs, it is dropped.
pub async fn to_its_end<A: Agent + Clone>(agent: &A) -> Vec<AgentEvent> {
    let mut turn = Box::pin(ask(agent));
    let mut events = Vec::new();
    let run = std::panic::AssertUnwindSafe(async {
        while let Ok(Some(event)) = tokio::time::timeout(secs(3600), turn.next()).await {
            events.push(event);
        }
    });
    let _ = run.catch_unwind().await;
    events
}

/// What was logged, as text, and the fields of spans.
#[derive(Clone, Debug, Default)]
pub struct Log {
    text: Arc<Mutex<Vec<u8>>>,
    spans: Arc<Mutex<Vec<HashMap<String, String>>>>,
    open: Arc<AtomicUsize>,
}

impl Log {
    /// Until the guard is dropped, on this thread.
    pub fn start() -> (Self, tracing::subscriber::DefaultGuard) {
        // Somebody is always interested: else a call site that another test was the first
        // to reach, without a subscriber, may stay switched off.
        static GLOBAL: std::sync::Once = std::sync::Once::new();
        GLOBAL.call_once(|| {
            let interested = tracing_subscriber::registry();
            tracing::subscriber::set_global_default(interested).expect("set once");
        });
        let log = Self::default();
        let writer = log.clone();
        let text = tracing_subscriber::fmt::layer()
            .with_ansi(false)
            .with_writer(move || writer.clone());
        let subscriber = tracing_subscriber::registry()
            .with(text.boxed())
            .with(log.clone());
        (log, tracing::subscriber::set_default(subscriber))
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.text.lock().unwrap().clone()).unwrap()
    }

    /// The fields of every span that was opened.
    pub fn spans(&self) -> Vec<HashMap<String, String>> {
        self.spans.lock().unwrap().clone()
    }

    pub fn open_spans(&self) -> usize {
        self.open.load(Ordering::SeqCst)
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Place(usize);

struct Fields<'a>(&'a mut HashMap<String, String>);

impl tracing::field::Visit for Fields<'_> {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &tracing::field::Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }
}

impl<S> tracing_subscriber::Layer<S> for Log
where
    S: tracing::Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(
        &self,
        attributes: &tracing::span::Attributes<'_>,
        id: &tracing::span::Id,
        context: tracing_subscriber::layer::Context<'_, S>,
    ) {
        let mut spans = self.spans.lock().unwrap();
        let mut fields = HashMap::new();
        attributes.record(&mut Fields(&mut fields));
        let span = context.span(id).unwrap();
        fields.insert("name".to_owned(), span.name().to_owned());
        span.extensions_mut().insert(Place(spans.len()));
        spans.push(fields);
        self.open.fetch_add(1, Ordering::SeqCst);
    }

    fn on_record(
        &self,
        id: &tracing::span::Id,
        values: &tracing::span::Record<'_>,
        context: tracing_subscriber::layer::Context<'_, S>,
    ) {
        let span = context.span(id).unwrap();
        if let Some(Place(place)) = span.extensions().get::<Place>() {
            values.record(&mut Fields(&mut self.spans.lock().unwrap()[*place]));
        }
    }

    fn on_close(&self, _: tracing::span::Id, _: tracing_subscriber::layer::Context<'_, S>) {
        self.open.fetch_sub(1, Ordering::SeqCst);
    }
}
