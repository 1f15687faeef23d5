//! `Script` and `from_fn`: a layer that invokes again, as an async function.

mod support;

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use futures_util::{FutureExt, StreamExt};
use portcullis::{
    Agent, AgentEvent, AgentExt, BoxAgent, Emitter, Failure, Finish, Next, Prompt, Scope, Script,
    ScriptLayer, Usage, UsageSink, agent_fn, from_fn,
};
use support::{Below, Do, Log, completed, prompt, scope, text, word, words};
use tokio_test::{assert_pending, assert_ready, task};
use tower::{Layer, ServiceBuilder};

macro_rules! next {
    ($turn:expr) => {
        word(&assert_ready!($turn.poll_next()).expect("an event"))
    };
}

/// Shows `times` runs, the last one by handing it over after its first event.
#[derive(Clone)]
struct Again {
    times: usize,
    log: Log,
}

impl<S> Script<S> for Again
where
    S: Agent<Future: Send, Response: Send> + Clone + Send + Sync + 'static,
{
    async fn run(
        self,
        scope: Scope,
        prompt: Prompt,
        mut next: Next<S>,
        out: Emitter,
    ) -> Result<Finish<S>, Failure> {
        let _script = self.log.guard("script");
        for _ in 1..self.times {
            let mut run = Box::pin(next.invoke(scope.clone(), prompt.clone()));
            while let Some(event) = run.next().await {
                if event.is_terminal() {
                    break;
                }
                out.emit(event).await;
            }
        }
        Ok(next.invoke(scope, prompt).into())
    }
}

fn again(times: usize, log: &Log) -> ScriptLayer<Again> {
    ScriptLayer::new(Again {
        times,
        log: log.clone(),
    })
}

#[test]
fn a_run_that_is_handed_over_outlives_the_script() {
    let log = Log::default();
    let below = Below::new(&log, [text("a"), completed()]);
    let agent = again(2, &log).layer(below.clone());
    let mut turn = task::spawn(Box::pin(agent.invoke(scope(), prompt())));
    assert_eq!(next!(turn), "a");
    assert_eq!(log.take(), ["call"]);
    assert_eq!(next!(turn), "a");
    let told = ["below dropped", "script dropped", "call"];
    assert_eq!(log.take(), told, "the first run is gone before the next");
    assert_eq!(next!(turn), "completed");
    assert_eq!(log.take(), ["below dropped"]);
    assert!(assert_ready!(turn.poll_next()).is_none());
    assert_eq!(below.polls(), 4);
}

#[test]
fn a_drop_takes_script_and_run_with_it_at_any_state() {
    for polls in 1..=6 {
        let log = Log::default();
        let mut below = Below::new(&log, [Do::Yield, text("a"), completed()]);
        below.call_pending = 1;
        let agent = again(2, &log).layer(below);
        let mut turn = task::spawn(Box::pin(agent.invoke(scope(), prompt())));
        for _ in 0..polls {
            let _ = turn.poll_next();
        }
        drop(turn);
        let told = log.take();
        let count = |line: &str| told.iter().filter(|told| *told == line).count();
        assert_eq!(count("call"), count("below dropped"), "{polls}: {told:?}");
        assert_eq!(count("script dropped"), 1, "{polls}: {told:?}");
    }
}

#[test]
fn a_bare_end_and_a_panic_below_pass_as_they_are() {
    let log = Log::default();
    let agent = again(1, &log).layer(Below::new(&log, [text("a")]));
    let events: Vec<_> = agent
        .invoke(scope(), prompt())
        .collect()
        .now_or_never()
        .expect("ready");
    assert_eq!(words(&events), ["a"]);

    for times in 1..=2 {
        let log = Log::default();
        let agent = again(times, &log).layer(Below::new(&log, [Do::Panic]));
        let turn = agent.invoke(scope(), prompt()).collect::<Vec<_>>();
        let turn = std::panic::AssertUnwindSafe(turn).catch_unwind();
        assert!(turn.now_or_never().expect("ready").is_err());
        let told = log.take();
        assert!(told.contains(&"below dropped".to_owned()), "{told:?}");
        assert!(told.contains(&"script dropped".to_owned()), "{told:?}");
    }
}

#[test]
fn the_function_may_end_the_turn_by_itself() {
    let log = Log::default();
    for (answer, end) in [("yes", "completed"), ("no", "failed: no")] {
        let layer = from_fn(
            move |_, _, _next: Next<BoxAgent>, out: Emitter| async move {
                out.emit(AgentEvent::text(answer)).await;
                if answer == "no" {
                    return Err(Failure::new("no"));
                }
                Ok(())
            },
        );
        let agent = layer.layer(Below::new(&log, [completed()]));
        let mut turn = task::spawn(agent.invoke(scope(), prompt()));
        assert_eq!(next!(turn), answer);
        assert_eq!(next!(turn), end);
        assert!(assert_ready!(turn.poll_next()).is_none());
    }
    assert!(log.take().is_empty(), "nothing was called");
}

