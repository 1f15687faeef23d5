//! The emitter: a rendezvous between an async function and who reads its stream.

mod support;

use std::{
    future::pending,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    task::Poll,
};

use futures_util::{FutureExt, StreamExt, stream::FuturesUnordered};
use portcullis::{
    AgentEvent, AgentExt, Completed, Emitter, Failure, FailureCode, Prompt, Scope, Usage, agent_fn,
    agent_fn_with, emitting,
};
use support::{Log, prompt, scope, word, words};
use tokio::task::JoinSet;
use tokio_test::{assert_pending, assert_ready, task};

/// Polls once and expects an event.
macro_rules! next {
    ($turn:expr) => {
        word(&assert_ready!($turn.poll_next()).expect("an event"))
    };
}

#[test]
fn nothing_runs_ahead_of_what_was_taken() {
    let calls = Arc::new(AtomicUsize::new(0));
    let agent = agent_fn({
        let calls = Arc::clone(&calls);
        move |_, _, out: Emitter| {
            let calls = Arc::clone(&calls);
            async move {
                out.emit(Usage::new("first")).await;
                calls.fetch_add(1, Ordering::SeqCst);
                out.emit(Usage::new("second")).await;
                Ok(())
            }
        }
    });
    let mut turn = task::spawn(agent.invoke(scope(), prompt()));
    assert_eq!(next!(turn), "usage first");
    assert_eq!(calls.load(Ordering::SeqCst), 0, "the call waits for a poll");
    assert_eq!(next!(turn), "usage second");
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    drop(turn);
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

#[test]
fn an_emit_that_nobody_polls_sends_nothing() {
    let agent = agent_fn(async |_, _, out: Emitter| {
        drop(out.emit(AgentEvent::text("never")));
        Ok(())
    });
    let mut turn = task::spawn(agent.invoke(scope(), prompt()));
    assert_eq!(next!(turn), "completed");
    assert!(assert_ready!(turn.poll_next()).is_none());
}

async fn count(out: &Emitter, name: &str, to: usize) {
    for i in 0..to {
        out.emit(AgentEvent::text(format!("{name}{i}"))).await;
    }
}

#[test]
fn joined_emitters_alternate_strictly() {
    let agent = agent_fn(async |_, _, out: Emitter| {
        futures_util::join!(count(&out, "a", 50), count(&out, "b", 50));
        Ok(())
    });
    let mut turn = task::spawn(agent.invoke(scope(), prompt()));
    for i in 0..50 {
        assert_eq!(next!(turn), format!("a{i}"));
        assert_eq!(next!(turn), format!("b{i}"));
    }
    assert_eq!(next!(turn), "completed");
    assert!(
        !turn.is_woken(),
        "nothing wakes a reader that has its event"
    );
}

#[test]
fn emitters_under_wakers_of_their_own_never_hang() {
    let agent = agent_fn(async |_, _, out: Emitter| {
        let mut tools: FuturesUnordered<_> = ["a", "b", "c"]
            .into_iter()
            .map(|name| count(&out, name, 40))
            .collect();
        while tools.next().await.is_some() {}
        Ok(())
    });
    let mut turn = task::spawn(agent.invoke(scope(), prompt()));
    let mut seen = Vec::new();
    // Only wakes justify another poll: a hang would show as Pending without one.
    loop {
        match turn.poll_next() {
            Poll::Ready(Some(event)) => seen.push(word(&event)),
            Poll::Ready(None) => break,
            Poll::Pending => assert!(turn.is_woken(), "hangs after {}", seen.len()),
        }
    }
    assert_eq!(seen.len(), 121);
    for name in ["a", "b", "c"] {
        let of_one: Vec<_> = seen.iter().filter(|word| word.starts_with(name)).collect();
        let expected: Vec<_> = (0..40).map(|i| format!("{name}{i}")).collect();
        let of_one: Vec<_> = of_one.into_iter().take(40).cloned().collect();
        assert_eq!(of_one, expected);
    }
}

#[test]
fn no_emit_of_unordered_ones_waits_for_ever_behind_another() {
    let agent = agent_fn(async |_, _, out: Emitter| {
        let mut tools: FuturesUnordered<_> = ["a", "b", "c"]
            .into_iter()
            .map(|name| count(&out, name, 10))
            .collect();
        while tools.next().await.is_some() {}
        Ok(())
    });
    let mut turn = task::spawn(agent.invoke(scope(), prompt()));
    let mut seen = Vec::new();
    while let Some(event) = assert_ready!(turn.poll_next()) {
        seen.push(word(&event));
    }
    for round in seen[..30].chunks(3) {
        let mut names: Vec<_> = round.iter().map(|word| &word[..1]).collect();
        names.sort_unstable();
        assert_eq!(names, ["a", "b", "c"], "each has its turn: {seen:?}");
    }
}

#[test]
fn an_emit_that_loses_a_select_sends_nothing_and_lets_the_next_through() {
    let agent = agent_fn(async |_, _, out: Emitter| {
        let never_taken = async {
            // Queued first, dropped while queued: the branch below is ready at once.
            let mut emit = out.emit(AgentEvent::text("withdrawn"));
            assert!((&mut emit).now_or_never().is_none());
        };
        futures_util::join!(never_taken, out.emit(AgentEvent::text("next")));
        Ok(())
    });
    let mut turn = task::spawn(agent.invoke(scope(), prompt()));
    assert_eq!(next!(turn), "next");
    assert_eq!(next!(turn), "completed");
}

#[tokio::test(start_paused = true)]
async fn a_queued_emit_can_time_out_and_the_one_behind_it_is_taken() {
    let agent = agent_fn(async |_, _, out: Emitter| {
        futures_util::join!(
            async {
                out.emit(AgentEvent::text("first")).await;
                out.emit(AgentEvent::text("last")).await;
            },
            async {
                let soon = tokio::time::Duration::from_millis(10);
                let sent = tokio::time::timeout(soon, out.emit(AgentEvent::text("late"))).await;
                assert!(sent.is_err(), "it was never taken");
            }
        );
        Ok(())
    });
    let mut turn = task::spawn(agent.invoke(scope(), prompt()));
    assert_eq!(next!(turn), "first");
    tokio::time::advance(tokio::time::Duration::from_millis(20)).await;
    // `late` is at the head now, and withdrawn in this very poll.
    assert_eq!(next!(turn), "last");
    assert_eq!(next!(turn), "completed");
}

#[test]
fn an_emit_that_was_taken_counts_although_it_is_dropped() {
    let agent = agent_fn(async |_, _, out: Emitter| {
        let mut emit = out.emit(AgentEvent::text("taken"));
        let mut polls = 0;
        std::future::poll_fn(|cx| {
            polls += 1;
            let _ = emit.poll_unpin(cx);
            if polls == 2 {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
        drop(emit);
        out.emit(AgentEvent::text("next")).await;
        Ok(())
    });
    let mut turn = task::spawn(agent.invoke(scope(), prompt()));
    assert_eq!(next!(turn), "taken");
    assert_eq!(next!(turn), "next");
    assert_eq!(next!(turn), "completed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spawned_producers_on_two_threads_lose_nothing() {
    const TASKS: usize = 8;
    const EACH: usize = 2_000;
    let agent = agent_fn(async |_, _, out: Emitter| {
        let mut tasks = JoinSet::new();
        for task in 0..TASKS {
            let out = out.clone();
            tasks.spawn(async move {
                for i in 0..EACH {
                    out.emit(AgentEvent::text(format!("{task} {i}"))).await;
                }
            });
        }
        while let Some(done) = tasks.join_next().await {
            done.expect("no panic");
        }
        Ok(())
    });
    let turn = agent.invoke(scope(), prompt());
    let reading = tokio::time::timeout(
        tokio::time::Duration::from_secs(60),
        turn.collect::<Vec<_>>(),
    );
    let events = reading.await.expect("no hang");
    assert_eq!(events.len(), TASKS * EACH + 1);
    let mut next = [0; TASKS];
    for event in &events[..TASKS * EACH] {
        let AgentEvent::Text(text) = event else {
            panic!("{event:?}")
        };
        let (task, i) = text.delta().split_once(' ').expect("two numbers");
        let task: usize = task.parse().expect("a number");
        assert_eq!(i, next[task].to_string(), "the order of each is kept");
        next[task] += 1;
    }
}

#[tokio::test]
async fn a_clone_that_outlives_the_turn_resolves_at_once() {
    let kept: Arc<Mutex<Option<Emitter>>> = Arc::default();
    let agent = agent_fn({
        let kept = Arc::clone(&kept);
        move |_, _, out: Emitter| {
            *kept.lock().expect("not poisoned") = Some(out.clone());
            async move {
                out.emit(AgentEvent::text("a")).await;
                Ok(())
            }
        }
    });
    for (read, what) in [
        (usize::MAX, "to the end"),
        (1, "dropped"),
        (0, "never polled"),
    ] {
        let turn = agent.clone().invoke(scope(), prompt());
        let mut turn = task::spawn(turn);
        for _ in 0..read {
            if assert_ready!(turn.poll_next()).is_none() {
                break;
            }
        }
        let Some(out) = kept.lock().expect("not poisoned").take() else {
            assert_eq!(read, 0, "invoked lazily");
            continue;
        };
        if read == 1 {
            let mut emit = task::spawn(out.emit(AgentEvent::text("waits")));
            assert_pending!(emit.poll(), "{what}");
            drop(turn);
            assert!(emit.is_woken(), "{what}");
            assert_ready!(emit.poll(), "{what}");
        }
        assert!(out.is_closed(), "{what}");
        assert!(out.emit(AgentEvent::text("b")).now_or_never().is_some());
    }
}

#[test]
fn an_emitted_terminal_ends_the_turn_and_drops_the_function() {
    let log = Log::default();
    let agent = agent_fn_with(log.clone(), async |log: Log, _, _, out: Emitter| {
        let _engine = log.guard("engine");
        out.emit(AgentEvent::text("a")).await;
        out.emit(Failure::new("enough")).await;
        log.push("went on");
        out.emit(AgentEvent::text("b")).await;
        Ok(())
    });
    let mut turn = task::spawn(agent.invoke(scope(), prompt()));
    assert_eq!(next!(turn), "a");
    assert!(log.take().is_empty());
    assert_eq!(next!(turn), "failed: enough");
    assert_eq!(log.take(), ["engine dropped"], "in the very poll");
    assert!(assert_ready!(turn.poll_next()).is_none());
    assert!(assert_ready!(turn.poll_next()).is_none());
    assert!(log.take().is_empty());
}

fn is_internal(event: &AgentEvent) -> bool {
    matches!(event, AgentEvent::Failed(failure) if failure.is(&FailureCode::INTERNAL))
}

#[tokio::test]
async fn a_panic_is_one_failed_event_wherever_it_comes_from() {
    // In the closure itself.
    let agent = agent_fn(|_, prompt: Prompt, _out: Emitter| {
        assert!(prompt.as_text().is_empty(), "panics");
        async { Ok(()) }
    });
    let events: Vec<_> = agent.invoke(scope(), prompt()).collect().await;
    assert!(events.len() == 1 && is_internal(&events[0]), "{events:?}");

    // Before the first await, and after one.
    for panics_at in 0..3 {
        let agent = agent_fn_with(panics_at, async |at, _, _, out: Emitter| {
            for i in 0..3 {
                assert!(i != at, "panics");
                out.emit(AgentEvent::text("a")).await;
            }
            Ok(())
        });
        let events: Vec<_> = agent.invoke(scope(), prompt()).collect().await;
        assert_eq!(events.len(), panics_at + 1, "{events:?}");
        assert!(is_internal(events.last().expect("one")), "{events:?}");
    }
}

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("the drop panics");
        }
    }
}

#[tokio::test]
async fn a_panic_in_a_drop_is_a_failed_event_too() {
    // When the function returns.
    let agent = agent_fn(async |_, _, out: Emitter| {
        let _bomb = Bomb;
        out.emit(AgentEvent::text("a")).await;
        Ok(())
    });
    let events: Vec<_> = agent.invoke(scope(), prompt()).collect().await;
    assert_eq!(events.len(), 2);
    assert!(is_internal(&events[1]), "{events:?}");

    // When it is dropped, since it emitted a terminal event.
    let agent = agent_fn(async |_, _, out: Emitter| {
        let _bomb = Bomb;
        out.emit(AgentEvent::completed()).await;
        Ok(())
    });
    let events: Vec<_> = agent.invoke(scope(), prompt()).collect().await;
    assert_eq!(events.len(), 1, "{events:?}");
    assert!(is_internal(&events[0]), "{events:?}");
}

#[test]
fn the_plain_case_wakes_nobody_in_vain() {
    let agent = agent_fn(async |_, _, out: Emitter| {
        for _ in 0..3 {
            out.emit(AgentEvent::text("a")).await;
        }
        pending::<()>().await;
        Ok(())
    });
    let mut turn = task::spawn(agent.invoke(scope(), prompt()));
    for _ in 0..3 {
        assert_eq!(next!(turn), "a");
        assert!(!turn.is_woken());
    }
    assert_pending!(turn.poll_next());
    assert!(!turn.is_woken());
}

#[test]
fn an_emit_from_outside_wakes_the_reader_once() {
    let kept: Arc<Mutex<Option<Emitter>>> = Arc::default();
    let agent = agent_fn_with(
        Arc::clone(&kept),
        async |kept: Arc<Mutex<_>>, _, _, out: Emitter| {
            *kept.lock().expect("not poisoned") = Some(out);
            pending::<()>().await;
            Ok(())
        },
    );
    let mut turn = task::spawn(agent.invoke(scope(), prompt()));
    assert_pending!(turn.poll_next());
    assert!(!turn.is_woken());
    let out = kept
        .lock()
        .expect("not poisoned")
        .take()
        .expect("put there");
    let mut first = task::spawn(out.emit(AgentEvent::text("a")));
    let mut second = task::spawn(out.emit(AgentEvent::text("b")));
    assert_pending!(first.poll());
    assert!(turn.is_woken());
    assert_pending!(second.poll());
    assert_eq!(next!(turn), "a");
    assert!(!first.is_woken(), "not acknowledged before the next poll");
    assert_pending!(first.poll());
    assert_eq!(next!(turn), "b");
    assert!(first.is_woken());
    assert_ready!(first.poll());
    // The reader goes; the second emit does not wait for it.
    drop(turn);
    assert!(second.is_woken());
    assert_ready!(second.poll());
}

#[test]
fn the_building_block_stands_alone() {
    let mut run = Box::pin(emitting(async |out: Emitter<u32>| {
        out.emit(1_u32).await;
        "done"
    }));
    let mut polling = task::spawn(());
    polling.enter(|cx, _| {
        assert!(matches!(
            run.as_mut().poll_step(cx),
            Poll::Ready(portcullis::Step::Item(1))
        ));
        assert!(matches!(
            run.as_mut().poll_step(cx),
            Poll::Ready(portcullis::Step::Done("done"))
        ));
        assert!(run.as_mut().poll_step(cx).is_pending());
    });
}

#[tokio::test]
async fn what_the_function_returns_is_the_terminal_event() {
    let agent = agent_fn(
        async |scope: Scope, _, _out: Emitter| match scope.session() {
            "data" => Ok(Completed::with_data(
                portcullis::Json::from_text("[1]").expect("json"),
            )),
            _ => Err(Failure::with_code(FailureCode::INVALID_PROMPT, "no")),
        },
    );
    let events: Vec<_> = agent.invoke(Scope::new("data"), prompt()).collect().await;
    let AgentEvent::Completed(completed) = &events[0] else {
        panic!("{events:?}")
    };
    assert_eq!(completed.data().map(portcullis::Json::as_str), Some("[1]"));
    let events: Vec<_> = agent.invoke(Scope::new("other"), prompt()).collect().await;
    assert_eq!(words(&events), ["failed: no"]);
}

mod any_producers {
    //! However producers run at once, and whatever they give up.

    use proptest::prelude::*;

    use super::*;

    /// What one producer does with its events, one after the other.
    #[derive(Clone, Copy, Debug)]
    enum Emission {
        Awaited,
        /// Given up after so many polls of its own.
        GivenUp(usize),
        /// Another producer goes first.
        Yield,
    }

    fn emission() -> impl Strategy<Value = Emission> {
        prop_oneof![
            3 => Just(Emission::Awaited),
            1 => (0..4_usize).prop_map(Emission::GivenUp),
            1 => Just(Emission::Yield),
        ]
    }

    async fn produce(out: &Emitter, name: usize, plan: &[Emission]) {
        for (i, emission) in plan.iter().enumerate() {
            let event = AgentEvent::text(format!("{name} {i}"));
            match emission {
                Emission::Awaited => out.emit(event).await,
                Emission::GivenUp(polls) => {
                    let mut emit = out.emit(event);
                    let mut left = *polls;
                    std::future::poll_fn(|cx| {
                        if left == 0 || emit.poll_unpin(cx).is_ready() {
                            return Poll::Ready(());
                        }
                        left -= 1;
                        cx.waker().wake_by_ref();
                        Poll::Pending
                    })
                    .await;
                }
                Emission::Yield => {
                    let mut yielded = false;
                    std::future::poll_fn(|cx| {
                        if std::mem::replace(&mut yielded, true) {
                            return Poll::Ready(());
                        }
                        cx.waker().wake_by_ref();
                        Poll::Pending
                    })
                    .await;
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

        #[test]
        fn lose_nothing_that_was_awaited_and_never_hang(
            plans in prop::collection::vec(prop::collection::vec(emission(), 0..6), 1..5),
            unordered in any::<bool>(),
        ) {
            let agent = agent_fn_with((plans.clone(), unordered), async |(plans, unordered): (Vec<Vec<Emission>>, bool), _, _, out: Emitter| {
                let tools = plans.iter().enumerate().map(|(name, plan)| produce(&out, name, plan));
                if unordered {
                    let mut tools: FuturesUnordered<_> = tools.collect();
                    while tools.next().await.is_some() {}
                } else {
                    futures_util::future::join_all(tools).await;
                }
                Ok(())
            });
            let mut turn = task::spawn(agent.invoke(scope(), prompt()));
            let mut seen = Vec::new();
            loop {
                match turn.poll_next() {
                    Poll::Ready(Some(event)) => seen.push(word(&event)),
                    Poll::Ready(None) => break,
                    Poll::Pending => prop_assert!(turn.is_woken(), "hangs after {seen:?}"),
                }
            }
            prop_assert_eq!(seen.pop(), Some("completed".to_owned()));
            for (name, plan) in plans.iter().enumerate() {
                let of_one = seen.iter().filter_map(|word| word.strip_prefix(&format!("{name} ")));
                let of_one: Vec<usize> = of_one.map(|i| i.parse().expect("a number")).collect();
                prop_assert!(of_one.is_sorted_by(|a, b| a < b), "each once, in order: {seen:?}");
                for (i, emission) in plan.iter().enumerate() {
                    if matches!(emission, Emission::Awaited) {
                        prop_assert!(of_one.contains(&i), "{name} {i} is lost: {seen:?}");
                    }
                }
            }
        }
    }
}
