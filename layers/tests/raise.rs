//! An early failure becomes an error.

mod support;

use std::sync::{Arc, Mutex};

use futures_util::{FutureExt, StreamExt};
use portcullis::{AgentEvent, Failure, Prompt, Retrying, Scope, Usage, UsageSink};
use portcullis_layers::raise::RaiseLayer;
use tower::{Layer, Service, ServiceExt};

use support::*;

fn request() -> (Scope, Prompt) {
    (Scope::new("s"), Prompt::text("hello"))
}

fn retrying() -> Do {
    Do::Say(Retrying::new(2, 3, secs(1), "busy").into())
}

#[tokio::test(start_paused = true)]
async fn hands_on_everything() {
    let actor = actor(everything());
    let raises = RaiseLayer::new().layer(actor.clone());
    let events: Vec<_> = raises.oneshot(request()).await.unwrap().collect().await;
    assert_eq!(events, said(&everything()));
    assert_eq!(actor.seen.alive(), 0);
}

#[tokio::test]
async fn raises_what_fails_before_anything_was_shown() {
    for part in [
        vec![fail("no", true)],
        vec![Do::Yield, retrying(), used("call", 1, 2), fail("no", true)],
    ] {
        let actor = actor(part);
        let raised = RaiseLayer::new()
            .layer(actor.clone())
            .oneshot(request())
            .await;
        assert_eq!(raised.unwrap_err(), Failure::new("no").retryable(true));
        assert_eq!(actor.seen.alive(), 0);
    }
}

#[tokio::test]
async fn a_failed_attempt_costs_as_well() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let (mut scope, prompt) = request();
    scope.add_usage_sink(UsageSink::new(move |usage: &Usage| {
        sink.lock().unwrap().push(usage.id().to_owned());
    }));
    let raises = RaiseLayer::new().layer(actor([used("call", 1, 2), fail("no", true)]));
    assert!(raises.oneshot((scope, prompt)).await.is_err());
    assert_eq!(*seen.lock().unwrap(), ["call"]);
}

#[tokio::test]
async fn keeps_what_comes_later_in_the_stream() {
    for (part, expected) in [
        (vec![say("a"), fail("no", true)], "text failed"),
        (
            vec![retrying(), say("a"), done()],
            "retrying text completed",
        ),
        (vec![used("call", 1, 1), done()], "usage completed"),
        // A bare end is for `catch`.
        (vec![used("call", 1, 1)], "usage"),
    ] {
        let raises = RaiseLayer::new().layer(actor(part));
        let events: Vec<_> = raises.oneshot(request()).await.unwrap().collect().await;
        assert_eq!(types(&events), expected);
    }
}

#[tokio::test]
async fn holds_back_no_more_than_it_was_told() {
    let part = [retrying(), retrying(), retrying(), fail("no", true)];
    let raises = RaiseLayer::new().hold_back(2).layer(actor(part.clone()));
    let events: Vec<_> = raises.oneshot(request()).await.unwrap().collect().await;
    assert_eq!(types(&events), "retrying retrying retrying failed");
    let raises = RaiseLayer::new().hold_back(3).layer(actor(part));
    assert!(raises.oneshot(request()).await.is_err());
}

#[tokio::test]
async fn drops_while_it_waits() {
    for polls in 0..3 {
        let actor = actor([Do::Yield, retrying(), Do::Yield, Do::Hang]);
        let mut raises = RaiseLayer::new().layer(actor.clone());
        let mut call = Box::pin(raises.ready().await.unwrap().call(request()));
        for _ in 0..polls {
            assert!((&mut call).now_or_never().is_none());
        }
        drop(call);
        assert_eq!(actor.seen.alive(), 0);
    }
}

#[tokio::test]
async fn drops_with_the_stream() {
    let actor = actor([say("a"), Do::Hang]);
    let raises = RaiseLayer::new().layer(actor.clone());
    let mut events = raises.oneshot(request()).await.unwrap();
    assert_eq!(events.next().await, Some(AgentEvent::text("a")));
    assert_eq!(actor.seen.alive(), 1);
    drop(events);
    assert_eq!(actor.seen.alive(), 0);
}
