//! Another try, as long as nothing was shown.

mod support;

use std::time::Duration;

use futures_util::{FutureExt, StreamExt};
use portcullis::{
    AgentEvent, AgentExt, Extension, Failure, FailureCode, Prompt, Scope, views::Context,
};
use portcullis_layers::{
    budget::{Account, BudgetLayer, Limits, MemoryLedger, Meter},
    conform::ConformLayer,
    retry::{Backoff, Jitter, RetryLayer},
    timeout::TimeoutLayer,
    trace::TraceLayer,
};
use tokio::{task::JoinSet, time::Instant};
use tower::{Layer, ServiceBuilder};

use support::*;

fn busy() -> Do {
    fail("busy", true)
}

#[tokio::test(start_paused = true)]
async fn hands_on_everything() {
    assert_transparent(|actor| RetryLayer::new(3).layer(actor)).await;
    assert_drops(
        everything(),
        |actor| RetryLayer::new(3).layer(actor),
        || true,
    )
    .await;
    // And in the middle of a wait.
    let part = vec![Do::Yield, used("call", 1, 1), Do::Yield, busy()];
    assert_drops(part, |actor| RetryLayer::new(3).layer(actor), || true).await;
}

#[tokio::test(start_paused = true)]
async fn tries_again() {
    let flaky = actor([busy()])
        .then([busy()])
        .then([say("at last"), done()]);
    let agent = RetryLayer::new(2).layer(flaky.clone());
    let answer = events(&agent).await;
    assert_eq!(types(&answer), "retrying retrying text completed");
    assert_eq!((flaky.seen.calls(), flaky.seen.alive()), (3, 0));
    // One too few.
    let flaky = actor([busy()])
        .then([busy()])
        .then([say("at last"), done()]);
    let answer = events(&RetryLayer::new(1).layer(flaky.clone())).await;
    assert_eq!(types(&answer), "retrying failed");
    assert_eq!(
        failure(&answer),
        &Failure::new("busy").retryable(true),
        "as it came"
    );
    assert_eq!(flaky.seen.calls(), 2);
    // O-B11: none is none.
    let flaky = actor([busy()]);
    assert_eq!(
        types(&events(&RetryLayer::new(0).layer(flaky)).await),
        "failed"
    );
}

/// O-B03: never after the first visible event, whatever it is.
#[tokio::test(start_paused = true)]
async fn never_after_something_was_shown() {
    for shown in [
        say("Hel"),
        Do::Say(AgentEvent::thinking("hm")),
        tool("t"),
        tool_ended("t"),
        Do::Say(unknown("progress")),
    ] {
        let engine = actor([shown.clone(), busy()]).then([say("Hello"), done()]);
        let answer = events(&RetryLayer::new(3).layer(engine.clone())).await;
        assert_eq!(answer.len(), 2, "{}", types(&answer));
        assert!(failure(&answer).is_retryable());
        assert_eq!(engine.seen.calls(), 1);
    }
}

/// What speaks about the run is no output; and what is output can be said.
#[tokio::test(start_paused = true)]
async fn what_is_visible_can_be_said() {
    let context = || Do::Say(Extension::from(Context::new(1_u64, 2_u64)).into());
    let engine = actor([context(), busy()]).then([say("a"), done()]);
    let answer = events(&RetryLayer::new(1).layer(engine)).await;
    assert_eq!(types(&answer), "context retrying text completed");
    let part = [Do::Say(unknown("com.example.queued")), busy()];
    let engine = actor(part.clone()).then([say("a"), done()]);
    let layer = RetryLayer::new(1)
        .visible(|event| event.is_visible() && event.type_name() != "com.example.queued");
    let answer = events(&layer.layer(engine)).await;
    assert_eq!(types(&answer), "com.example.queued retrying text completed");
    let stricter = RetryLayer::new(1).visible(|_| true);
    let engine = actor([used("call", 1, 1), busy()]);
    assert_eq!(
        types(&events(&stricter.layer(engine)).await),
        "usage failed"
    );
}

