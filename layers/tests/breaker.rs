//! An agent that fails is left alone for a while.

mod support;

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::{FutureExt, StreamExt};
use portcullis::{End, Failure, FailureCode, Policy, Prompt, Scope, Turn};
use portcullis_layers::{
    breaker::{BreakerLayer, Change, Judged, Outcome, Settings, State},
    conform::ConformLayer,
    fallback::FallbackLayer,
    retry::RetryLayer,
};
use tokio::time::{Instant, advance};
use tower::{Layer, ServiceBuilder};

use support::*;

/// Opens at two failures in a row, for ten seconds.
fn two() -> Settings {
    Settings::new()
        .window(2, secs(60))
        .at_least(2)
        .percent(100)
        .open_for(secs(10))
}

fn open_for(seconds: u64) -> State {
    State::Open {
        remaining: secs(seconds),
    }
}

fn dead() -> Actor {
    actor([fail("no", true)])
}

/// Lets the breaker decide on a turn.
fn admit<K>(breaker: &BreakerLayer<K>, scope: Scope) -> Result<Judged<K>, Failure>
where
    K: Clone + Eq + std::hash::Hash,
{
    let admitted = breaker.admit(scope, Prompt::text("p")).now_or_never();
    admitted.expect("never waits").map(|(_, _, turn)| turn)
}

#[tokio::test(start_paused = true)]
async fn hands_on_everything() {
    assert_transparent(|actor| BreakerLayer::default().layer(actor)).await;
    let breaker = BreakerLayer::new(two()).unwrap();
    let clean = || breaker.state(&()) == State::Closed;
    assert_drops(everything(), |actor| breaker.layer(actor), clean).await;
    assert_eq!(breaker.keys(), 1, "the one that completed");
}

/// O-B09: the refusal says when to come again, and that is true.
#[tokio::test(start_paused = true)]
async fn opens_refuses_and_closes() {
    let breaker = BreakerLayer::new(two()).unwrap();
    let engine = actor([fail("no", true)])
        .then([fail("no", true)])
        .then([fail("no", true)])
        .then([say("a"), done()]);
    let agent = breaker.layer(engine.clone());
    events(&agent).await;
    assert_eq!(breaker.state(&()), State::Closed);
    events(&agent).await;
    assert_eq!(breaker.state(&()), open_for(10));
    for (wait, left) in [(0, 10_000), (3_000, 7_000), (6_999, 1)] {
        advance(Duration::from_millis(wait)).await;
        let answer = events(&agent).await;
        let refused = failure(&answer);
        assert!(refused.is(&FailureCode::UNAVAILABLE) && refused.is_retryable());
        assert_eq!(refused.after(), Some(Duration::from_millis(left)));
        assert_eq!(answer.len(), 1);
    }
    assert_eq!(engine.seen.calls(), 2);
    advance(Duration::from_millis(1)).await;
    assert_eq!(breaker.state(&()), State::HalfOpen);
    // The probe fails.
    assert_eq!(failure(&events(&agent).await).details(), "no");
    assert_eq!(breaker.state(&()), open_for(10));
    advance(secs(10)).await;
    assert_eq!(types(&events(&agent).await), "text completed");
    assert_eq!(breaker.state(&()), State::Closed);
    assert_eq!(breaker.keys(), 0, "and forgotten");
    // O-B07: clones and all services share the breaker; another one is another one.
    let (clone, other) = (breaker.clone(), BreakerLayer::new(two()).unwrap());
    events(&clone.layer(dead())).await;
    events(&breaker.layer(dead())).await;
    assert_eq!(clone.state(&()), open_for(10));
    assert_eq!(other.state(&()), State::Closed);
}

#[tokio::test(start_paused = true)]
async fn judges_by_the_end() {
    for (name, part) in five_ends() {
        let breaker = BreakerLayer::new(two().window(1, secs(60)).at_least(1)).unwrap();
        to_its_end(&breaker.layer(actor(part))).await;
        let opened = breaker.state(&()) != State::Closed;
        let works = matches!(name, "completed" | "cancelled");
        assert_eq!(opened, !works, "{name}");
    }
    // A panic that `conform` made a failure of is one as well.
    let breaker = BreakerLayer::new(two().window(1, secs(60)).at_least(1)).unwrap();
    events(&breaker.layer(ConformLayer::new().layer(actor([Do::Panic])))).await;
    assert_eq!(breaker.state(&()), open_for(10));
    // The codes that say nothing about the agent.
    for (code, opens) in [
        ("timeout", true),
        ("overloaded", true),
        ("rate_limited", true),
        ("unavailable", true),
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
        let breaker = BreakerLayer::new(two()).unwrap();
        let failed = Failure::with_code(FailureCode::new(code), "no");
        let agent = breaker.layer(actor([Do::Say(failed.into())]));
        events(&agent).await;
        events(&agent).await;
        assert_eq!(breaker.state(&()) == open_for(10), opens, "{code}");
        // Or as somebody says.
        let breaker =
            BreakerLayer::new(two())
                .unwrap()
                .classify(|failure| match failure.is_retryable() {
                    true => Outcome::Failure,
                    false => Outcome::Success,
                });
        let agent = breaker.layer(actor([fail("no", false)]));
        events(&agent).await;
        events(&agent).await;
        assert_eq!(breaker.state(&()), State::Closed);
    }
}

