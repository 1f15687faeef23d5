//! `Policy`: admission first, readiness after it, and nothing left behind.

mod support;

use std::{
    collections::HashMap,
    convert::Infallible,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use futures_util::StreamExt;
use portcullis::{
    Admitted, AgentEvent, AgentExt, Failure, Policy, PolicyLayer, Prompt, Scope, agent_fn,
};
use support::{Below, Do, Guard, Log, Watch, completed, prompt, scope, text, word};
use tokio::{sync::Semaphore, time::Instant};
use tokio_test::{assert_pending, assert_ready, task};
use tower::{Layer, Service};

macro_rules! next {
    ($turn:expr) => {
        word(&assert_ready!($turn.poll_next()).expect("an event"))
    };
}

/// Admits, refuses or waits, as it is told.
#[derive(Clone)]
struct Gate {
    log: Log,
    open: Arc<AtomicBool>,
    refuses: bool,
    panics: bool,
}

impl Gate {
    fn new(log: &Log) -> Self {
        Self {
            log: log.clone(),
            open: Arc::new(AtomicBool::new(true)),
            refuses: false,
            panics: false,
        }
    }
}

struct Admit {
    gate: Gate,
    request: Option<(Scope, Prompt)>,
    _place: Guard,
}

impl Future for Admit {
    type Output = Result<(Scope, Prompt, Watch), Failure>;

    fn poll(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Self::Output> {
        if !self.gate.open.load(Ordering::SeqCst) {
            return Poll::Pending;
        }
        assert!(!self.gate.panics, "admit panics");
        if self.gate.refuses {
            return Poll::Ready(Err(Failure::new("refused")));
        }
        let (scope, prompt) = self.request.take().expect("polled once");
        Poll::Ready(Ok((scope, prompt, Watch::new(&self.gate.log, "permit"))))
    }
}

impl Policy for Gate {
    type Turn = Watch;
    type Admit = Admit;

    fn admit(&self, scope: Scope, prompt: Prompt) -> Admit {
        Admit {
            gate: self.clone(),
            request: Some((scope, prompt)),
            _place: self.log.guard("place"),
        }
    }
}

#[test]
fn an_admitted_turn_runs_and_its_permit_is_back_at_the_terminal_event() {
    let log = Log::default();
    let below = Below::new(&log, [text("a"), completed()]);
    let agent = PolicyLayer::new(Gate::new(&log)).layer(below);
    let mut turn = task::spawn(Box::pin(agent.invoke(scope(), prompt())));
    assert_eq!(next!(turn), "a");
    assert_eq!(log.take(), ["place dropped", "call"]);
    assert_eq!(next!(turn), "completed");
    let told = ["below dropped", "permit completed", "permit dropped"];
    assert_eq!(log.take(), told, "although the stream lives on");
    assert!(assert_ready!(turn.poll_next()).is_none());
    drop(turn);
    assert!(log.take().is_empty());
}

#[test]
fn a_refused_turn_is_one_failed_event_and_calls_nothing() {
    let log = Log::default();
    let mut gate = Gate::new(&log);
    gate.refuses = true;
    let agent = Admitted::new(Below::new(&log, [completed()]), gate);
    let mut turn = task::spawn(Box::pin(agent.invoke(scope(), prompt())));
    assert_eq!(next!(turn), "failed: refused");
    assert_eq!(log.take(), ["place dropped"]);
    assert!(assert_ready!(turn.poll_next()).is_none());
    assert!(assert_ready!(turn.poll_next()).is_none());
    drop(turn);
    assert!(log.take().is_empty());
}

#[test]
fn a_drop_leaves_nothing_behind_at_any_state() {
    // Called and never polled, while waiting, and at each event and `Pending`.
    for polls in 0..=5 {
        let log = Log::default();
        let gate = Gate::new(&log);
        gate.open.store(false, Ordering::SeqCst);
        let mut below = Below::new(&log, [text("a"), Do::Hang]);
        below.call_pending = 1;
        let mut agent = Admitted::new(below, gate.clone());
        let call = agent.call((scope(), prompt()));
        if polls == 0 {
            drop(call);
            assert_eq!(log.take(), ["place dropped"]);
            continue;
        }
        let Ok(events) = call.into_inner();
        let mut turn = task::spawn(Box::pin(events));
        for poll in 1..=polls {
            let _ = turn.poll_next();
            gate.open.store(poll >= 2, Ordering::SeqCst);
        }
        log.take();
        drop(turn);
        let told = log.take();
        if polls < 3 {
            assert_eq!(told, ["place dropped"], "after {polls} polls");
        } else {
            let cancelled = ["below dropped", "permit cancelled", "permit dropped"];
            assert_eq!(told, cancelled, "after {polls} polls");
        }
    }
}

#[test]
fn a_panic_of_the_admission_leaves_nothing_behind() {
    let log = Log::default();
    let mut gate = Gate::new(&log);
    gate.panics = true;
    let agent = Admitted::new(Below::new(&log, []), gate);
    let mut turn = task::spawn(Box::pin(agent.invoke(scope(), prompt())));
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| turn.poll_next()));
    assert!(panicked.is_err());
    drop(turn);
    assert_eq!(log.take(), ["place dropped"]);
}

/// Counts what is ready but not called. A clone starts unready.
struct Reserving<S> {
    inner: S,
    reserved: Arc<AtomicUsize>,
    mine: bool,
}

