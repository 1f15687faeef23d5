//! Everything that can go wrong becomes one failure.

mod support;

use std::{
    error::Error,
    fmt,
    future::{Ready, ready},
    pin::Pin,
    task::{Context, Poll},
};

use futures_util::{FutureExt, Stream, StreamExt, stream};
use portcullis::{AgentEvent, AgentExt, BoxEventStream, Failure, FailureCode, Prompt, Scope};
use portcullis_layers::catch::{Catch, CatchLayer};
use tower::{BoxError, Layer, Service, service_fn};

use support::*;

/// An error that wraps another.
#[derive(Debug)]
struct Wrapped(BoxError);

impl fmt::Display for Wrapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("request to db://user:secret@host failed")
    }
}

impl Error for Wrapped {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}

async fn folded(error: impl Fn() -> BoxError + Clone + Send) -> Failure {
    let broken =
        service_fn(move |_: (Scope, Prompt)| ready(Err::<BoxEventStream, BoxError>(error())));
    let events = events(&CatchLayer::new().layer(broken)).await;
    assert_eq!(types(&events), "failed");
    failure(&events).clone()
}

#[tokio::test(start_paused = true)]
async fn hands_on_everything() {
    assert_transparent(|actor| CatchLayer::new().layer(actor)).await;
}

#[tokio::test]
async fn keeps_a_failure_of_ours() {
    let ours = || Failure::with_code(FailureCode::new("mine"), "as it is").retryable(true);
    assert_eq!(folded(move || ours().into()).await, ours());
    assert_eq!(
        folded(move || Wrapped(Box::new(Wrapped(ours().into()))).into()).await,
        ours()
    );
}

#[tokio::test]
async fn knows_the_errors_of_tower() {
    use tower::{load_shed::error::Overloaded, timeout::error::Elapsed};
    let failure = folded(|| Wrapped(Overloaded::new().into()).into()).await;
    assert!(failure.is(&FailureCode::OVERLOADED) && failure.is_retryable());
    let failure = folded(|| Elapsed::new().into()).await;
    assert!(failure.is(&FailureCode::TIMEOUT) && failure.is_retryable());
}

#[tokio::test]
async fn logs_a_chain_and_never_sends_it() {
    let (log, _guard) = Log::start();
    let failure = folded(|| Wrapped("connection refused".into()).into()).await;
    assert!(failure.is(&FailureCode::INTERNAL) && !failure.is_retryable());
    assert!(!failure.details().contains("secret"));
    let reference = failure.details().rsplit(' ').next().unwrap();
    let line = log.text();
    assert!(line.contains("db://user:secret@host failed: connection refused"));
    assert!(line.contains(reference), "{reference} is not in {line}");
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Where {
    Ready,
    Call,
    Future,
    Stream,
    StreamDrop,
    FutureDrop,
}

/// Panics at one place.
#[derive(Clone, Debug)]
struct Fragile(Where);

#[derive(Debug)]
struct FragileFuture(Where);

#[derive(Debug)]
struct FragileStream(Where, u8);

impl Service<(Scope, Prompt)> for Fragile {
    type Response = FragileStream;
    type Error = BoxError;
    type Future = FragileFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        assert_ne!(self.0, Where::Ready, "in poll_ready");
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: (Scope, Prompt)) -> FragileFuture {
        assert_ne!(self.0, Where::Call, "in call");
        FragileFuture(self.0)
    }
}

impl Future for FragileFuture {
    type Output = Result<FragileStream, BoxError>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        assert_ne!(self.0, Where::Future, "in the future");
        if self.0 == Where::FutureDrop {
            return Poll::Pending;
        }
        Poll::Ready(Ok(FragileStream(self.0, 0)))
    }
}

impl Drop for FragileFuture {
    fn drop(&mut self) {
        assert_ne!(self.0, Where::FutureDrop, "in the drop of the future");
    }
}