/// Callers leave for reasons of their own; but an agent that hangs is ended by nothing else.
#[tokio::test(start_paused = true)]
async fn a_drop_says_something_after_a_long_wait_only() {
    let one = two().window(1, secs(60)).at_least(1);
    for (part, wait, opens) in [
        (vec![Do::Hang], 29, false),
        (vec![Do::Hang], 30, true),
        (vec![used("call", 1, 1), Do::Hang], 30, true),
        (vec![say("a"), Do::Hang], 3_000, false),
    ] {
        let breaker = BreakerLayer::new(one).unwrap();
        let agent = breaker.layer(actor(part));
        let mut turn = Box::pin(ask(&agent));
        while turn.next().now_or_never().is_some() {}
        advance(secs(wait)).await;
        drop(turn);
        assert_eq!(breaker.state(&()) == open_for(10), opens, "{wait}");
    }
    // Configured, with what is known of it.
    let seen = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&seen);
    let breaker = BreakerLayer::new(one).unwrap().dropped(move |dropped| {
        told.lock().unwrap().push((dropped.answered, dropped.after));
        Outcome::Failure
    });
    let agent = breaker.layer(actor([say("a"), Do::Hang]));
    let mut turn = Box::pin(ask(&agent));
    let _ = turn.next().await;
    advance(secs(3)).await;
    drop(turn);
    assert_eq!(*seen.lock().unwrap(), [(true, secs(3))]);
    assert_eq!(breaker.state(&()), open_for(10));
}

/// A call that nobody polls takes no place and does not count.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_not_polled_is_none() {
    let breaker = BreakerLayer::new(two()).unwrap();
    let agent = breaker.layer(actor([Do::Hang]));
    let turn = ask(&agent);
    assert_eq!(breaker.keys(), 0);
    drop(turn);
    drop(breaker.admit(Scope::new("s"), Prompt::text("p")));
    assert_eq!(breaker.keys(), 0);
    // Admitted, and dropped before anything ran.
    drop(self::admit(&breaker, Scope::new("s")).unwrap());
    assert_eq!(breaker.keys(), 0);
}

async fn opened(settings: Settings) -> BreakerLayer {
    let breaker = BreakerLayer::new(settings).unwrap();
    for _ in 0..2 {
        events(&breaker.layer(dead())).await;
    }
    assert_eq!(breaker.state(&()), open_for(10));
    advance(secs(10)).await;
    breaker
}

#[tokio::test(start_paused = true)]
async fn probes_are_few_and_free_their_place() {
    let breaker = opened(two().probes(2).probe_time(secs(7))).await;
    let agent = breaker.layer(actor([say("a"), Do::Hang]));
    let mut probe = Box::pin(ask(&agent));
    let _ = probe.next().await;
    advance(secs(2)).await;
    let mut other = Box::pin(ask(&agent));
    let _ = other.next().await;
    // A third one may come when the first one's time is over.
    let refused = async || {
        events(&agent).await.pop().and_then(|event| match event {
            portcullis::AgentEvent::Failed(failure) => failure.after(),
            _ => None,
        })
    };
    assert_eq!(refused().await, Some(secs(5)));
    // A dropped one makes place.
    drop(other);
    let mut third = Box::pin(ask(&agent));
    assert_eq!(third.next().await.unwrap().type_name(), "text");
    assert_eq!(refused().await, Some(secs(5)));
    // So does one that hangs; and its end counts all the same.
    advance(secs(5)).await;
    let mut fourth = Box::pin(ask(&agent));
    assert_eq!(fourth.next().await.unwrap().type_name(), "text");
    assert_eq!(refused().await, Some(secs(2)));
    assert_eq!(breaker.state(&()), State::HalfOpen);
}