/// Where nothing was shown yet, a failure after output can be tried again too.
#[tokio::test(start_paused = true)]
async fn holds_back_for_callers_who_wait() {
    let flaky = || {
        actor([say("Hel"), used("call", 1, 0), tool("t"), busy()]).then([
            say("Hello"),
            used("call", 2, 0),
            Do::Wait(secs(1)),
            done(),
        ])
    };
    let layer = RetryLayer::new(1).buffered(1 << 16);
    let answer = events(&layer.layer(flaky())).await;
    assert_eq!(types(&answer), "usage retrying usage text completed");
    assert_eq!(answer[3], AgentEvent::text("Hello"));
    // The engine is gone before the caller reads what was held back.
    let engine = flaky();
    let agent = layer.layer(engine.clone());
    let mut turn = Box::pin(ask(&agent));
    while turn.next().await.unwrap().type_name() != "text" {}
    assert_eq!(engine.seen.alive(), 0);
    // Without a retry left everything is shown, as it came.
    let engine = actor([say("a"), say("b"), fail("no", false)]);
    let answer = events(&layer.layer(engine)).await;
    assert_eq!(types(&answer), "text text failed");
    let engine = actor([say("a")]);
    let answer = events(&layer.layer(engine)).await;
    assert_eq!(types(&answer), "retrying text");
    assert_drops(everything(), |actor| layer.layer(actor), || true).await;
}

/// What is held back is bounded, and what does not fit is the commit point.
#[tokio::test(start_paused = true)]
async fn holds_back_so_much_only() {
    let event = size_of::<AgentEvent>();
    let part = || [say("1234"), say("5678"), busy()];
    for (bytes, expected) in [
        (2 * (event + 4), "retrying text completed"),
        (2 * (event + 4) - 1, "text text failed"),
        (event + 4, "text text failed"),
        (0, "text text failed"),
    ] {
        let engine = actor(part()).then([say("a"), done()]);
        let agent = RetryLayer::new(1).buffered(bytes).layer(engine);
        assert_eq!(types(&events(&agent).await), expected, "{bytes}");
    }
    // A second run has the whole room again.
    let engine = actor(part()).then(part()).then([say("a"), done()]);
    let agent = RetryLayer::new(2).buffered(2 * (event + 4)).layer(engine);
    let answer = events(&agent).await;
    assert_eq!(types(&answer), "retrying retrying text completed");
    // Events that are no text count as well.
    let big = portcullis::Json::encode(&"x".repeat(1_000)).unwrap();
    let engine = actor([Do::Say(AgentEvent::tool_started("t", "look", big)), busy()]);
    let agent = RetryLayer::new(2).buffered(1_000).layer(engine);
    assert_eq!(types(&events(&agent).await), "tool_started failed");
}

#[tokio::test(start_paused = true)]
async fn gives_up_after_so_long() {
    let slow = || {
        let slow = Failure::new("busy").retryable(true).retry_after(secs(10));
        actor([Do::Wait(secs(5)), Do::Say(slow.into())])
    };
    // Tries begin after 0, 15 and 30 seconds, and a bit.
    for (most, calls) in [(14, 1), (16, 2), (29, 2), (32, 3)] {
        let engine = slow();
        let tiny = Backoff::new(Duration::from_millis(1), Duration::from_millis(1)).unwrap();
        let layer = RetryLayer::new(9).backoff(tiny).max_elapsed(secs(most));
        events(&layer.layer(engine.clone())).await;
        assert_eq!(engine.seen.calls(), calls, "{most}");
    }
}

/// What a caller reads of a failure on the way is not longer and not more internal than what it
/// reads at the end.
#[tokio::test(start_paused = true)]
async fn reasons_leak_nothing() {
    let secret = Failure::with_code(FailureCode::INTERNAL, "password=1234").retryable(true);
    let long = Failure::new("\u{e4}".repeat(10_000)).retryable(true);
    let engine = actor([Do::Say(secret.into())]).then([Do::Say(long.into())]);
    let answer = events(&RetryLayer::new(2).layer(engine)).await;
    let reasons: Vec<_> = answer
        .iter()
        .filter_map(|event| match event {
            AgentEvent::Retrying(retrying) => Some(retrying.reason()),
            _ => None,
        })
        .collect();
    assert_eq!(reasons, ["internal error", &"\u{e4}".repeat(256)]);
}

