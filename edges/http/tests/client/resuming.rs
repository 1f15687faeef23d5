//! Turns that are taken up again where they were cut.

use std::{
    convert::Infallible,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures_util::{FutureExt, StreamExt, future::BoxFuture, stream};
use http::{Method, Request, Response};
use http_body_util::{BodyExt, BodyStream, Full, StreamBody, combinators::UnsyncBoxBody};
use portcullis::{AgentEvent, AgentExt, BoxAgent, BoxEventStream, Failure, Prompt, Scope};
use portcullis_http::server::{Detach, TurnService};
use tokio::time::Instant;
use tower::{ServiceExt, service_fn};

use crate::{chains::hangs, support::*};

const GRACE: Duration = Duration::from_secs(30);

type Error = std::io::Error;
type Body = UnsyncBoxBody<Bytes, Error>;

/// What happens to connections to a service, and what was asked over them.
#[derive(Clone)]
struct Line {
    service: TurnService,
    /// After how many frames a body is cut; the next one may be told from it.
    cuts: Arc<Mutex<Box<dyn FnMut() -> usize + Send>>>,
    stalls: bool,
    down: Arc<AtomicBool>,
    asked: Arc<Mutex<Vec<Method>>>,
}

impl Line {
    fn new(service: TurnService, cuts: impl FnMut() -> usize + Send + 'static) -> Self {
        Self {
            service,
            cuts: Arc::new(Mutex::new(Box::new(cuts))),
            stalls: false,
            down: Arc::default(),
            asked: Arc::default(),
        }
    }

    fn exchange(
        &self,
        request: Request<Full<Bytes>>,
    ) -> BoxFuture<'static, Result<Response<Body>, Error>> {
        let line = self.clone();
        Box::pin(async move {
            if line.down.load(Ordering::Relaxed) {
                return Err(Error::other("no route"));
            }
            line.asked.lock().unwrap().push(request.method().clone());
            let Ok(response) = line.service.oneshot(request).await;
            let after = (line.cuts.lock().unwrap())();
            Ok(response.map(|body| {
                let frames = BodyStream::new(body)
                    .map(|frame| frame.map_err(|error: Infallible| match error {}));
                let frames = frames.take(after);
                if line.stalls {
                    StreamBody::new(frames.chain(stream::pending())).boxed_unsync()
                } else {
                    let cut = stream::iter([Err(Error::other("reset"))]);
                    StreamBody::new(frames.chain(cut)).boxed_unsync()
                }
            }))
        })
    }

    fn agent(
        &self,
        format: portcullis_http::server::Format,
    ) -> portcullis_http::client::HttpAgent<impl portcullis_http::client::Transport> {
        let line = self.clone();
        let transport = service_fn(move |request| line.exchange(request));
        agent_over(transport, format).resuming(GRACE)
    }

    fn asked(&self) -> Vec<Method> {
        self.asked.lock().unwrap().clone()
    }
}

/// A service of an agent that emits so many words, and keeps cut turns.
fn words(count: usize) -> (TurnService, Vec<String>) {
    let mut events: Vec<_> = (0..count)
        .map(|n| AgentEvent::text(n.to_string()))
        .collect();
    events.push(AgentEvent::completed());
    let expected = events.iter().map(AgentEvent::to_json).collect();
    let service = TurnService::new(emits(events)).detach(Detach::new(GRACE));
    (service, expected)
}

fn code(said: &[String]) -> String {
    let AgentEvent::Failed(failure) = AgentEvent::from_json(said.last().unwrap()).unwrap() else {
        panic!("{said:?}");
    };
    failure.code().expect("a code").to_string()
}