/// What began before a change says nothing after it.
#[tokio::test(start_paused = true)]
async fn old_turns_do_not_count() {
    let breaker = BreakerLayer::new(two()).unwrap();
    let admit = || admit(&breaker, Scope::new("s"));
    let (slow, late) = (admit().unwrap(), admit().unwrap());
    for _ in 0..2 {
        admit().unwrap().on_end(End::Truncated);
    }
    assert_eq!(breaker.state(&()), open_for(10));
    late.on_end(End::Completed);
    assert_eq!(breaker.state(&()), open_for(10));
    advance(secs(10)).await;
    let probe = admit().unwrap();
    slow.on_end(End::Truncated);
    assert_eq!(breaker.state(&()), State::HalfOpen);
    probe.on_end(End::Completed);
    assert_eq!(breaker.state(&()), State::Closed);
}

#[tokio::test(start_paused = true)]
async fn the_window_has_a_length_and_an_age() {
    let settings = Settings::new().window(4, secs(60)).at_least(4).percent(50);
    let run = |ends: &[(u64, bool)]| {
        let (breaker, ends) = (BreakerLayer::new(settings).unwrap(), ends.to_vec());
        async move {
            for (wait, works) in ends {
                advance(secs(wait)).await;
                let turn = admit(&breaker, Scope::new("s")).unwrap();
                turn.on_end(if works {
                    End::Completed
                } else {
                    End::Truncated
                });
            }
            breaker.state(&()) != State::Closed
        }
    };
    let (ok, no) = (true, false);
    assert!(!run(&[(0, no), (0, no), (0, no)]).await, "too few");
    assert!(run(&[(0, no), (0, no), (0, ok), (0, ok)]).await, "half");
    assert!(!run(&[(0, no), (0, ok), (0, ok), (0, ok)]).await);
    // The fifth pushes the first out.
    assert!(!run(&[(0, no), (0, ok), (0, ok), (0, ok), (0, no)]).await);
    assert!(run(&[(0, ok), (0, no), (0, ok), (0, ok), (0, no)]).await);
    // Too old.
    assert!(run(&[(0, no), (0, no), (0, ok), (59, ok)]).await);
    assert!(!run(&[(0, no), (0, no), (0, ok), (60, ok)]).await);
}

#[tokio::test(start_paused = true)]
async fn keys_are_apart_and_bounded() {
    let key = |scope: &Scope| scope.session().to_owned();
    let breaker = BreakerLayer::keyed(two().max_keys(3), key).unwrap();
    let fail = |session: &str| {
        admit(&breaker, Scope::new(session)).map(|turn| turn.on_end(End::Truncated))
    };
    let state = |session: &str| breaker.state(&session.to_owned());
    fail("a").unwrap();
    fail("a").unwrap();
    assert_eq!((state("a"), state("b")), (open_for(10), State::Closed));
    // Many others do not push out what is open, but each other.
    for other in 0..100 {
        fail(&other.to_string()).unwrap();
    }
    assert_eq!((breaker.keys(), state("a")), (3, open_for(10)));
    assert!(fail("a").is_err());
    // The one that was used longest ago goes.
    fail("98").unwrap();
    assert_eq!(state("98"), open_for(10));
    // What has turns running stays; where there is no room, turns go through uncounted.
    let running = admit(&breaker, Scope::new("99")).unwrap();
    fail("new").unwrap();
    fail("new").unwrap();
    assert_eq!((breaker.keys(), state("new")), (3, State::Closed));
    running.on_end(End::Truncated);
    assert_eq!(state("99"), open_for(10));
    // What is not open any more may go.
    advance(secs(10)).await;
    fail("new").unwrap();
    fail("new").unwrap();
    assert_eq!((breaker.keys(), state("new")), (3, open_for(10)));
    assert_eq!(state("a"), State::Closed, "the oldest of them");
    assert!(fail("99").is_ok());
}

/// The state can be watched.
#[tokio::test(start_paused = true)]
async fn changes_are_told() {
    let changes = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&changes);
    let breaker = BreakerLayer::keyed(two(), |scope| scope.session().len())
        .unwrap()
        .on_change(move |key, change| told.lock().unwrap().push((*key, change)));
    let admit = || admit(&breaker, Scope::new("abc"));
    for _ in 0..2 {
        admit().unwrap().on_end(End::Panicked);
    }
    advance(secs(10)).await;
    admit().unwrap().on_end(End::Panicked);
    advance(secs(10)).await;
    admit().unwrap().on_end(End::Completed);
    let opened = Change::Opened(secs(10));
    let expected = [
        opened,
        Change::Probing,
        opened,
        Change::Probing,
        Change::Closed,
    ];
    assert_eq!(*changes.lock().unwrap(), expected.map(|change| (3, change)));
}

