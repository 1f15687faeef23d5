//! Another agent, as long as nothing was shown.

mod support;

use std::error::Error;

use futures_util::{FutureExt, StreamExt};
use portcullis::{AgentEvent, AgentExt, BoxAgent, Failure, FailureCode, Prompt, Scope};
use portcullis_layers::{
    budget::{Account, BudgetLayer, Limits, MemoryLedger, Meter},
    conform::ConformLayer,
    fallback::FallbackLayer,
    retry::RetryLayer,
    timeout::TimeoutLayer,
};
use tokio::time::Instant;
use tower::{Layer, ServiceBuilder};

use support::*;

fn coded(code: FailureCode, details: &'static str) -> Failure {
    Failure::with_code(code, details)
}

fn fails(failure: Failure) -> Actor {
    actor([Do::Say(failure.into())])
}

#[tokio::test(start_paused = true)]
async fn hands_on_everything() {
    let layer = FallbackLayer::new("other", actor([Do::Panic]));
    assert_transparent(|actor| layer.layer(actor)).await;
    assert_drops(everything(), |actor| layer.layer(actor), || true).await;
    // And where the other one works.
    let other = actor(everything());
    let part = vec![Do::Yield, used("call", 1, 1), Do::Yield, fail("no", false)];
    let layer = FallbackLayer::new("other", other.clone());
    assert_drops(part, |actor| layer.layer(actor), || other.seen.alive() == 0).await;
}

