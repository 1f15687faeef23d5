//! One turn a session, and reaching it while it runs.

#[path = "support/puppet.rs"]
mod puppet;
mod support;

use std::{
    collections::{BTreeMap, BTreeSet},
    future::{Ready, ready},
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use futures_util::{FutureExt, StreamExt, future::join_all};
use portcullis::{
    AgentEvent, AgentExt, BoxAgent, BoxEventStream, Completed, Emitter, Failure, FailureCode, Fate,
    Invoke, Json, Prompt, RefusalCode, Scope, SessionControl, agent_fn,
    conformance::suite,
    views::{FollowUp, Lagged},
};
use portcullis_layers::{
    budget::{BudgetLayer, Limits as Budget, MemoryLedger, Meter},
    concurrency::ConcurrencyLayer,
    retry::RetryLayer,
    session::{
        GateLayer, Held, Limits, MemoryLock, NotAcquired, SessionDesk, SessionLock,
        assert_session_lock,
    },
    timeout::TimeoutLayer,
};
use tokio::{
    sync::Notify,
    time::{Instant, advance, sleep, timeout},
};
use tower::{Layer, ServiceBuilder};

use puppet::{Pull, Puppet};
use support::*;

type Turn<A> = Pin<Box<Invoke<A>>>;

fn of<A: portcullis::Agent + Clone>(agent: &A, session: &str) -> Turn<A> {
    Box::pin(agent.invoke(Scope::new(session), Prompt::text("first")))
}

fn counts(gate: &GateLayer) -> (usize, usize, usize) {
    let lock = gate.lock();
    (lock.held(), lock.waiting(), lock.sessions())
}

/// Polls once.
fn look<A: portcullis::Agent>(turn: &mut Turn<A>) -> Option<AgentEvent> {
    turn.next()
        .now_or_never()
        .map(|event| event.expect("it goes on"))
}

mod gate {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn hands_on_everything() {
        assert_transparent(|actor| GateLayer::new().layer(actor)).await;
        let gate = GateLayer::new().queue(1, secs(1)).unwrap();
        assert_transparent(|actor| gate.layer(actor)).await;
        let gone = gate.clone();
        assert_drops(
            everything(),
            |actor| gate.layer(actor),
            move || counts(&gone) == (0, 0, 0),
        )
        .await;
    }

    #[tokio::test]
    async fn a_busy_session_is_refused_at_once() {
        let gate = GateLayer::new();
        let actor = actor([say("a"), Do::Hang]);
        let agent = gate.layer(actor.clone());
        let mut running = of(&agent, "s");
        assert_eq!(look(&mut running), Some(AgentEvent::text("a")));
        let refused: Vec<_> = of(&agent, "s").collect().now_or_never().expect("at once");
        assert_eq!(types(&refused), "failed");
        assert!(failure(&refused).is(&FailureCode::SESSION_BUSY));
        assert!(failure(&refused).is_retryable());
        assert_eq!(actor.seen.calls(), 1, "the agent is not called");
        // Another session has nothing to do with it.
        let mut other = of(&agent, "other");
        assert_eq!(look(&mut other), Some(AgentEvent::text("a")));
        assert_eq!(counts(&gate), (2, 0, 2));
        drop((running, other));
        assert_eq!(counts(&gate), (0, 0, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn every_end_frees_the_session() {
        for (end, part) in five_ends() {
            let gate = GateLayer::new();
            let agent = gate.layer(actor(part));
            let mut turn = of(&agent, "s");
            let read = std::panic::AssertUnwindSafe(async {
                while let Some(event) = turn.next().await {
                    if event.is_terminal() {
                        break;
                    }
                }
            });
            let read = timeout(secs(1), read.catch_unwind()).await;
            match end {
                "cancelled" => {
                    assert!(read.is_err() && counts(&gate) == (1, 0, 1));
                    drop(turn);
                }
                "panicked" => assert!(read.expect("it ends").is_err()),
                // At the event, though the stream lives on.
                _ => assert!(read.expect("it ends").is_ok()),
            }
            assert_eq!(counts(&gate), (0, 0, 0), "{end}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_queue_is_fair_and_bounded() {
        let gate = GateLayer::new().queue(2, secs(10)).unwrap();
        let puppet = Puppet::default();
        let agent = gate.layer(puppet.agent());
        let mut running = of(&agent, "s");
        assert_eq!(look(&mut running), None);
        let ask = |text: &str| Box::pin(agent.invoke(Scope::new("s"), Prompt::text(text)));
        let (mut second, mut third) = (ask("second"), ask("third"));
        assert!(look(&mut second).is_none() && look(&mut third).is_none());
        assert_eq!(counts(&gate), (1, 2, 1));
        // No room for one more.
        let refused: Vec<_> = ask("fourth").collect().await;
        assert!(failure(&refused).is(&FailureCode::SESSION_BUSY));
        puppet.complete();
        assert_eq!(types(&running.collect::<Vec<_>>().await), "completed");
        // The third one asks first, and waits on.
        assert!(look(&mut third).is_none() && look(&mut second).is_none());
        puppet.complete();
        assert_eq!(types(&second.collect::<Vec<_>>().await), "completed");
        puppet.complete();
        assert_eq!(types(&third.collect::<Vec<_>>().await), "completed");
        assert_eq!(puppet.strings().begun, ["first", "second", "third"]);
        assert_eq!(counts(&gate), (0, 0, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_ever() {
        let gate = GateLayer::new().queue(9, secs(10)).unwrap();
        let actor = actor([say("a"), Do::Hang]);
        let agent = gate.layer(actor.clone());
        let mut running = of(&agent, "s");
        let _ = running.next().await;
        let begun = Instant::now();
        let refused: Vec<_> = of(&agent, "s").collect().await;
        assert_eq!(begun.elapsed(), secs(10));
        assert!(failure(&refused).is(&FailureCode::SESSION_BUSY));
        // The scope's deadline is nearer.
        let begun = Instant::now();
        let scope = Scope::new("s").with_deadline((begun + secs(3)).into_std());
        let refused: Vec<_> = agent.invoke(scope, Prompt::text("p")).collect().await;
        assert_eq!(begun.elapsed(), secs(3));
        assert!(failure(&refused).is(&FailureCode::TIMEOUT));
        assert_eq!((counts(&gate), actor.seen.calls()), ((1, 0, 1), 1));
    }

    /// A turn that was called up and leaves without a look does not keep the next from it.
    #[tokio::test]
    async fn a_leaver_passes_the_session_on() {
        let gate = GateLayer::new().queue(9, secs(10)).unwrap();
        let agent = gate.layer(actor([say("a"), Do::Hang]));
        let mut turns: Vec<_> = (0..5).map(|_| of(&agent, "s")).collect();
        for turn in &mut turns {
            let _ = look(turn);
        }
        // One leaves from the middle, one as it is called up.
        drop(turns.remove(2));
        drop(turns.remove(0));
        drop(turns.remove(0));
        assert_eq!(look(&mut turns[0]), Some(AgentEvent::text("a")));
        assert_eq!(counts(&gate), (1, 1, 1));
    }

    #[test]
    fn a_queue_in_which_nobody_could_wait_is_refused() {
        for (turns, wait) in [(0, secs(1)), (1, secs(0))] {
            let error = GateLayer::new().queue(turns, wait).unwrap_err();
            assert!(error.to_string().starts_with("a queue needs a place"));
        }
    }

    /// O-M03.
    #[tokio::test]
    async fn sessions_are_forgotten() {
        let gate = GateLayer::new().queue(1, secs(1)).unwrap();
        let agent = gate.layer(actor([done()]));
        for session in 0..10_000 {
            let _: Vec<_> = of(&agent, &session.to_string()).collect().await;
        }
        assert_eq!(counts(&gate), (0, 0, 0));
    }

    /// Critique E5: 100 turns of one session wait, and another session goes as if alone.
    #[tokio::test(start_paused = true)]
    async fn a_queue_costs_its_neighbours_nothing() {
        async fn latency(queued: usize) -> std::time::Duration {
            let desk = SessionDesk::new();
            let places = ConcurrencyLayer::new(2);
            let agent = ServiceBuilder::new()
                .layer(desk.gate().queue(100, secs(100_000)).unwrap())
                .layer(places.clone())
                .layer(desk.window())
                .service(actor([Do::Wait(secs(10)), say("a"), done()]));
            let mut crowd: Vec<_> = (0..queued).map(|_| of(&agent, "a")).collect();
            for turn in &mut crowd {
                assert!(look(turn).is_none());
            }
            assert_eq!(places.running(), queued.min(1), "who waits takes no place");
            let begun = Instant::now();
            let b = async {
                let answer: Vec<_> = of(&agent, "b").collect().await;
                assert_eq!(types(&answer), "text completed");
                begun.elapsed()
            };
            let crowd = join_all(crowd.into_iter().map(|turn| turn.collect::<Vec<_>>()));
            let (latency, crowd) = futures_util::join!(b, crowd);
            assert!(crowd.iter().all(|answer| types(answer) == "text completed"));
            latency
        }
        assert_eq!(latency(100).await, latency(0).await);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn the_memory_lock_keeps_what_a_lock_promises() {
        let lock = MemoryLock::new();
        assert_session_lock([lock.clone(), lock.clone()]).await;
        assert_eq!((lock.held(), lock.waiting(), lock.sessions()), (0, 0, 0));
    }

    /// Two locks that know nothing of each other are no lock: the suite tells.
    #[tokio::test(start_paused = true)]
    #[should_panic(expected = "it has two holders")]
    async fn the_suite_catches_a_lock_that_is_not_shared() {
        assert_session_lock([MemoryLock::new(), MemoryLock::new()]).await;
    }

    /// MUST 6: a conversation over two stacks that share a lock is that over one, and a session has
    /// one turn over both.
    #[tokio::test(start_paused = true)]
    async fn portable_with_a_shared_lock() {
        type Store = (MemoryLock, Arc<Mutex<Vec<String>>>);
        fn stack((lock, said): &Store) -> BoxAgent {
            let said = Arc::clone(said);
            let agent = agent_fn(move |_: Scope, prompt: Prompt, out: Emitter| {
                let said = Arc::clone(&said);
                async move {
                    let before = said.lock().unwrap().join(" ");
                    sleep(secs(1)).await;
                    said.lock().unwrap().push(prompt.as_text().to_owned());
                    out.emit(AgentEvent::text(format!("before: {before}")))
                        .await;
                    Ok(())
                }
            });
            let gate = GateLayer::over(lock.clone()).queue(8, secs(60)).unwrap();
            let window = SessionDesk::new().window();
            ServiceBuilder::new()
                .layer(gate)
                .layer(window)
                .service(agent)
                .boxed()
        }
        suite::portable(Store::default, stack, ["one", "two", "three"])
            .await
            .assert();
        // At once, on two stacks: as if they had come one after the other.
        let both = async |store: [&Store; 2]| {
            let (one, two) = (stack(store[0]), stack(store[1]));
            let ask = |agent: &BoxAgent| of(agent, "s").collect::<Vec<_>>();
            let (one, two) = futures_util::join!(ask(&one), ask(&two));
            [one[0].clone(), two[0].clone()]
        };
        let store = Store::default();
        let answers = both([&store, &store]).await;
        let in_turn = ["before: ", "before: first"].map(AgentEvent::text);
        assert_eq!(answers, in_turn);
        // Without a shared lock they would not.
        let not_shared = (MemoryLock::new(), Arc::clone(&store.1));
        let answers = both([&store, &not_shared]).await;
        assert_eq!(answers[0], answers[1]);
    }

    /// A lock of a store: it may fail, and be lost.
    #[derive(Clone, Default)]
    struct Leased {
        unavailable: bool,
        lost: Arc<AtomicBool>,
        notify: Arc<Notify>,
    }

    struct Lease(Pin<Box<dyn Future<Output = ()> + Send>>);

    impl Held for Lease {
        fn poll_lost(&mut self, cx: &mut Context<'_>) -> Poll<()> {
            self.0.poll_unpin(cx)
        }
    }

    impl SessionLock for Leased {
        type Held = Lease;
        type Acquire = Ready<Result<Lease, NotAcquired>>;

        fn acquire(&self, _: &str, _: usize) -> Self::Acquire {
            if self.unavailable {
                return ready(Err(NotAcquired::Unavailable(
                    "no route to the store".into(),
                )));
            }
            let (lost, notify) = (Arc::clone(&self.lost), Arc::clone(&self.notify));
            ready(Ok(Lease(Box::pin(async move {
                while !lost.load(Ordering::SeqCst) {
                    notify.notified().await;
                }
            }))))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_turn_that_loses_its_session_is_cut() {
        let lock = Leased::default();
        let actor = actor([say("a"), Do::Hang]);
        let agent = GateLayer::over(lock.clone()).layer(actor.clone());
        let mut turn = of(&agent, "s");
        assert_eq!(look(&mut turn), Some(AgentEvent::text("a")));
        let mut next = tokio_test::task::spawn(turn.next());
        assert!(next.poll().is_pending());
        lock.lost.store(true, Ordering::SeqCst);
        lock.notify.notify_one();
        assert!(next.is_woken());
        let Poll::Ready(Some(AgentEvent::Failed(failure))) = next.poll() else {
            panic!("the turn goes on without its session");
        };
        assert!(failure.is(&FailureCode::UNAVAILABLE) && failure.is_retryable());
        assert_eq!(actor.seen.alive(), 0);
    }

    #[tokio::test]
    async fn a_lock_that_fails_is_not_a_busy_session() {
        let lock = Leased {
            unavailable: true,
            ..Leased::default()
        };
        let actor = actor([done()]);
        let refused = events(&GateLayer::over(lock).layer(actor.clone())).await;
        let failure = failure(&refused);
        assert!(failure.is(&FailureCode::UNAVAILABLE) && failure.is_retryable());
        assert!(!failure.details().contains("route"), "that is for the log");
        let source = std::error::Error::source(failure).expect("and there it is");
        assert_eq!(source.to_string(), "no route to the store");
        assert_eq!(actor.seen.calls(), 0);
    }
}

/// A desk, and a puppet behind its window.
fn staged(limits: Limits) -> (SessionDesk, Puppet, BoxAgent) {
    let desk = SessionDesk::with_limits(limits).unwrap();
    let puppet = Puppet::default();
    let agent = desk.window().layer(puppet.agent()).boxed();
    (desk, puppet, agent)
}

async fn fates(desk: &SessionDesk, session: &str) -> Vec<Fate> {
    let state = desk.state(session).await;
    state.fates.into_iter().map(|(_, fate)| fate).collect()
}

async fn follow(desk: &SessionDesk, text: &str) {
    desk.follow_up("s", Prompt::text(text))
        .await
        .expect("a turn runs");
}

mod window {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn hands_on_everything() {
        let desk = SessionDesk::new();
        assert_transparent(|actor| desk.window().layer(actor)).await;
        let gone = desk.clone();
        assert_drops(
            everything(),
            |actor| desk.window().layer(actor),
            move || (gone.running(), gone.sessions()) == (0, 0),
        )
        .await;
    }

    #[tokio::test]
    async fn a_follow_up_is_another_run_of_the_same_turn() {
        let desk = SessionDesk::new();
        let mut first = Completed::with_data(Json::from_text("1.50").unwrap());
        first
            .extra_mut()
            .insert("stop", &Json::from_text("\"end\"").unwrap())
            .unwrap();
        let last = Completed::with_data(Json::from_text("2").unwrap());
        let part = |text, end: &Completed| {
            vec![
                say(text),
                used("turn", 1, 1),
                Do::Yield,
                Do::Say(end.clone().into()),
            ]
        };
        let actor = actor(part("one", &first)).then(part("two", &last));
        let agent = desk.window().layer(actor.clone());
        let mut turn = of(&agent, "s");
        assert_eq!(turn.next().await, Some(AgentEvent::text("one")));
        assert!(desk.capabilities("s").await.follow_up);
        let accepted = desk.follow_up("s", Prompt::text("more")).await.unwrap();
        assert_eq!(
            desk.state("s").await.fates,
            [(accepted.clone(), Fate::Queued)]
        );
        // The first run ends, and is gone before the boundary is seen.
        assert_eq!(types(&[turn.next().await.unwrap()]), "usage");
        let boundary = turn.next().await.unwrap();
        assert_eq!(
            boundary.to_json(),
            r#"{"type":"follow_up","run":2,"text":"more","data":1.50,"stop":"end"}"#
        );
        assert_eq!((actor.seen.calls(), actor.seen.alive()), (1, 0));
        assert_eq!(fates(&desk, "s").await, [Fate::Queued], "it has not begun");
        assert_eq!(turn.next().await, Some(AgentEvent::text("two")));
        assert_eq!(fates(&desk, "s").await, [Fate::Delivered]);
        let Some(AgentEvent::Usage(usage)) = turn.next().await else {
            panic!("usage");
        };
        assert_eq!(usage.id(), "2/turn", "nobody's bill is overwritten");
        assert_eq!(turn.next().await, Some(AgentEvent::Completed(last)));
        assert_eq!(turn.next().await, None);
        assert!(!desk.state("s").await.running);
        let refusal = desk.follow_up("s", Prompt::text("late")).await.unwrap_err();
        assert_eq!(refusal.code(), RefusalCode::NotRunning);
        assert_eq!(desk.state("s").await.fates, [(accepted, Fate::Delivered)]);
    }

    #[tokio::test]
    async fn follow_ups_run_in_order() {
        let (desk, puppet, agent) = staged(Limits::new());
        let mut turn = of(&agent, "s");
        assert_eq!(look(&mut turn), None);
        for text in ["second", "third"] {
            follow(&desk, text).await;
        }
        puppet.complete();
        let boundary = turn
            .next()
            .await
            .unwrap()
            .view::<FollowUp>()
            .unwrap()
            .unwrap();
        assert_eq!(
            (boundary.run, boundary.text.as_deref()),
            (2, Some("second"))
        );
        // One that comes in a later run is as good.
        assert_eq!(look(&mut turn), None);
        follow(&desk, "fourth").await;
        for _ in 0..3 {
            puppet.complete();
        }
        assert_eq!(
            types(&turn.collect::<Vec<_>>().await),
            "follow_up follow_up completed"
        );
        assert_eq!(
            puppet.strings().begun,
            ["first", "second", "third", "fourth"]
        );
        assert_eq!(fates(&desk, "s").await, [Fate::Delivered; 3]);
    }

    #[tokio::test]
    async fn steering_needs_an_engine_that_reads() {
        let (desk, puppet, agent) = staged(Limits::new().steers(2));
        let mut turn = of(&agent, "s");
        let steer = |text| desk.steer("s", Prompt::text(text)).now_or_never().unwrap();
        let code = |text| steer(text).unwrap_err().code();
        assert_eq!(code("nobody is there"), RefusalCode::NotRunning);
        assert_eq!(look(&mut turn), None);
        assert!(!desk.capabilities("s").await.steer);
        assert_eq!(code("nobody would read it"), RefusalCode::Unsupported);
        puppet.pull(Pull::Take);
        assert_eq!(look(&mut turn), None);
        assert!(desk.capabilities("s").await.steer);
        let (left, right) = (steer("left").unwrap(), steer("right").unwrap());
        assert_eq!(code("too many"), RefusalCode::QueueFull);
        puppet.pull(Pull::Read);
        assert_eq!(look(&mut turn), None);
        let told = desk.state("s").await.fates;
        assert_eq!(told, [(left, Fate::Delivered), (right, Fate::Queued)]);
        puppet.pull(Pull::Read);
        puppet.complete();
        assert_eq!(types(&turn.collect::<Vec<_>>().await), "completed");
        assert_eq!(puppet.strings().heard, ["left", "right"]);
        assert_eq!(puppet.strings().begun, ["first"]);
        assert_eq!(fates(&desk, "s").await, [Fate::Delivered; 2]);
    }

    /// Who was told "accepted" is not forgotten because the run was about to end.
    #[tokio::test]
    async fn what_a_run_has_not_read_another_begins_with() {
        let (desk, puppet, agent) = staged(Limits::new());
        let mut turn = of(&agent, "s");
        puppet.pull(Pull::Take);
        assert_eq!(look(&mut turn), None);
        follow(&desk, "second").await;
        desk.steer("s", Prompt::text("third")).await.unwrap();
        follow(&desk, "fourth").await;
        for _ in 0..4 {
            puppet.complete();
        }
        turn.collect::<Vec<_>>().await;
        assert_eq!(
            puppet.strings().begun,
            ["first", "second", "third", "fourth"]
        );
        assert_eq!(fates(&desk, "s").await, [Fate::Delivered; 3]);
        // A turn of one run only says that it was dropped.
        let (desk, puppet, agent) = staged(Limits::new().follow_ups(0));
        let mut turn = of(&agent, "s");
        puppet.pull(Pull::Take);
        assert_eq!(look(&mut turn), None);
        assert!(!desk.capabilities("s").await.follow_up);
        let refusal = desk.follow_up("s", Prompt::text("x")).await.unwrap_err();
        assert_eq!(refusal.code(), RefusalCode::Unsupported);
        desk.steer("s", Prompt::text("second")).await.unwrap();
        puppet.complete();
        assert_eq!(types(&turn.collect::<Vec<_>>().await), "completed");
        assert_eq!(fates(&desk, "s").await, [Fate::Dropped]);
    }

    #[tokio::test]
    async fn an_abort_ends_the_turn_in_the_next_poll() {
        let desk = SessionDesk::new();
        let actor = actor([say("a"), Do::Hang]);
        let agent = desk.window().layer(actor.clone());
        assert_eq!(
            desk.abort("s").await.unwrap_err().code(),
            RefusalCode::NotRunning
        );
        let mut turn = of(&agent, "s");
        assert_eq!(turn.next().await, Some(AgentEvent::text("a")));
        follow(&desk, "never").await;
        let mut next = tokio_test::task::spawn(turn.next());
        assert!(next.poll().is_pending());
        let polls = actor.seen.polls();
        desk.abort("s").await.unwrap();
        assert!(next.is_woken());
        // It is not reached any more, and says so.
        assert_eq!(
            desk.abort("s").await.unwrap_err().code(),
            RefusalCode::NotRunning
        );
        assert!(desk.follow_up("s", Prompt::text("x")).await.is_err());
        let can = desk.capabilities("s").await;
        assert!(!can.steer && !can.follow_up && !can.abort);
        let Poll::Ready(Some(AgentEvent::Failed(failure))) = next.poll() else {
            panic!("the turn goes on");
        };
        assert!(failure.is(&FailureCode::ABORTED) && !failure.is_retryable());
        assert_eq!((actor.seen.polls(), actor.seen.alive()), (polls, 0));
        assert_eq!(fates(&desk, "s").await, [Fate::Dropped]);
        assert!(!desk.state("s").await.running);
    }

    /// Said to be stopped is stopped: also where the run ends of itself meanwhile, fails, is between
    /// two runs, or is not polled.
    #[tokio::test]
    async fn an_abort_that_was_accepted_comes_true() {
        let ends: [(&str, Pull); 3] = [
            ("completes", Pull::Complete(Completed::new())),
            ("fails", Pull::Fail(Failure::new("by itself"))),
            ("speaks", Pull::Say(AgentEvent::text("b"))),
        ];
        for (name, pull) in ends {
            let (desk, puppet, agent) = staged(Limits::new());
            let mut turn = of(&agent, "s");
            assert_eq!(look(&mut turn), None);
            puppet.pull(pull);
            desk.abort("s").await.unwrap();
            let end: Vec<_> = turn.collect().await;
            assert!(failure(&end).is(&FailureCode::ABORTED), "{name}");
            assert_eq!(
                (types(&end).as_str(), puppet.strings().alive),
                ("failed", 0),
                "{name}"
            );
        }
        let (desk, puppet, agent) = staged(Limits::new());
        let mut turn = of(&agent, "s");
        assert_eq!(look(&mut turn), None);
        follow(&desk, "second").await;
        puppet.complete();
        assert_eq!(types(&[turn.next().await.unwrap()]), "follow_up");
        desk.abort("s").await.unwrap();
        let end: Vec<_> = turn.collect().await;
        assert!(failure(&end).is(&FailureCode::ABORTED));
        assert_eq!(puppet.strings().begun, ["first"]);
        assert_eq!(
            fates(&desk, "s").await,
            [Fate::Dropped],
            "its run never began"
        );
    }

    /// Also where the order comes in the very poll in which the run completes, and prompts wait.
    #[tokio::test]
    async fn an_abort_comes_before_what_is_queued() {
        let desk = SessionDesk::new();
        let control = desk.clone();
        let agent = agent_fn(move |_: Scope, _: Prompt, _: Emitter| {
            let desk = control.clone();
            async move {
                follow(&desk, "never").await;
                desk.abort("s").await.expect("this turn runs");
                Ok(())
            }
        });
        let end = events_of(&desk.window().layer(agent)).await;
        assert_eq!(types(&end), "failed", "no other run is announced");
        assert!(failure(&end).is(&FailureCode::ABORTED));
        assert_eq!(fates(&desk, "s").await, [Fate::Dropped]);
    }

    async fn events_of<A: portcullis::Agent + Clone>(agent: &A) -> Vec<AgentEvent> {
        of(agent, "s").collect().await
    }

    /// Accepted prompts that no run took are reported, whatever ended the turn.
    #[tokio::test(start_paused = true)]
    async fn every_other_end_closes_the_window() {
        for (end, part) in five_ends() {
            let desk = SessionDesk::new();
            let mut part = part;
            part.insert(1, Do::Wait(secs(1)));
            let actor = actor(part).then([done()]);
            let agent = desk.window().layer(actor.clone());
            let mut turn = of(&agent, "s");
            assert_eq!(turn.next().await, Some(AgentEvent::text("a")));
            follow(&desk, "more").await;
            advance(secs(2)).await;
            let read = std::panic::AssertUnwindSafe(turn.by_ref().collect::<Vec<_>>());
            let read = timeout(secs(1), read.catch_unwind()).await;
            let expected = match end {
                "completed" => {
                    assert_eq!(types(&read.unwrap().unwrap()), "follow_up completed");
                    Fate::Delivered
                }
                "failed" => {
                    assert_eq!(types(&read.unwrap().unwrap()), "failed");
                    Fate::Dropped
                }
                "truncated" => {
                    assert_eq!(types(&read.unwrap().unwrap()), "");
                    Fate::Dropped
                }
                "panicked" => {
                    assert!(read.unwrap().is_err());
                    Fate::Dropped
                }
                _ => {
                    assert!(read.is_err() && desk.running() == 1);
                    drop(turn);
                    Fate::Dropped
                }
            };
            assert_eq!((desk.running(), actor.seen.alive()), (0, 0), "{end}");
            assert_eq!(fates(&desk, "s").await, [expected], "{end}");
            assert!(!desk.state("s").await.running);
        }
    }

    /// O-L11: the first turn is cleaned up late.
    #[tokio::test]
    async fn a_turn_closes_only_its_own_window() {
        for _ in 0..100 {
            let (desk, puppet, agent) = staged(Limits::new());
            let (mut first, mut second) = (of(&agent, "s"), of(&agent, "s"));
            assert_eq!(look(&mut first), None);
            assert_eq!(look(&mut second), None);
            // The one that began last is reached.
            follow(&desk, "more").await;
            drop(first);
            assert!(desk.state("s").await.running);
            assert_eq!(fates(&desk, "s").await, [Fate::Queued]);
            puppet.complete();
            puppet.complete();
            let end: Vec<_> = second.collect().await;
            assert_eq!(types(&end), "follow_up completed");
            assert_eq!(puppet.strings().begun, ["first", "first", "more"]);
            assert_eq!(
                (desk.running(), fates(&desk, "s").await),
                (0, vec![Fate::Delivered])
            );
        }
    }

    /// And the other way round: the second one is over first, and the first is reached again.
    #[tokio::test]
    async fn a_turn_that_is_over_leaves_the_one_before_it_open() {
        let (desk, puppet, agent) = staged(Limits::new());
        let (mut first, mut second) = (of(&agent, "s"), of(&agent, "s"));
        assert_eq!(look(&mut first), None);
        follow(&desk, "for the first").await;
        assert_eq!(look(&mut second), None);
        follow(&desk, "for the second").await;
        drop(second);
        assert_eq!(fates(&desk, "s").await, [Fate::Queued, Fate::Dropped]);
        follow(&desk, "for the first again").await;
        for _ in 0..3 {
            puppet.complete();
        }
        let end: Vec<_> = first.collect().await;
        assert_eq!(types(&end), "follow_up follow_up completed");
        let begun = ["first", "first", "for the first", "for the first again"];
        assert_eq!(puppet.strings().begun, begun);
        assert_eq!(desk.running(), 0);
    }

    /// A turn that nobody has polled is none, and a look at a session makes none (O-M03).
    #[tokio::test]
    async fn looking_leaves_nothing() {
        let (desk, _puppet, agent) = staged(Limits::new());
        let turn = of(&agent, "s");
        let can = desk.capabilities("s").await;
        assert!(!can.steer && !can.follow_up && !can.abort);
        assert!(!desk.state("s").await.running);
        assert!(desk.events("s").await.is_none());
        assert!(desk.follow_up("s", Prompt::text("x")).await.is_err());
        drop(turn);
        assert_eq!((desk.running(), desk.sessions()), (0, 0));
    }

    #[tokio::test]
    async fn what_is_remembered_is_bounded() {
        let limits = Limits::new().follow_ups(3).fates(4).sessions(2);
        let (desk, puppet, agent) = staged(limits);
        let mut turn = of(&agent, "s");
        assert_eq!(look(&mut turn), None);
        for _ in 0..3 {
            follow(&desk, "x").await;
        }
        let refusal = desk.follow_up("s", Prompt::text("x")).await.unwrap_err();
        assert_eq!(refusal.code(), RefusalCode::QueueFull);
        for _ in 0..3 {
            puppet.complete();
            assert_eq!(types(&[turn.next().await.unwrap()]), "follow_up");
            assert_eq!(look(&mut turn), None);
            follow(&desk, "x").await;
        }
        use Fate::{Delivered, Dropped, Queued};
        // Six were accepted.
        assert_eq!(fates(&desk, "s").await, [Delivered, Queued, Queued, Queued]);
        drop(turn);
        assert_eq!(
            fates(&desk, "s").await,
            [Delivered, Dropped, Dropped, Dropped]
        );
        for session in ["b", "c"] {
            let mut turn = of(&agent, session);
            assert_eq!(look(&mut turn), None);
            desk.follow_up(session, Prompt::text("x")).await.unwrap();
        }
        assert_eq!((desk.running(), desk.sessions()), (0, 2));
        assert!(fates(&desk, "s").await.is_empty(), "it ended first");
        assert_eq!(fates(&desk, "b").await, [Dropped]);
        // One that comes again is not idle, and not forgotten while it runs.
        let mut turn = of(&agent, "b");
        assert_eq!(look(&mut turn), None);
        for session in ["d", "e"] {
            let mut turn = of(&agent, session);
            assert_eq!(look(&mut turn), None);
            desk.follow_up(session, Prompt::text("x")).await.unwrap();
        }
        assert_eq!((desk.running(), desk.sessions()), (1, 3));
        assert_eq!(fates(&desk, "b").await, [Dropped]);
    }

    #[test]
    fn limits_without_room_are_refused() {
        let no_fates = Limits::new().fates(0);
        let error = SessionDesk::with_limits(no_fates).unwrap_err();
        assert!(error.to_string().contains("what became of prompts"));
        for (events, bytes) in [(0, 1), (1, 0)] {
            let none = Limits::new().observed(events, bytes);
            let error = SessionDesk::with_limits(none).unwrap_err();
            assert!(error.to_string().contains("observers"));
        }
    }

    /// Critique B4: what is counted a turn is outside, and a follow-up renews none of it.
    #[tokio::test(start_paused = true)]
    async fn a_follow_up_renews_nothing() {
        // The budget of the turn.
        let desk = SessionDesk::new();
        let ledger = MemoryLedger::new();
        let budget = BudgetLayer::per_session(ledger.clone(), Budget::of(Meter::Tokens, 1000))
            .and_per_turn(Budget::of(Meter::Tokens, 3));
        let places = ConcurrencyLayer::new(1);
        let run = || vec![used("turn", 1, 1), Do::Wait(secs(4)), done()];
        let actor_ = actor(run());
        let agent = ServiceBuilder::new()
            .layer(places.clone())
            .layer(budget)
            .layer(desk.window())
            .layer(RetryLayer::new(1))
            .service(actor_.clone());
        let mut turn = of(&agent, "s");
        assert_eq!(types(&[turn.next().await.unwrap()]), "usage");
        follow(&desk, "more").await;
        follow(&desk, "and more").await;
        // The permit is one for the turn: another one waits for the whole of it.
        let mut other = of(&agent, "other");
        assert!(look(&mut other).is_none());
        assert_eq!(types(&[turn.next().await.unwrap()]), "follow_up");
        assert!(look(&mut other).is_none());
        assert_eq!((places.running(), places.waiting()), (1, 1));
        let end: Vec<_> = turn.collect().await;
        assert_eq!(types(&end), "usage failed");
        assert!(failure(&end).is(&FailureCode::BUDGET_EXCEEDED));
        assert_eq!(actor_.seen.calls(), 2, "the third run never began");
        assert_eq!(fates(&desk, "s").await, [Fate::Delivered, Fate::Dropped]);
        assert!(look(&mut other).is_some());
        // The clock of the turn.
        let desk = SessionDesk::new();
        let agent = ServiceBuilder::new()
            .layer(TimeoutLayer::total(secs(6)))
            .layer(desk.window())
            .service(actor(run()));
        let begun = Instant::now();
        let mut turn = of(&agent, "s");
        assert_eq!(types(&[turn.next().await.unwrap()]), "usage");
        follow(&desk, "more").await;
        let end: Vec<_> = turn.collect().await;
        assert_eq!(types(&end), "follow_up usage failed");
        assert!(failure(&end).is(&FailureCode::TIMEOUT));
        assert_eq!(begun.elapsed(), secs(6));
    }

    /// What a run reports as it is dropped is numbered as well.
    #[tokio::test]
    async fn the_sink_tells_runs_apart() {
        let desk = SessionDesk::new();
        let late = portcullis::Usage::new("late").with_output(1);
        let actor = actor([Do::Yield, done()]).report_when_dropped(late);
        let agent = desk.window().layer(actor);
        let ids = Arc::new(Mutex::new(Vec::new()));
        let mut scope = Scope::new("s");
        let told = Arc::clone(&ids);
        scope.add_usage_sink(portcullis::UsageSink::new(move |usage| {
            told.lock().unwrap().push(usage.id().to_owned());
        }));
        let mut turn = Box::pin(agent.invoke(scope, Prompt::text("first")));
        assert!(turn.next().now_or_never().is_none());
        follow(&desk, "more").await;
        turn.collect::<Vec<_>>().await;
        assert_eq!(*ids.lock().unwrap(), ["late", "2/late"]);
    }
}

mod observers {
    use super::*;

    async fn observe(desk: &SessionDesk) -> BoxEventStream {
        desk.events("s").await.expect("a turn runs")
    }

    fn waits(observer: &mut BoxEventStream) -> bool {
        observer.next().now_or_never().is_none()
    }

    #[tokio::test]
    async fn any_number_sees_what_the_caller_sees_from_then_on() {
        let (desk, puppet, agent) = staged(Limits::new());
        let mut turn = of(&agent, "s");
        puppet.say("unseen");
        let mut seen = vec![look(&mut turn).unwrap()];
        let mut observers = Vec::new();
        for _ in 0..100 {
            observers.push(observe(&desk).await);
        }
        assert!(waits(&mut observers[0]));
        follow(&desk, "more").await;
        puppet.pull(Pull::Say(unknown("x")));
        puppet.complete();
        puppet.say("b");
        puppet.complete();
        seen.extend(turn.collect::<Vec<_>>().await);
        assert_eq!(types(&seen), "text x follow_up text completed");
        for observer in observers {
            assert_eq!(observer.collect::<Vec<_>>().await, seen[1..]);
        }
        assert!(desk.events("s").await.is_none());
    }

    #[tokio::test]
    async fn they_are_woken_and_told_the_end() {
        let (desk, puppet, agent) = staged(Limits::new());
        let mut turn = of(&agent, "s");
        assert_eq!(look(&mut turn), None);
        let mut observer = tokio_test::task::spawn(observe(&desk).await);
        assert!(observer.poll_next().is_pending());
        puppet.say("a");
        assert_eq!(look(&mut turn), Some(AgentEvent::text("a")));
        assert!(observer.is_woken());
        assert_eq!(
            observer.poll_next(),
            Poll::Ready(Some(AgentEvent::text("a")))
        );
        assert!(observer.poll_next().is_pending());
        // A turn that is dropped has no terminal event, here as elsewhere.
        drop(turn);
        assert!(observer.is_woken());
        assert_eq!(observer.poll_next(), Poll::Ready(None));
        // One that is stopped has.
        let mut turn = of(&agent, "s");
        assert_eq!(look(&mut turn), None);
        let observer = observe(&desk).await;
        desk.abort("s").await.unwrap();
        let end: Vec<_> = turn.collect().await;
        assert_eq!(observer.collect::<Vec<_>>().await, end);
    }

    #[tokio::test]
    async fn a_slow_one_is_told_and_changes_nothing() {
        let (desk, puppet, agent) = staged(Limits::new().observed(3, 1 << 20));
        let mut turn = of(&agent, "s");
        assert_eq!(look(&mut turn), None);
        let (mut slow, mut quick) = (observe(&desk).await, observe(&desk).await);
        for event in 0..10 {
            let text = event.to_string();
            puppet.say(&text);
            // The turn goes on in the same poll, whoever looks.
            assert_eq!(look(&mut turn), Some(AgentEvent::text(text.clone())));
            assert_eq!(quick.next().await, Some(AgentEvent::text(text)));
        }
        puppet.complete();
        assert_eq!(types(&turn.collect::<Vec<_>>().await), "completed");
        let lagged = slow
            .next()
            .await
            .unwrap()
            .view::<Lagged>()
            .unwrap()
            .unwrap();
        assert_eq!(lagged.missed, 8);
        let rest: Vec<_> = slow.collect().await;
        assert_eq!(rest[..2], ["8", "9"].map(AgentEvent::text));
        assert_eq!(types(&rest), "text text completed");
        assert_eq!(types(&quick.collect::<Vec<_>>().await), "completed");
    }

    /// O-M01: also where events are large.
    #[tokio::test]
    async fn what_is_kept_for_them_is_bounded_in_bytes() {
        let (desk, puppet, agent) = staged(Limits::new().observed(1000, 10_000));
        let mut turn = of(&agent, "s");
        assert_eq!(look(&mut turn), None);
        let mut slow = observe(&desk).await;
        let mut say = |text: &str| {
            puppet.say(text);
            assert!(look(&mut turn).is_some());
        };
        for _ in 0..20 {
            say(&"x".repeat(4_000));
        }
        assert_eq!(types(&[slow.next().await.unwrap()]), "lagged");
        let kept = [slow.next().await, slow.next().await];
        assert!(kept.iter().all(Option::is_some) && waits(&mut slow));
        // One that is too large by itself is missed, and said to be.
        say(&"x".repeat(20_000));
        let lagged = slow
            .next()
            .await
            .unwrap()
            .view::<Lagged>()
            .unwrap()
            .unwrap();
        assert_eq!(lagged.missed, 1);
        // Whoever leaves takes along what was kept for it.
        say("a");
        drop(slow);
        let mut late = observe(&desk).await;
        assert!(waits(&mut late));
        say("b");
        assert_eq!(late.next().await, Some(AgentEvent::text("b")));
    }

    /// A turn does as many polls with a hundred observers as with none.
    #[tokio::test(start_paused = true)]
    async fn they_have_no_effect_on_the_run() {
        let mut polls = Vec::new();
        for observers in [0, 100] {
            let desk = SessionDesk::new();
            let actor = actor(everything());
            let agent = desk.window().layer(actor.clone());
            let mut turn = of(&agent, "s");
            let mut seen = vec![turn.next().await.unwrap()];
            let mut idle = Vec::new();
            for _ in 0..observers {
                idle.push(observe(&desk).await);
            }
            seen.extend(turn.collect::<Vec<_>>().await);
            assert_eq!(seen, said(&everything()));
            polls.push(actor.seen.polls());
        }
        assert_eq!(polls[0], polls[1]);
    }
}

/// Critique C5: what was accepted is run or reported as dropped, with two threads and 2,000 windows.
mod race {
    use super::*;

    const WINDOWS: usize = 2_000;
    /// So that no window is kept open for ever.
    const EACH: usize = 3;

    /// What both threads see.
    #[derive(Clone, Default)]
    struct Both {
        window: Arc<AtomicUsize>,
        accepted: Arc<AtomicUsize>,
        /// The prompts that a run had. They are numbers.
        run: Arc<Mutex<BTreeSet<u64>>>,
    }

    impl Both {
        fn engine(&self) -> BoxAgent {
            let run = Arc::clone(&self.run);
            let agent = agent_fn(move |_: Scope, prompt: Prompt, _: Emitter| {
                if let Ok(number) = prompt.as_text().parse() {
                    run.lock().unwrap().insert(number);
                }
                async move {
                    tokio::task::yield_now().await;
                    Ok(())
                }
            });
            agent.boxed()
        }

        /// Opens the windows, one after the other.
        async fn turns(&self, agent: &BoxAgent) {
            for window in 0..WINDOWS {
                self.window.store(window, Ordering::SeqCst);
                let mut turn = of(agent, "s");
                // Some stay open until they have a prompt, and of these some are dropped then.
                if window % 5 < 2 {
                    let before = self.accepted.load(Ordering::SeqCst);
                    assert!(turn.next().now_or_never().is_none());
                    while self.accepted.load(Ordering::SeqCst) == before {
                        std::thread::yield_now();
                    }
                }
                if window % 5 == 0 {
                    continue;
                }
                turn.collect::<Vec<_>>().await;
            }
            self.window.store(WINDOWS, Ordering::SeqCst);
        }

        /// Sends numbers while there are windows, and collects what was accepted.
        fn follow_ups<T>(&self, mut send: impl FnMut(u64) -> Option<T>) -> BTreeMap<u64, T> {
            let mut accepted = BTreeMap::new();
            let (mut number, mut window, mut sent) = (0, 0, 0);
            while window < WINDOWS {
                let now = self.window.load(Ordering::SeqCst);
                if now != window {
                    (window, sent) = (now, 0);
                }
                number += 1;
                if sent < EACH
                    && let Some(receipt) = send(number)
                {
                    sent += 1;
                    accepted.insert(number, receipt);
                    self.accepted.fetch_add(1, Ordering::SeqCst);
                }
                std::hint::spin_loop();
            }
            accepted
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn nothing_that_was_accepted_is_lost() {
        let desk = SessionDesk::with_limits(Limits::new().fates(WINDOWS * EACH)).unwrap();
        let both = Both::default();
        let agent = desk.window().layer(both.engine()).boxed();
        let (control, mine) = (desk.clone(), both.clone());
        let sender = std::thread::spawn(move || {
            mine.follow_ups(|number| {
                let accepted = control.follow_up("s", Prompt::text(number.to_string()));
                accepted.now_or_never().expect("at once").ok()
            })
        });
        both.turns(&agent).await;
        let accepted = sender.join().unwrap();
        let fates: BTreeMap<_, _> = desk.state("s").await.fates.into_iter().map(by_id).collect();
        assert_eq!(fates.len(), accepted.len());
        let run = both.run.lock().unwrap();
        let mut told = [0, 0];
        for (number, receipt) in accepted {
            let fate = fates[&receipt.id()];
            assert_ne!(fate, Fate::Queued, "{number}, and nothing runs");
            // To be delivered is to be run.
            let delivered = fate == Fate::Delivered;
            assert_eq!(run.contains(&number), delivered, "{number} is {fate:?}");
            told[usize::from(delivered)] += 1;
        }
        assert!(told.iter().all(|count| *count > 0), "{told:?}");
    }

    fn by_id((accepted, fate): (portcullis::Accepted, Fate)) -> (u64, Fate) {
        (accepted.id(), fate)
    }
}