#[test]
fn refuses_settings_that_make_no_sense() {
    let ok = Settings::new();
    for (settings, says) in [
        (ok.window(0, secs(1)), "no turns"),
        (ok.window(10, Duration::ZERO), "no time"),
        (ok.at_least(0), "no turns at all"),
        (ok.at_least(101), "more turns than the window"),
        (ok.percent(0), "without a failure"),
        (ok.percent(101), "more failures"),
        (ok.open_for(Duration::ZERO), "never open"),
        (ok.probes(0), "never closes"),
        (ok.probe_time(Duration::ZERO), "no time"),
        (ok.max_keys(0), "no key"),
    ] {
        let error = BreakerLayer::new(settings).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

/// O-B05: no time is too long.
#[tokio::test(start_paused = true)]
async fn endless_times_are_fine() {
    let settings = two()
        .window(2, Duration::MAX)
        .open_for(Duration::MAX)
        .probe_time(Duration::MAX);
    let breaker = BreakerLayer::new(settings).unwrap();
    let agent = breaker.layer(dead());
    events(&agent).await;
    events(&agent).await;
    assert!(failure(&events(&agent).await).after().unwrap() > secs(1_000_000_000));
}

/// O-B15: below a retry every run counts, and below a fallback the next agent is asked at
/// once.
#[tokio::test(start_paused = true)]
async fn with_its_neighbours() {
    let engine = dead();
    let breaker = BreakerLayer::new(two()).unwrap();
    let other = actor([say("other"), done()]);
    let agent = ServiceBuilder::new()
        .layer(FallbackLayer::new("other", other.clone()))
        .layer(RetryLayer::new(5).longest_hint(secs(1)))
        .layer(breaker.clone())
        .service(engine.clone());
    let answer = events(&agent).await;
    assert_eq!(types(&answer), "retrying retrying retrying text completed");
    assert_eq!(
        (engine.seen.calls(), breaker.state(&()) == State::Closed),
        (2, false)
    );
    let begun = Instant::now();
    assert_eq!(types(&events(&agent).await), "retrying text completed");
    assert_eq!((engine.seen.calls(), begun.elapsed()), (2, Duration::ZERO));
}

/// Threads that race never get more probes than there are.
#[test]
fn probes_are_few_on_many_threads() {
    let settings = two()
        .open_for(Duration::from_nanos(1))
        .probes(3)
        .probe_time(secs(3_600));
    let breaker = BreakerLayer::new(settings).unwrap();
    let fail = || admit(&breaker, Scope::new("s")).map(|turn| turn.on_end(End::Truncated));
    let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    for _ in 0..200 {
        while breaker.state(&()) == State::Closed {
            let _ = fail();
        }
        std::thread::sleep(Duration::from_micros(1));
        std::thread::scope(|threads| {
            for _ in 0..8 {
                threads.spawn(|| {
                    let Ok(turn) = admit(&breaker, Scope::new("s")) else {
                        return;
                    };
                    most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::yield_now();
                    running.fetch_sub(1, Ordering::SeqCst);
                    drop(turn);
                });
            }
        });
        // Its place was given back: the next round finds three again.
        let probes: Vec<_> = std::iter::from_fn(|| admit(&breaker, Scope::new("s")).ok()).collect();
        assert_eq!(probes.len(), 3);
        probes
            .into_iter()
            .for_each(|probe| probe.on_end(End::Completed));
        assert_eq!(breaker.state(&()), State::Closed);
    }
    assert!((2..=3).contains(&most.load(Ordering::SeqCst)), "{most:?}");
}

/// A breaker, written down a second time as a list of what has happened: slow, and with
/// nothing to get out of step.
#[derive(Default)]
struct Model {
    /// When, and what: ends that counted, in the state that is now.
    ends: Vec<(u64, bool)>,
    opened: Option<u64>,
    half_open: bool,
    /// Of those that were let through: the number, when, and the change before it.
    running: VecDeque<(u64, usize)>,
    changes: usize,
    now: u64,
}

const WINDOW: usize = 3;
const WITHIN: u64 = 25;
const AT_LEAST: usize = 2;
const OPEN: u64 = 20;
const PROBES: usize = 2;
const PROBE_TIME: u64 = 30;

impl Model {
    fn turn_to(&mut self, opened: Option<u64>, half_open: bool) {
        self.ends.clear();
        (self.opened, self.half_open) = (opened, half_open);
        self.changes += 1;
    }

    /// `Err` has the seconds that remain.
    fn admit(&mut self) -> Result<(), u64> {
        if let Some(at) = self.opened {
            if self.now < at + OPEN {
                return Err(at + OPEN - self.now);
            }
            self.turn_to(None, true);
        }
        if self.half_open {
            let due = |(at, change): &(u64, usize)| {
                (*change == self.changes && at + PROBE_TIME > self.now).then_some(*at)
            };
            let probes: Vec<_> = self.running.iter().filter_map(due).collect();
            if probes.len() >= PROBES {
                return Err(probes[0] + PROBE_TIME - self.now);
            }
        }
        self.running.push_back((self.now, self.changes));
        Ok(())
    }

    fn end(&mut self, newest: bool, works: Option<bool>) -> bool {
        let ended = match newest {
            true => self.running.pop_back(),
            false => self.running.pop_front(),
        };
        let Some((_, change)) = ended else {
            return false;
        };
        let Some(works) = works.filter(|_| change == self.changes) else {
            return true;
        };
        self.ends.push((self.now, works));
        if self.half_open {
            let good = self.ends.iter().filter(|(_, works)| *works).count();
            if !works {
                self.turn_to(Some(self.now), false);
            } else if good >= PROBES {
                self.turn_to(None, false);
            }
            return true;
        }
        let last = self.ends.iter().rev().take(WINDOW);
        let seen: Vec<_> = last.filter(|(at, _)| at + WITHIN > self.now).collect();
        let bad = seen.iter().filter(|(_, works)| !works).count();
        if seen.len() >= AT_LEAST && bad * 2 >= seen.len() {
            self.turn_to(Some(self.now), false);
        }
        true
    }

    fn state(&self) -> State {
        match self.opened {
            Some(at) if self.now < at + OPEN => open_for(at + OPEN - self.now),
            Some(_) => State::HalfOpen,
            None if self.half_open => State::HalfOpen,
            None => State::Closed,
        }
    }
}

/// Every sequence of six steps of seven kinds, from a new breaker and from one that has just
/// become half open.
#[tokio::test(start_paused = true)]
async fn is_the_model_in_every_sequence() {
    const THINGS: usize = 7;
    let settings = Settings::new()
        .window(WINDOW, secs(WITHIN))
        .at_least(AT_LEAST)
        .percent(50)
        .open_for(secs(OPEN))
        .probes(PROBES)
        .probe_time(secs(PROBE_TIME));
    let mut reached = [0_usize; 3];
    // Two of three turns fail: then it is open, and ten more seconds have passed twice.
    // The third still runs.
    let open = [0, 0, 0, 2, 2, 6, 6];
    for (before, length) in [(&[][..], 6_u32), (&open[..], 6)] {
        for sequence in 0..THINGS.pow(length) {
            let breaker = BreakerLayer::new(settings).unwrap();
            let (mut model, mut turns) = (Model::default(), VecDeque::new());
            let digits = (0..length).map(|place| sequence / THINGS.pow(place) % THINGS);
            for thing in before.iter().copied().chain(digits) {
                let end =
                    |turn: Option<Judged<()>>, end| turn.map(|turn| turn.on_end(end)).is_some();
                let (did, should) = match thing {
                    0 => {
                        let admitted = admit(&breaker, Scope::new("s"));
                        let expected = model.admit();
                        match (&admitted, expected) {
                            (Ok(_), Ok(())) => {}
                            (Err(failure), Err(left)) => {
                                assert_eq!(failure.after(), Some(secs(left)));
                            }
                            other => panic!("{sequence} {other:?}"),
                        }
                        turns.extend(admitted);
                        (true, true)
                    }
                    1 => (
                        end(turns.pop_front(), End::Completed),
                        model.end(false, Some(true)),
                    ),
                    2 => (
                        end(turns.pop_front(), End::Truncated),
                        model.end(false, Some(false)),
                    ),
                    3 => (
                        end(turns.pop_back(), End::Completed),
                        model.end(true, Some(true)),
                    ),
                    4 => (
                        end(turns.pop_back(), End::Panicked),
                        model.end(true, Some(false)),
                    ),
                    5 => (turns.pop_front().is_some(), model.end(false, None)),
                    _ => {
                        advance(secs(10)).await;
                        model.now += 10;
                        (true, true)
                    }
                };
                assert_eq!(did, should);
                let state = breaker.state(&());
                assert_eq!(state, model.state(), "{sequence}");
                reached[match state {
                    State::Closed => 0,
                    State::Open { .. } => 1,
                    State::HalfOpen => 2,
                }] += 1;
            }
        }
    }
    assert!(reached.iter().all(|times| *times > 10_000), "{reached:?}");
}
