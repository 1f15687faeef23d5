//! An agent is made to keep to the contract.

mod support;

use std::future::ready;

use futures_util::StreamExt;
use portcullis::{AgentEvent, BoxEventStream, FailureCode, Prompt, Scope};
use portcullis_layers::conform::ConformLayer;
use tower::{Layer, service_fn};

use support::*;

#[tokio::test(start_paused = true)]
async fn hands_on_everything() {
    assert_transparent(|actor| ConformLayer::new().layer(actor)).await;
}

/// O-B10: no terminal event, a panic, two terminal events, events after one.
#[tokio::test]
async fn repairs_every_breach() {
    for (part, expected, code) in [
        (
            vec![say("a")],
            "text failed",
            Some(FailureCode::CONTRACT_VIOLATION),
        ),
        (vec![], "failed", Some(FailureCode::CONTRACT_VIOLATION)),
        (
            vec![say("a"), Do::Panic],
            "text failed",
            Some(FailureCode::INTERNAL),
        ),
        (vec![done(), done()], "completed", None),
        (vec![done(), say("late")], "completed", None),
        (vec![fail("no", true), done()], "failed", None),
    ] {
        let actor = actor(part);
        let events = events(&ConformLayer::new().layer(actor.clone())).await;
        assert_eq!(types(&events), expected);
        assert_eq!(actor.seen.alive(), 0);
        if let Some(code) = code {
            assert!(failure(&events).is(&code));
        }
    }
}

#[tokio::test]
async fn nothing_is_polled_after_the_terminal_event() {
    let actor = actor([done(), say("late")]);
    let agent = ConformLayer::new().layer(actor.clone());
    let mut turn = Box::pin(ask(&agent));
    assert_eq!(turn.next().await, Some(AgentEvent::completed()));
    assert_eq!((actor.seen.alive(), actor.seen.polls()), (0, 1));
    assert_eq!(turn.next().await, None);
    assert_eq!(actor.seen.polls(), 1);
}

#[tokio::test]
async fn catches_a_panic_of_the_call() {
    let agent = service_fn(|_: (Scope, Prompt)| {
        if true {
            panic!("in the call");
        }
        ready(Ok::<BoxEventStream, std::convert::Infallible>(
            BoxEventStream::new(futures_util::stream::empty()),
        ))
    });
    let events = events(&ConformLayer::new().layer(agent)).await;
    assert!(failure(&events).is(&FailureCode::INTERNAL));
}

#[tokio::test(start_paused = true)]
async fn drops_with_the_turn() {
    assert_drops(
        everything(),
        |actor| ConformLayer::new().layer(actor),
        || true,
    )
    .await;
}
