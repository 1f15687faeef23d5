//! The probe counts right: what the suites conclude rests on it.
#![cfg(feature = "conformance")]

use std::time::Duration;

use futures_util::{FutureExt, StreamExt};
use portcullis::{
    AgentEvent, AgentExt, Prompt, Scope, Usage, UsageSink,
    conformance::{Place, ProbeAgent, drop_at_every_poll},
};
use tokio_test::{assert_pending, assert_ready, task};
use tower::Service;

fn request() -> (Scope, Prompt) {
    (Scope::new("s"), Prompt::text("p"))
}

fn make_ready(agent: &mut ProbeAgent) {
    let mut polling = task::spawn(());
    assert!(polling.enter(|cx, _| agent.poll_ready(cx)).is_ready());
}

#[test]
fn a_reservation_lives_from_ready_to_call_or_drop() {
    let mut agent = ProbeAgent::new().completed();
    let log = agent.log();
    make_ready(&mut agent);
    make_ready(&mut agent);
    assert_eq!(
        (log.reserved(), log.reservations()),
        (1, 1),
        "once a service"
    );

    let mut clone = agent.clone();
    assert_eq!(log.reserved(), 1, "a clone starts unready");
    make_ready(&mut clone);
    assert_eq!(log.reserved(), 2);
    drop(clone);
    assert_eq!(log.reserved(), 1);

    let call = agent.call(request());
    assert_eq!(
        (log.reserved(), log.calls(), log.unready_calls()),
        (0, 1, 0)
    );
    assert_eq!(log.live_runs(), 1);
    drop(call);
    assert_eq!((log.live_runs(), log.dropped_runs()), (0, 1));

    drop(agent.call(request()));
    assert_eq!(
        log.unready_calls(),
        1,
        "each call needs a readiness of its own"
    );
}

#[test]
fn readiness_can_be_late_or_never() {
    let mut polling = task::spawn(());
    let mut agent = ProbeAgent::new().ready_after(2).completed();
    for _ in 0..2 {
        assert!(polling.enter(|cx, _| agent.poll_ready(cx)).is_pending());
        assert!(polling.is_woken());
    }
    make_ready(&mut agent);
    let mut never = ProbeAgent::new().never_ready();
    assert!(polling.enter(|cx, _| never.poll_ready(cx)).is_pending());
    assert_eq!(never.log().reservations(), 0);
}

#[tokio::test(start_paused = true)]
async fn it_does_its_steps_in_order() {
    let agent = ProbeAgent::new()
        .call_pending(1)
        .text("a")
        .pending(1)
        .unknown(1)
        .paid_call()
        .sleep(Duration::from_secs(5))
        .completed();
    let log = agent.log();
    let mut turn = task::spawn(agent.invoke(Scope::new("s"), Prompt::text("p")));
    assert_pending!(turn.poll_next());
    assert_eq!(assert_ready!(turn.poll_next()), Some(AgentEvent::text("a")));
    assert_pending!(turn.poll_next());
    assert!(turn.is_woken());
    assert!(matches!(
        assert_ready!(turn.poll_next()),
        Some(AgentEvent::Extension(_))
    ));
    assert_eq!(log.paid_calls(), 0);
    assert_pending!(turn.poll_next());
    assert_eq!(log.paid_calls(), 1);
    tokio::time::advance(Duration::from_secs(5)).await;
    assert_eq!(
        assert_ready!(turn.poll_next()),
        Some(AgentEvent::completed())
    );
    assert_eq!((log.live_runs(), log.dropped_runs()), (0, 0));
    assert_eq!(log.prompts(), ["p"]);
}

#[tokio::test]
async fn runs_of_one_log_may_differ() {
    let agent = ProbeAgent::new()
        .text("a")
        .completed()
        .next_run()
        .text("b")
        .completed();
    for expected in ["a", "b", "b"] {
        let answer = agent.invoke(Scope::new("s"), Prompt::text("p"));
        let answer = portcullis::collect(answer).await;
        assert_eq!(answer.expect("completed").text, expected);
    }
}

#[test]
fn what_ran_ahead_is_told_from_what_was_taken() {
    let agent = ProbeAgent::new().text("a").text("b").completed();
    let log = agent.log();
    let turn = log.taking(agent.invoke(Scope::new("s"), Prompt::text("p")));
    assert_eq!(turn.count().now_or_never(), Some(3));
    assert_eq!((log.emitted(), log.taken(), log.ran_ahead()), (3, 3, 0));

    // A reader that is one event ahead of the one behind it.
    let agent = agent.renewed();
    let log = agent.log();
    let ahead = agent.invoke(Scope::new("s"), Prompt::text("p")).peekable();
    let ahead = Box::pin(futures_util::stream::unfold(ahead, |mut ahead| {
        Box::pin(async move {
            let mut ahead_now = std::pin::Pin::new(&mut ahead);
            let event = ahead_now.as_mut().next().await?;
            ahead_now.peek().await;
            Some((event, ahead))
        })
    }));
    assert_eq!(log.taking(ahead).count().now_or_never(), Some(3));
    assert_eq!(
        (log.taken(), log.ran_ahead()),
        (3, 2),
        "the terminal event has no after"
    );
}

#[tokio::test(start_paused = true)]
async fn a_drop_reports_once_and_every_state_is_dropped_in() {
    let agent = ProbeAgent::new()
        .ready_after(1)
        .call_pending(1)
        .report_on_drop(Usage::new("late"))
        .text("a")
        .hang();
    let log = agent.log();
    let reported = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let mut places = Vec::new();
    let turns = drop_at_every_poll(
        || {
            let mut scope = Scope::new("s");
            let reported = std::sync::Arc::clone(&reported);
            scope.add_usage_sink(UsageSink::new(move |_| {
                reported.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }));
            agent.invoke(scope, Prompt::text("p"))
        },
        |place, said| {
            assert_eq!(said.len(), usize::from(places.len() > 2), "{place}");
            assert_eq!((log.live_runs(), log.reserved()), (0, 0), "{place}");
            places.push(place);
        },
    )
    .await;
    use Place::{Event, NotPolled, Pending, Stuck};
    assert_eq!(
        places,
        [NotPolled, Pending, Pending, Event(0), Pending, Stuck]
    );
    assert_eq!(turns, 6);
    assert_eq!(reported.load(std::sync::atomic::Ordering::Relaxed), 3);
}