/// O-B04: a table of what is tried again, by the failure's own word.
#[tokio::test(start_paused = true)]
async fn asks_the_failure() {
    for (retryable, calls) in [(true, 2), (false, 1)] {
        let engine = actor([fail("no", retryable)]).then([done()]);
        events(&RetryLayer::new(3).layer(engine.clone())).await;
        assert_eq!(engine.seen.calls(), calls);
    }
    let engine = actor([fail("no", false)]).then([done()]);
    let layer = RetryLayer::new(3).classify(|failure| failure.details() == "no");
    assert_eq!(
        types(&events(&layer.layer(engine)).await),
        "retrying completed"
    );
    // A time-out of ours, and a panic that `conform` made a failure of.
    let engine = actor([Do::Hang]).then([say("a"), done()]);
    let agent = RetryLayer::new(3).layer(TimeoutLayer::idle(secs(5)).layer(engine));
    assert_eq!(types(&events(&agent).await), "retrying text completed");
    let engine = actor([Do::Panic]).then([say("a"), done()]);
    let agent = RetryLayer::new(3).layer(ConformLayer::new().layer(engine));
    assert_eq!(
        types(&events(&agent).await),
        "failed",
        "internal: not retryable"
    );
}

/// A run that just ends counts as one that may be tried again, before the commit point.
#[tokio::test(start_paused = true)]
async fn a_bare_end_is_tried_again() {
    let engine = actor([used("call", 1, 1)]).then([say("a"), done()]);
    let answer = events(&RetryLayer::new(1).layer(engine)).await;
    assert_eq!(types(&answer), "usage retrying text completed");
    let engine = actor([]);
    let answer = events(&RetryLayer::new(1).layer(engine.clone())).await;
    assert_eq!(types(&answer), "retrying", "and then passes as it is");
    assert_eq!(engine.seen.calls(), 2);
    let engine = actor([say("a")]).then([done()]);
    assert_eq!(
        types(&events(&RetryLayer::new(1).layer(engine)).await),
        "text"
    );
}

/// The usage of failed attempts is forwarded, and no attempt overwrites another's bill.
#[tokio::test(start_paused = true)]
async fn every_attempt_is_paid_for() {
    let flaky = || {
        actor([used("call", 1, 0), busy()])
            .then([used("call", 10, 0), busy()])
            .then([used("call", 100, 0), say("a"), used("call", 200, 0), done()])
    };
    let ids = |events: &[AgentEvent]| {
        let ids = events.iter().filter_map(|event| match event {
            AgentEvent::Usage(usage) => Some(usage.id().to_owned()),
            _ => None,
        });
        ids.collect::<Vec<_>>()
    };
    let ledger = MemoryLedger::new();
    let agent = ServiceBuilder::new()
        .layer(BudgetLayer::per_session(
            ledger.clone(),
            Limits::of(Meter::Tokens, 9_999),
        ))
        .layer(RetryLayer::new(2))
        .service(flaky());
    let answer = events(&agent).await;
    assert_eq!(ids(&answer), ["call", "2/call", "3/call", "3/call"]);
    let used = ledger.used(&Account::session(&Scope::new("session")));
    assert_eq!(
        (used.of(Meter::Tokens), used.of(Meter::ModelCalls)),
        (211, 3)
    );
}

#[tokio::test(start_paused = true)]
async fn announces_the_true_delay() {
    let mut longest = [0.0_f64; 2];
    for _ in 0..200 {
        let flaky = actor([busy()]).then([busy()]).then([say("a"), done()]);
        let backoff = Backoff::new(secs(1), secs(60)).unwrap();
        let agent = RetryLayer::new(2).backoff(backoff).layer(flaky);
        let mut turn = Box::pin(ask(&agent));
        let mut next = turn.next().await;
        for (longest, attempt) in longest.iter_mut().zip([2.0, 3.0]) {
            let Some(AgentEvent::Retrying(retrying)) = &next else {
                panic!("announced")
            };
            assert_eq!(
                (retrying.attempt(), retrying.max_attempts()),
                (attempt, 3.0)
            );
            assert_eq!(retrying.reason(), "busy");
            let (announced, begun) = (retrying.delay_ms(), Instant::now());
            next = turn.next().await;
            let waited = begun.elapsed().as_secs_f64() * 1e3;
            assert!((waited - announced).abs() <= 2.0, "{waited} {announced}");
            *longest = longest.max(announced);
        }
        assert_eq!(next, Some(AgentEvent::text("a")));
    }
    // Random up to a bound that doubles.
    assert!((800.0..=1_000.0).contains(&longest[0]), "{longest:?}");
    assert!((1_600.0..=2_000.0).contains(&longest[1]), "{longest:?}");
}