#[tokio::test(start_paused = true)]
async fn asks_the_others_in_order() {
    let first = actor([fail("one", false)]);
    let second = actor([fail("two", false)]);
    let third = actor([say("at last"), done()]);
    let fourth = actor([say("never"), done()]);
    let layer = FallbackLayer::new("second", second.clone())
        .then("third", third.clone())
        .then("fourth", fourth.clone());
    let answer = events(&layer.layer(first.clone())).await;
    assert_eq!(types(&answer), "retrying retrying text completed");
    let calls = [&first, &second, &third, &fourth].map(|actor| actor.seen.calls());
    assert_eq!(calls, [1, 1, 1, 0]);
    let said: Vec<_> = answer
        .iter()
        .filter_map(|event| match event {
            AgentEvent::Retrying(retrying) => Some((
                retrying.attempt(),
                retrying.max_attempts(),
                retrying.delay_ms(),
                retrying.reason().to_owned(),
                retrying.extra().text("fallback").unwrap().to_owned(),
            )),
            _ => None,
        })
        .collect();
    let said_of =
        |attempt, reason: &str, name: &str| (attempt, 4.0, 0.0, reason.to_owned(), name.to_owned());
    let expected = [
        said_of(2.0, "one", r#""second""#),
        said_of(3.0, "two", r#""third""#),
    ];
    assert_eq!(said, expected);
    // The record keeps the reasons.
    let turn = third.seen.last_scope().record().summary();
    let reasons: Vec<_> = turn.given_up.iter().map(Failure::details).collect();
    assert_eq!((turn.attempts, reasons), (3, vec!["one", "two"]));
    // The next turn begins with the first one again.
    events(&layer.layer(first.clone())).await;
    assert_eq!(first.seen.calls(), 2);
}

/// A static type and a boxed one; and one layer in another.
#[tokio::test(start_paused = true)]
async fn agents_of_any_type() {
    let boxed = BoxAgent::new(actor([fail("two", false)]));
    let third = actor([say("a"), done()]);
    let agent = ServiceBuilder::new()
        .layer(FallbackLayer::new("third", third.clone()))
        .layer(FallbackLayer::new("second", boxed))
        .service(actor([fail("one", false)]));
    let answer = events(&agent).await;
    assert_eq!(types(&answer), "retrying retrying text completed");
    // Nothing of ours is left in the scope of whoever is asked.
    let scope = third.seen.last_scope();
    assert!(!format!("{:?}", scope.extensions()).contains("Pick"));
    assert_eq!(scope.record().summary().attempts, 3);
    assert_eq!(agent.get_ref().first().get_ref().first().seen.calls(), 1);
}

/// O-B03: never after the first visible event, whatever it is.
#[tokio::test(start_paused = true)]
async fn no_other_agent_after_something_was_shown() {
    for shown in [
        say("Hel"),
        Do::Say(AgentEvent::thinking("hm")),
        tool("t"),
        tool_ended("t"),
        Do::Say(unknown("progress")),
    ] {
        let other = actor([say("Hello"), done()]);
        let layer = FallbackLayer::new("other", other.clone());
        let answer = events(&layer.layer(actor([shown.clone(), fail("no", true)]))).await;
        assert_eq!(answer.len(), 2, "{}", types(&answer));
        assert_eq!(failure(&answer).details(), "no", "as it came");
        assert_eq!(other.seen.calls(), 0);
        // Nor at a bare end.
        let answer = events(&layer.layer(actor([shown]))).await;
        assert_eq!((answer.len(), other.seen.calls()), (1, 0));
        // Unless it is held back.
        let layer = layer.buffered(1 << 16);
        let first = actor([tool("t"), fail("no", true)]);
        let answer = events(&layer.layer(first)).await;
        assert_eq!(types(&answer), "retrying text completed");
    }
}

/// What is about the turn would be refused by any agent.
#[tokio::test(start_paused = true)]
async fn looks_at_the_failure() {
    for (code, asks) in [
        ("timeout", true),
        ("overloaded", true),
        ("rate_limited", true),
        ("unavailable", true),
        ("invalid_output", true),
        ("contract_violation", true),
        ("internal", true),
        ("somebody_elses", true),
        ("budget_exceeded", false),
        ("session_busy", false),
        ("aborted", false),
        ("unauthenticated", false),
        ("permission_denied", false),
        ("invalid_prompt", false),
    ] {
        let other = actor([done()]);
        let first = fails(coded(FailureCode::new(code), "no"));
        let layer = FallbackLayer::new("other", other.clone());
        events(&layer.layer(first.clone())).await;
        assert_eq!(other.seen.calls(), usize::from(asks), "{code}");
        let never = layer.classify(|_| false);
        assert_eq!(types(&events(&never.layer(first)).await), "failed");
    }
    // A clock, a panic that `conform` made a failure of, and an end without one.
    let layer = || FallbackLayer::new("other", actor([say("a"), done()]));
    let agent = layer().layer(TimeoutLayer::idle(secs(5)).layer(actor([Do::Hang])));
    assert_eq!(types(&events(&agent).await), "retrying text completed");
    let agent = layer().layer(ConformLayer::new().layer(actor([Do::Panic])));
    assert_eq!(types(&events(&agent).await), "retrying text completed");
    let agent = layer().layer(actor([used("call", 1, 1)]));
    let answer = events(&agent).await;
    assert_eq!(types(&answer), "usage retrying text completed");
    // The last bare end passes as it is.
    let agent = FallbackLayer::new("other", actor([])).layer(actor([]));
    assert_eq!(types(&events(&agent).await), "retrying");
}

#[tokio::test(start_paused = true)]
async fn every_agent_is_paid_for() {
    let ledger = MemoryLedger::new();
    let other = actor([used("call", 10, 0), say("a"), used("call", 20, 0), done()]);
    let agent = ServiceBuilder::new()
        .layer(BudgetLayer::per_session(
            ledger.clone(),
            Limits::of(Meter::Tokens, 9_999),
        ))
        .layer(FallbackLayer::new("other", other))
        .service(actor([used("call", 1, 0), fail("no", false)]));
    let answer = events(&agent).await;
    assert_eq!(types(&answer), "usage retrying usage text usage completed");
    let used = ledger.used(&Account::session(&Scope::new("session")));
    assert_eq!(used.of(Meter::Tokens), 21);
}

#[tokio::test(start_paused = true)]
async fn when_all_fail_both_causes_are_told() {
    let answer = async |first: Failure, last: Failure| {
        let agent = FallbackLayer::new("second", actor([fail("between", true)]))
            .then("third", fails(last))
            .layer(fails(first));
        events(&agent).await
    };
    let overloaded = || coded(FailureCode::OVERLOADED, "too much");
    let slow = coded(FailureCode::TIMEOUT, "too slow").retryable(true);
    let late = overloaded().retryable(true).retry_after(secs(9));
    let answered = answer(late, slow.retry_after(secs(5))).await;
    let told = failure(&answered);
    assert_eq!(
        told.details(),
        "too slow; the first agent had failed: too much"
    );
    assert!(
        told.is(&FailureCode::UNAVAILABLE),
        "neither is true of both"
    );
    assert_eq!((told.is_retryable(), told.after()), (true, Some(secs(5))));
    // The last one's own failure is for the log.
    assert_eq!(told.source().unwrap().to_string(), "too slow");
    // The same code stays.
    let answered = answer(overloaded(), overloaded()).await;
    let told = failure(&answered);
    assert!(told.is(&FailureCode::OVERLOADED) && !told.is_retryable());
    // What the first one says on trying again holds, since it is asked first.
    let answered = answer(overloaded().retryable(true), Failure::new("no")).await;
    assert!(failure(&answered).is_retryable());
    // Nothing internal.
    let secret = || coded(FailureCode::INTERNAL, "password=1234");
    for (first, last) in [(secret(), overloaded()), (overloaded(), secret())] {
        let answered = answer(first, last).await;
        assert!(
            answered
                .iter()
                .all(|event| !event.to_json().contains("1234"))
        );
    }
    // A last word about the turn keeps its code.
    let aborted = coded(FailureCode::ABORTED, "stop");
    let answered = answer(overloaded().retryable(true), aborted).await;
    let told = failure(&answered);
    assert!(told.is(&FailureCode::ABORTED) && !told.is_retryable());
    // And a single failure is as it came.
    let never = FallbackLayer::new("x", actor([])).classify(|_| false);
    let answered = events(&never.layer(fails(secret()))).await;
    assert_eq!(failure(&answered), &secret());
}

/// The announcement is advisory: a retry above may begin again.
#[tokio::test(start_paused = true)]
async fn a_retry_above_begins_again() {
    let first = actor([fail("busy", true)]).then([say("a"), done()]);
    let agent = ServiceBuilder::new()
        .layer(RetryLayer::new(1))
        .layer(FallbackLayer::new("other", actor([fail("busy", true)])))
        .service(first.clone());
    let answer = events(&agent).await;
    assert_eq!(types(&answer), "retrying retrying text completed");
    assert_eq!(first.seen.last_scope().record().summary().attempts, 3);
}

#[tokio::test(start_paused = true)]
async fn not_behind_the_deadline() {
    let other = actor([done()]);
    let agent = FallbackLayer::new("other", other.clone())
        .layer(actor([Do::Wait(secs(5)), fail("slow", true)]));
    for (left, calls) in [(5, 0), (6, 1)] {
        let scope = Scope::new("s").with_deadline((Instant::now() + secs(left)).into_std());
        let _: Vec<_> = agent.invoke(scope, Prompt::text("p")).collect().await;
        assert_eq!(other.seen.calls(), calls);
    }
}

#[tokio::test(start_paused = true)]
async fn the_failed_run_is_gone_before_the_next_begins() {
    let first = actor([fail("no", true)]);
    let other = actor([Do::Hang]);
    let agent = FallbackLayer::new("other", other.clone()).layer(first.clone());
    let mut turn = Box::pin(ask(&agent));
    assert_eq!(turn.next().await.unwrap().type_name(), "retrying");
    assert_eq!((first.seen.alive(), other.seen.calls()), (0, 0));
    assert!(turn.next().now_or_never().is_none());
    assert_eq!(other.seen.alive(), 1);
    drop(turn);
    assert_eq!(other.seen.alive(), 0);
}