/// Wherever it is cut, each event comes once.
#[tokio::test(start_paused = true)]
async fn no_event_is_lost_or_told_twice() {
    for format in FORMATS {
        for after in 1..8 {
            let (service, expected) = words(10);
            let line = Line::new(service, move || after);
            let said = said(&BoxAgent::new(line.agent(format))).await;
            assert_eq!(said, expected, "{format:?} cut after {after}");
            assert_eq!(line.asked()[0], Method::POST);
            assert_eq!(line.asked().len(), expected.len().div_ceil(after));
        }
        // The first response was read, and then every other one is cut at once.
        let (service, expected) = words(10);
        let mut number = 0;
        let line = Line::new(service, move || {
            number += 1;
            number % 2
        });
        let said = said(&BoxAgent::new(line.agent(format))).await;
        assert_eq!(said, expected, "{format:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_line_that_is_down_for_a_while_is_waited_for() {
    let (service, expected) = words(3);
    let line = Line::new(service, || 2);
    let agent = BoxAgent::new(line.agent(FORMATS[0]));
    let mut turn = BoxEventStream::new(agent.invoke(Scope::new("s"), Prompt::text("p")));
    let first = turn.next().await.expect("an event");
    assert_eq!(first.to_json(), expected[0]);
    line.down.store(true, Ordering::Relaxed);
    let down = Arc::clone(&line.down);
    let comes_back = async move {
        tokio::time::sleep(Duration::from_secs(20)).await;
        down.store(false, Ordering::Relaxed);
    };
    let rest = turn.map(|event| event.to_json()).collect::<Vec<_>>();
    let (rest, ()) = tokio::join!(rest, comes_back);
    assert_eq!(rest, expected[1..]);
}

/// It does not try for ever, and not longer than the server waits.
#[tokio::test(start_paused = true)]
async fn a_line_that_stays_down_ends_the_turn() {
    // One that is down, and one that comes up and is cut again before anything was said.
    for stays_down in [true, false] {
        let (service, expected) = words(3);
        let answered = Arc::new(AtomicUsize::new(0));
        let counts = Arc::clone(&answered);
        let line = Line::new(service, move || {
            usize::from(counts.fetch_add(1, Ordering::Relaxed) == 0)
        });
        let agent = BoxAgent::new(line.agent(FORMATS[0]));
        let mut turn = BoxEventStream::new(agent.invoke(Scope::new("s"), Prompt::text("p")));
        assert_eq!(turn.next().await.expect("an event").to_json(), expected[0]);
        line.down.store(stays_down, Ordering::Relaxed);
        let began = Instant::now();
        let rest: Vec<_> = turn.map(|event| event.to_json()).collect().await;
        assert_eq!(rest.len(), 1);
        assert_eq!(code(&rest), "unavailable");
        let took = began.elapsed();
        assert!(took <= GRACE && took > GRACE / 2, "{took:?}");
        assert!(answered.load(Ordering::Relaxed) < 40);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_keeps_nothing_is_not_asked_again() {
    let (service, expected) = words(3);
    for (service, asked) in [
        // It does not know of such turns.
        (
            TurnService::new(emits(vec![AgentEvent::text("0"), AgentEvent::completed()])),
            1,
        ),
        // It has forgotten what was read.
        (service.detach(Detach::new(Duration::ZERO)), 2),
    ] {
        let line = Line::new(service, || 1);
        let said = said(&BoxAgent::new(line.agent(FORMATS[0]))).await;
        assert_eq!(said.len(), 2);
        assert_eq!(said[0], expected[0]);
        assert_eq!(code(&said), "unavailable");
        assert_eq!(
            line.asked()
                .iter()
                .filter(|method| **method != Method::DELETE)
                .count(),
            asked
        );
    }
}

/// A connection may be dead without anybody saying so.
#[tokio::test(start_paused = true)]
async fn a_silent_connection_is_left() {
    let (service, expected) = words(3);
    let mut line = Line::new(service, || 2);
    line.stalls = true;
    let agent = line.agent(FORMATS[0]).idle_timeout(Duration::from_secs(10));
    let began = Instant::now();
    assert_eq!(said(&BoxAgent::new(agent)).await, expected);
    assert!(began.elapsed() < Duration::from_secs(12));
}

/// Dropping still cancels: the server need not wait for who will not come.
#[tokio::test(start_paused = true)]
async fn a_dropped_turn_is_cancelled_at_the_server() {
    let (agent, mut alive) = hangs(true);
    let service = TurnService::new(agent).detach(Detach::new(GRACE));
    let line = Line::new(service, || usize::MAX);
    let agent = line.agent(FORMATS[0]);
    let mut turn = BoxEventStream::new(agent.invoke(Scope::new("s"), Prompt::text("p")));
    assert!(turn.next().await.is_some());
    assert!(turn.next().now_or_never().is_none());
    assert_eq!(*alive.borrow(), 1);
    let began = Instant::now();
    drop(turn);
    agent.settle().await;
    alive.wait_for(|alive| *alive == 0).await.unwrap();
    assert_eq!(began.elapsed(), Duration::ZERO);
    assert_eq!(line.asked(), [Method::POST, Method::DELETE]);

    // One that is over, or never was, needs nothing of the kind.
    let (service, _) = words(3);
    let line = Line::new(service, || usize::MAX);
    let agent = line.agent(FORMATS[0]);
    said(&BoxAgent::new(agent.clone())).await;
    drop(agent.invoke(Scope::new("s"), Prompt::text("p")));
    agent.settle().await;
    assert_eq!(line.asked(), [Method::POST]);
}

/// A refusal is one, resuming or not.
#[tokio::test(start_paused = true)]
async fn a_refusal_is_not_taken_up_again() {
    let failure = Failure::with_code(portcullis::FailureCode::OVERLOADED, "full");
    let service = TurnService::new(emits(vec![failure.into()])).detach(Detach::new(GRACE));
    let line = Line::new(service, || usize::MAX);
    let said = said(&BoxAgent::new(line.agent(FORMATS[0]))).await;
    assert_eq!(code(&said), "overloaded");
    assert_eq!(line.asked(), [Method::POST]);
}