#[tokio::test(start_paused = true)]
async fn honours_the_hint() {
    let hint = |secs: u64| {
        let failure = Failure::with_code(FailureCode::RATE_LIMITED, "slow down").retryable(true);
        Do::Say(failure.retry_after(Duration::from_secs(secs)).into())
    };
    let begun = Instant::now();
    let engine = actor([hint(30)]).then([done()]);
    assert_eq!(
        types(&events(&RetryLayer::new(1).layer(engine)).await),
        "retrying completed"
    );
    assert_eq!(begun.elapsed().as_secs(), 30);
    // Too long to wait for.
    let engine = actor([hint(61)]).then([done()]);
    assert_eq!(
        types(&events(&RetryLayer::new(1).layer(engine)).await),
        "failed"
    );
    let engine = actor([hint(61)]).then([done()]);
    let patient = RetryLayer::new(1).longest_hint(secs(90));
    assert_eq!(
        types(&events(&patient.layer(engine)).await),
        "retrying completed"
    );
}

#[tokio::test(start_paused = true)]
async fn gives_up_before_the_deadline() {
    let engine = actor([Do::Say(
        Failure::new("busy")
            .retryable(true)
            .retry_after(secs(10))
            .into(),
    )]);
    let scope = Scope::new("s").with_deadline((Instant::now() + secs(9)).into_std());
    let begun = Instant::now();
    let agent = RetryLayer::new(3).layer(engine.clone());
    let answer: Vec<_> = agent.invoke(scope, Prompt::text("p")).collect().await;
    assert_eq!((types(&answer), engine.seen.calls()), ("failed".into(), 1));
    assert_eq!(begun.elapsed(), secs(0));
    // The clock of the whole turn says so to what is below.
    let agent = TimeoutLayer::total(secs(9)).layer(RetryLayer::new(3).layer(engine));
    let answer = events(&agent).await;
    assert_eq!(failure(&answer).details(), "busy");
}

/// O-B15: nested retries share the attempts of a turn.
#[tokio::test(start_paused = true)]
async fn retries_do_not_multiply() {
    let dead = actor([busy()]);
    let agent = ServiceBuilder::new()
        .layer(RetryLayer::new(2))
        .layer(RetryLayer::new(2))
        .layer(RetryLayer::new(2))
        .service(dead.clone());
    assert_eq!(types(&events(&agent).await), "retrying retrying failed");
    assert_eq!(dead.seen.calls(), 3);
    // Each turn has its own.
    events(&agent).await;
    assert_eq!(dead.seen.calls(), 6);
}