impl<S: Clone> Clone for Reserving<S> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            reserved: Arc::clone(&self.reserved),
            mine: false,
        }
    }
}

impl<S> Reserving<S> {
    fn release(&mut self) {
        if std::mem::take(&mut self.mine) {
            self.reserved.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

impl<S> Drop for Reserving<S> {
    fn drop(&mut self) {
        self.release();
    }
}

impl<S> Service<(Scope, Prompt)> for Reserving<S>
where
    S: Service<(Scope, Prompt), Error = Infallible>,
{
    type Response = S::Response;
    type Error = Infallible;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        if !std::mem::replace(&mut self.mine, true) {
            self.reserved.fetch_add(1, Ordering::SeqCst);
        }
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: (Scope, Prompt)) -> S::Future {
        self.release();
        self.inner.call(request)
    }
}

#[test]
fn a_turn_that_waits_reserves_nothing() {
    let log = Log::default();
    let reserved = Arc::new(AtomicUsize::new(0));
    let below = Reserving {
        inner: Below::new(&log, [completed()]),
        reserved: Arc::clone(&reserved),
        mine: false,
    };
    let gate = Gate::new(&log);
    gate.open.store(false, Ordering::SeqCst);
    let agent = Admitted::new(below, gate.clone());
    let mut turns: Vec<_> = (0..100)
        .map(|_| task::spawn(Box::pin(agent.invoke(scope(), prompt()))))
        .collect();
    for turn in &mut turns {
        assert_pending!(turn.poll_next());
    }
    assert_eq!(reserved.load(Ordering::SeqCst), 0);
    assert!(log.take().is_empty(), "nothing was called");
    gate.open.store(true, Ordering::SeqCst);
    for turn in &mut turns {
        assert_eq!(next!(turn), "completed");
    }
    assert_eq!(reserved.load(Ordering::SeqCst), 0);
}

/// A place that is held until the turn ends.
struct Place(#[expect(dead_code, reason = "held")] tokio::sync::OwnedSemaphorePermit);

impl portcullis::Turn for Place {}

type Waiting<T> = Pin<Box<dyn Future<Output = Result<(Scope, Prompt, T), Failure>> + Send>>;

/// One turn at a time of each session.
#[derive(Clone, Default)]
struct OneEach(Arc<Mutex<HashMap<String, Arc<Semaphore>>>>);

impl Policy for OneEach {
    type Turn = Place;
    type Admit = Waiting<Place>;

    fn admit(&self, scope: Scope, prompt: Prompt) -> Waiting<Place> {
        let mut sessions = self.0.lock().expect("not poisoned");
        let session = sessions
            .entry(scope.session().to_owned())
            .or_insert_with(|| Arc::new(Semaphore::new(1)));
        let session = Arc::clone(session);
        Box::pin(async move {
            let permit = session.acquire_owned().await.expect("never closed");
            Ok((scope, prompt, Place(permit)))
        })
    }
}

/// So many turns at once.
#[derive(Clone)]
struct AtMost(Arc<Semaphore>);

impl Policy for AtMost {
    type Turn = Place;
    type Admit = Waiting<Place>;

    fn admit(&self, scope: Scope, prompt: Prompt) -> Waiting<Place> {
        let places = Arc::clone(&self.0);
        Box::pin(async move {
            let permit = places.acquire_owned().await.expect("never closed");
            Ok((scope, prompt, Place(permit)))
        })
    }
}

fn slow() -> impl portcullis::Agent<Response: Send, Future: Send> + Clone + Send + Sync + 'static {
    agent_fn(async |_, _, out: portcullis::Emitter| {
        tokio::time::sleep(Duration::from_secs(10)).await;
        out.emit(AgentEvent::text("done")).await;
        Ok(())
    })
}

/// critique B2: room for two, a gate of one turn a session above it; A sends three
/// turns and B one. B is served as if A had sent one.
#[tokio::test(start_paused = true)]
async fn turns_that_queue_for_their_session_take_no_place_of_another() {
    let stacks = [
        PolicyLayer::new(OneEach::default())
            .layer(PolicyLayer::new(AtMost(Arc::new(Semaphore::new(2)))).layer(slow()))
            .boxed(),
        // tower's own limit reserves in `poll_ready`. Its permit is back when the future
        // is ready, so the work is in the future here.
        PolicyLayer::new(OneEach::default())
            .layer(tower::limit::ConcurrencyLimit::new(
                tower::service_fn(async |_: (Scope, Prompt)| {
                    tokio::time::sleep(Duration::from_secs(10)).await;
                    let done = [AgentEvent::completed()];
                    Ok::<_, Infallible>(futures_util::stream::iter(done))
                }),
                2,
            ))
            .boxed(),
    ];
    for agent in stacks {
        let start = Instant::now();
        let turns = ["a", "a", "a", "b"].map(|session| {
            let turn = agent.invoke(Scope::new(session), prompt());
            async move {
                let events: Vec<_> = turn.collect().await;
                assert!(events.last().is_some_and(AgentEvent::is_terminal));
                (session, start.elapsed().as_secs())
            }
        });
        let ends = futures_util::future::join_all(turns).await;
        assert_eq!(ends, [("a", 10), ("a", 20), ("a", 30), ("b", 10)]);
    }
}