impl Stream for FragileStream {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        self.1 += 1;
        if self.1 == 1 {
            return Poll::Ready(Some(AgentEvent::text("a")));
        }
        assert_ne!(self.0, Where::Stream, "in the stream");
        Poll::Ready(Some(AgentEvent::completed()))
    }
}

impl Drop for FragileStream {
    fn drop(&mut self) {
        assert_ne!(self.0, Where::StreamDrop, "in the drop of the stream");
    }
}

#[tokio::test]
async fn catches_a_panic_wherever_it_is() {
    let (log, _guard) = Log::start();
    for (place, expected) in [
        (Where::Ready, "failed"),
        (Where::Call, "failed"),
        (Where::Future, "failed"),
        (Where::Stream, "text failed"),
        // As the layers of the contract do: a panic is heard, also with the last event.
        (Where::StreamDrop, "text failed"),
    ] {
        let events = events(&Catch::new(Fragile(place))).await;
        assert_eq!(types(&events), expected, "{place:?}");
        if expected.ends_with("failed") {
            assert!(failure(&events).is(&FailureCode::INTERNAL));
            assert!(!failure(&events).details().contains("panicked"));
        }
    }
    assert_eq!(log.text().matches("panicked: ").count(), 5);
}

#[tokio::test]
async fn a_panic_in_the_drop_path_goes_no_further() {
    for place in [Where::StreamDrop, Where::FutureDrop] {
        let agent = Catch::new(Fragile(place));
        let mut turn = Box::pin(ask(&agent));
        let _ = turn.next().now_or_never();
        // Also while a panic of somebody else unwinds: two panics at once would abort.
        let elsewhere = std::panic::AssertUnwindSafe(async move {
            let _turn = turn;
            panic!("somebody else's");
        });
        assert!(elsewhere.catch_unwind().await.is_err());
        let mut turn = Box::pin(ask(&agent));
        let _ = turn.next().now_or_never();
        drop(turn);
    }
}

/// O-B10.
#[tokio::test]
async fn repairs_a_bare_end() {
    for part in [vec![], vec![say("a")]] {
        let events = events(&CatchLayer::new().layer(actor(part))).await;
        assert!(failure(&events).is(&FailureCode::CONTRACT_VIOLATION));
        assert_eq!(events.iter().filter(|event| event.is_terminal()).count(), 1);
    }
}

/// O-B10.
#[tokio::test]
async fn lets_nothing_follow_a_terminal_event() {
    let actor = actor([done(), say("late"), fail("late", false)]);
    let agent = CatchLayer::new().layer(actor.clone());
    let mut turn = Box::pin(ask(&agent));
    assert_eq!(turn.next().await, Some(AgentEvent::completed()));
    assert_eq!(actor.seen.alive(), 0, "dropped with the terminal event");
    assert_eq!(turn.next().await, None);
}

/// Fails while it is made ready.
#[derive(Clone, Debug)]
struct Dead;

impl Service<(Scope, Prompt)> for Dead {
    type Response = stream::Empty<AgentEvent>;
    type Error = Failure;
    type Future = Ready<Result<stream::Empty<AgentEvent>, Failure>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failure>> {
        Poll::Ready(Err(Failure::new("gone for good")))
    }

    fn call(&mut self, _: (Scope, Prompt)) -> Self::Future {
        panic!("a dead service is not called");
    }
}

#[tokio::test]
async fn remembers_a_dead_service() {
    let agent = CatchLayer::new().layer(Dead);
    let events = agent
        .invoke(Scope::new("s"), Prompt::text("hello"))
        .collect::<Vec<_>>()
        .await;
    assert_eq!(events, [Failure::new("gone for good").into()]);
}

#[tokio::test(start_paused = true)]
async fn drops_with_the_turn() {
    assert_drops(
        everything(),
        |actor| CatchLayer::new().layer(actor),
        || true,
    )
    .await;
}
