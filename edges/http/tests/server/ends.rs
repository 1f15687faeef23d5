use std::time::Duration;

use futures_util::{FutureExt, StreamExt, stream};
use http_body::Body;
use http_body_util::BodyExt;
use portcullis::{AgentEvent, Failure, Prompt, Scope, agent_fn};
use portcullis_http::server::TurnService;
use serde_json::{Value, json};
use tower::{ServiceExt, service_fn};

use crate::support::*;

/// The agent whose streams these are.
fn of_stream<St>(make: impl Fn() -> St + Clone + Send + Sync + 'static) -> TurnService
where
    St: stream::Stream<Item = AgentEvent> + Send + 'static,
{
    TurnService::new(service_fn(move |_: (Scope, Prompt)| {
        std::future::ready(Ok::<_, std::convert::Infallible>(make()))
    }))
}

fn last(lines: &[String]) -> Value {
    serde_json::from_str(lines.last().expect("a line")).unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_just_ends_has_failed() {
    let bare = of_stream(|| stream::iter([AgentEvent::text("a")]));
    let lines = lines_of(&bare, "p").await;
    assert_eq!(lines.len(), 2);
    assert_eq!(last(&lines)["code"], "contract_violation");

    let at_once = of_stream(stream::empty);
    let read = exchange(&at_once, post(SSE, asking("p"))).await;
    assert_eq!(read.status, 502);
    assert_eq!(read.json()["event"]["code"], "contract_violation");
}

#[tokio::test(start_paused = true)]
async fn nothing_follows_the_terminal_event() {
    let goes_on = of_stream(|| {
        stream::iter([AgentEvent::completed(), AgentEvent::text("more")]).chain(stream::pending())
    });
    assert_eq!(lines_of(&goes_on, "p").await, [r#"{"type":"completed"}"#]);
}

/// O-J08 for this edge: the caller gets a terminal event, and no text of ours.
#[tokio::test(start_paused = true)]
async fn a_panic_is_internal() {
    let panics = of_stream(|| {
        stream::iter([1, 2]).map(|n| {
            assert!(n < 2, "the password is hunter2");
            AgentEvent::text("a")
        })
    });
    let lines = lines_of(&panics, "p").await;
    assert_eq!(lines.len(), 2);
    let end = last(&lines);
    assert_eq!(end["code"], "internal");
    assert!(!lines[1].contains("hunter2"), "{lines:?}");
    assert!(end["details"].as_str().unwrap().contains("Reference: "));

    let panics_in_call = TurnService::new(agent_fn(
        |_: Scope, _: Prompt, _: portcullis::Emitter| -> std::future::Ready<Result<(), Failure>> {
            panic!("hunter2")
        },
    ));
    let read = exchange(&panics_in_call, post(SSE, asking("p"))).await;
    assert_eq!(read.status, 500);
    assert!(!read.body.contains("hunter2"), "{read:?}");
}

/// One whose drop panics, too.
#[tokio::test(start_paused = true)]
async fn a_drop_that_panics_harms_nobody() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("while dropping");
        }
    }
    let service = of_stream(|| {
        let bomb = Bomb;
        stream::iter([AgentEvent::text("a")])
            .chain(stream::pending())
            .inspect(move |_| {
                let _held = &bomb;
            })
    });
    let mut body = send(&service, post(SSE, asking("p"))).await.into_body();
    assert!(body.frame().await.is_some());
    drop(body);
}

#[tokio::test(start_paused = true)]
async fn dropping_the_response_cancels_the_turn() {
    let (agent, alive) = hangs();
    let service = TurnService::new(agent);
    let mut body = send(&service, post(SSE, asking("p"))).await.into_body();
    assert!(body.frame().await.is_some());
    assert!(body.frame().now_or_never().is_none());
    assert_eq!(*alive.borrow(), 1);
    drop(body);
    assert_eq!(*alive.borrow(), 0);

    // Before there is a response.
    let (agent, alive) = hangs_after([]);
    let mut call = TurnService::new(agent).oneshot(post(SSE, asking("p")));
    assert!((&mut call).now_or_never().is_none());
    assert_eq!(*alive.borrow(), 1);
    drop(call);
    assert_eq!(*alive.borrow(), 0);
}

/// The turn is over when its last frame is out, not when the reader comes for more.
#[tokio::test(start_paused = true)]
async fn the_last_frame_is_the_end_of_the_body() {
    let mut body = send(&emits([]), post(SSE, asking("p"))).await.into_body();
    assert!(!body.is_end_stream());
    assert!(body.frame().await.is_some());
    assert!(body.is_end_stream());
    assert!(body.frame().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn the_deadline_ends_the_turn() {
    let body = json!({
        "scope": {"session": "s", "constraints": {"deadlineMs": 3000}}, "prompt": {"text": "p"},
    });
    let (agent, alive) = hangs();
    let service = TurnService::new(agent);
    let began = tokio::time::Instant::now();
    let read = exchange(&service, post(LINES, body.to_string())).await;
    assert_eq!(began.elapsed(), Duration::from_secs(3));
    assert_eq!(*alive.borrow(), 0);
    let end: Value = serde_json::from_str(read.lines()[1]).unwrap();
    assert_eq!(end["code"], "timeout");

    // Whatever the caller says, no longer than the host allows.
    let service = service.turn_limit(Duration::from_secs(2));
    let began = tokio::time::Instant::now();
    let read = exchange(&service, post(LINES, body.to_string())).await;
    assert_eq!(began.elapsed(), Duration::from_secs(2));
    assert_eq!(read.lines().len(), 2);

    // Nothing was said before: then it is a status.
    let (agent, _) = hangs_after([]);
    let service = TurnService::new(agent).turn_limit(Duration::from_secs(2));
    let read = exchange(&service, post(LINES, asking("p"))).await;
    assert_eq!(read.status, 504);
}