/// O-B15: an outage is not amplified by everybody's retries.
#[tokio::test(start_paused = true)]
async fn an_outage_is_not_amplified() {
    let dead = actor([busy()]);
    let layer = RetryLayer::new(3).allowance(10, 20);
    let agent = layer.layer(dead.clone());
    let mut turns = JoinSet::new();
    for _ in 0..100 {
        let agent = agent.clone();
        turns.spawn(async move { events(&agent).await });
    }
    turns.join_all().await;
    let retries = dead.seen.calls() - 100;
    assert!((10..=30).contains(&retries), "{retries}");
    // Without an allowance there is none.
    let dead = actor([busy()]);
    let agent = RetryLayer::new(3).allowance(0, 0).layer(dead.clone());
    events(&agent).await;
    assert_eq!(dead.seen.calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_record_has_the_attempts() {
    let (log, _guard) = Log::start();
    let flaky = actor([busy()]).then([busy()]).then([say("a"), done()]);
    let agent = ServiceBuilder::new()
        .layer(TraceLayer::new())
        .layer(RetryLayer::new(2))
        .layer(RetryLayer::new(2))
        .service(flaky);
    events(&agent).await;
    assert_eq!(log.spans()[0]["portcullis.attempts"], "3");
}

#[tokio::test(start_paused = true)]
async fn the_record_has_the_reasons() {
    let flaky = actor([fail("one", true)])
        .then([fail("two", true)])
        .then([]);
    let flaky = flaky.then([say("a"), done()]);
    events(&RetryLayer::new(3).layer(flaky.clone())).await;
    let turn = flaky.seen.last_scope().record().summary();
    let reasons: Vec<_> = turn.given_up.iter().map(Failure::details).collect();
    assert_eq!((turn.attempts, reasons), (4, vec!["one", "two"]));
    // The record is bounded: the first ones and the last one.
    let record = portcullis::TurnRecord::new();
    (0..100).for_each(|n| record.give_up(Failure::new(n.to_string())));
    let kept = record.summary().given_up;
    assert_eq!(kept.len(), 16);
    assert_eq!(
        (kept[0].details(), kept[14].details(), kept[15].details()),
        ("0", "14", "99")
    );
}

/// A retry of the turn that the allowance did not let through is there for another layer.
#[tokio::test(start_paused = true)]
async fn a_retry_that_was_not_made_is_not_spent() {
    let dead = actor([busy()]);
    let agent = ServiceBuilder::new()
        .layer(RetryLayer::new(1))
        .layer(RetryLayer::new(1).allowance(0, 0))
        .service(dead.clone());
    assert_eq!(types(&events(&agent).await), "retrying failed");
    assert_eq!(dead.seen.calls(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_failed_run_is_gone_before_the_wait() {
    let flaky = actor([busy()]).then([Do::Hang]);
    let agent = RetryLayer::new(2).layer(flaky.clone());
    let mut turn = Box::pin(ask(&agent));
    assert_eq!(turn.next().await.unwrap().type_name(), "retrying");
    assert_eq!(flaky.seen.alive(), 0);
    assert!(turn.next().now_or_never().is_none());
    assert_eq!(flaky.seen.alive(), 0);
}

/// O-B05: nonsense is refused, and no number panics.
#[test]
fn backoff_refuses_nonsense() {
    assert!(Backoff::new(Duration::ZERO, secs(1)).is_err());
    assert!(Backoff::new(secs(2), secs(1)).is_err());
    let backoff = Backoff::new(secs(1), secs(9)).unwrap();
    for factor in [f64::NAN, f64::INFINITY, -1.0, 0.0, 0.99] {
        assert!(backoff.factor(factor).is_err(), "{factor}");
    }
}

proptest::proptest! {
    /// O-B05: saturates at the cap.
    #[test]
    fn backoff_saturates(
        first in 1_u64.., most in proptest::prelude::any::<u64>(), attempt in proptest::prelude::any::<u32>(),
        factor in 1.0..f64::MAX, random in proptest::prelude::any::<f64>(),
        equal in proptest::prelude::any::<bool>(),
    ) {
        let (first, most) = (Duration::from_nanos(first), Duration::new(most, 0));
        if let Ok(backoff) = Backoff::new(first, most) {
            let jitter = if equal { Jitter::Equal } else { Jitter::Full };
            let backoff = backoff.factor(factor).unwrap().jitter(jitter);
            proptest::prop_assert!(backoff.bound(attempt) <= most);
            proptest::prop_assert!(backoff.delay(attempt, random) <= backoff.bound(attempt));
        }
    }
}

#[test]
fn backoff_grows() {
    let backoff = Backoff::new(Duration::from_millis(100), secs(1)).unwrap();
    let bounds = [2, 3, 4, 5, 6, 64, u32::MAX].map(|attempt| backoff.bound(attempt).as_millis());
    assert_eq!(bounds, [100, 200, 400, 800, 1000, 1000, 1000]);
    assert_eq!(backoff.delay(2, 0.5), Duration::from_millis(50));
    let equal = backoff.jitter(Jitter::Equal);
    let delays = [0.0, 0.5, 1.0].map(|random| equal.delay(3, random).as_millis());
    assert_eq!(delays, [100, 150, 200], "never less than half");
    let longest = Backoff::new(Duration::MAX, Duration::MAX).unwrap();
    assert_eq!(longest.factor(1e300).unwrap().bound(64), Duration::MAX);
}