#[test]
fn a_relay_ends_with_the_terminal_event_that_it_emits() {
    let log = Log::default();
    let relay = from_fn(
        async |scope, prompt, mut next: Next<BoxAgent>, out: Emitter| {
            let mut run = next.invoke(scope, prompt);
            while let Some(event) = run.next().await {
                out.emit(event).await;
            }
            Err::<(), _>(Failure::new("nothing came to an end"))
        },
    );
    let agent = relay.layer(Below::new(&log, [text("a"), completed()]));
    let mut turn = task::spawn(agent.invoke(scope(), prompt()));
    assert_eq!(next!(turn), "a");
    assert_eq!(next!(turn), "completed");
    assert_eq!(log.take(), ["call", "below dropped"]);
    assert!(assert_ready!(turn.poll_next()).is_none());
}

#[test]
fn readiness_is_part_of_each_run() {
    let log = Log::default();
    let mut agent = again(1, &log).layer(NeverReady);
    let mut readiness = task::spawn(());
    use tower::Service;
    assert!(readiness.enter(|cx, _| agent.poll_ready(cx)).is_ready());
    let mut turn = task::spawn(Box::pin(agent.invoke(scope(), prompt())));
    assert_pending!(turn.poll_next());
}

#[derive(Clone)]
struct NeverReady;

impl tower::Service<(Scope, Prompt)> for NeverReady {
    type Response = futures_util::stream::Empty<AgentEvent>;
    type Error = std::convert::Infallible;
    type Future = std::future::Ready<Result<Self::Response, Self::Error>>;

    fn poll_ready(
        &mut self,
        _cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Result<(), Self::Error>> {
        std::task::Poll::Pending
    }

    fn call(&mut self, _request: (Scope, Prompt)) -> Self::Future {
        panic!("called although it is not ready")
    }
}

/// Reports `turn`, and names that look as if a script had made them.
fn billed() -> impl Agent<Response: Send, Future: Send> + Clone + Send + Sync + 'static {
    agent_fn(async |scope: Scope, _, out: Emitter| {
        for id in ["turn", "2/turn", "x/y", "/z"] {
            let usage = Usage::new(id);
            if let Some(sink) = scope.usage_sink() {
                sink.report(&usage);
            }
            out.emit(usage).await;
        }
        Ok(())
    })
}

#[tokio::test]
async fn usage_ids_of_several_and_nested_runs_are_unique_in_stream_and_sink() {
    let log = Log::default();
    let agent = ServiceBuilder::new()
        .layer(again(3, &log))
        .layer(again(2, &log))
        .layer(again(2, &log))
        .service(billed());
    let sunk: Arc<Mutex<Vec<String>>> = Arc::default();
    let mut scope = scope();
    scope.add_usage_sink(UsageSink::new({
        let sunk = Arc::clone(&sunk);
        move |usage| {
            sunk.lock()
                .expect("not poisoned")
                .push(usage.id().to_owned())
        }
    }));
    let events: Vec<_> = agent.invoke(scope, prompt()).collect().await;
    let ids: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            AgentEvent::Usage(usage) => Some(usage.id().to_owned()),
            _ => None,
        })
        .collect();
    assert_eq!(ids.len(), 3 * 2 * 2 * 4);
    assert_eq!(
        ids.iter().collect::<BTreeSet<_>>().len(),
        ids.len(),
        "{ids:?}"
    );
    assert_eq!(ids[0], "turn", "a first run keeps its ids");
    assert_eq!(
        *sunk.lock().expect("not poisoned"),
        ids,
        "the sink has the same"
    );
}

#[tokio::test]
async fn runs_that_overlap_have_ids_of_their_own() {
    let both = from_fn(
        async |scope: Scope, prompt: Prompt, mut next: Next<BoxAgent>, out: Emitter| {
            let first = next.invoke(scope.clone(), prompt.clone());
            let second = next.invoke(scope, prompt);
            let mut events = futures_util::stream::select(first, second);
            while let Some(event) = events.next().await {
                if !event.is_terminal() {
                    out.emit(event).await;
                }
            }
            Ok(())
        },
    );
    let agent = both.layer(billed());
    let events: Vec<_> = agent.invoke(scope(), prompt()).collect().await;
    let ids: BTreeSet<_> = words(&events).into_iter().collect();
    assert_eq!(ids.len(), events.len());
}

#[tokio::test]
async fn a_sink_that_only_an_engine_in_its_drop_reaches_is_numbered_too() {
    struct Engine(Option<UsageSink>);
    impl Drop for Engine {
        fn drop(&mut self) {
            if let Some(sink) = &self.0 {
                sink.report(&Usage::new("turn"));
            }
        }
    }
    let log = Log::default();
    let agent = again(2, &log).layer(agent_fn(async |scope: Scope, _, out: Emitter| {
        let _engine = Engine(scope.usage_sink().cloned());
        out.emit(AgentEvent::text("a")).await;
        out.emit(AgentEvent::text("b")).await;
        Ok(())
    }));
    let sunk: Arc<Mutex<Vec<String>>> = Arc::default();
    let mut scope = scope();
    scope.add_usage_sink(UsageSink::new({
        let sunk = Arc::clone(&sunk);
        move |usage| {
            sunk.lock()
                .expect("not poisoned")
                .push(usage.id().to_owned())
        }
    }));
    let mut turn = Box::pin(agent.invoke(scope, prompt()));
    for _ in 0..3 {
        turn.next().await;
    }
    drop(turn);
    assert_eq!(*sunk.lock().expect("not poisoned"), ["turn", "2/turn"]);
}
