//! `Turn`: every event, every end, exactly once, inner first.

mod support;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::Poll,
};

use futures_core::Stream;
use portcullis::{
    Agent, AgentEvent, AgentExt, Failure, Flow, Invoke, Prompt, Scope, TurnLayer, Watched,
};
use support::{Below, Do, Log, Watch, completed, prompt, scope, text, word};
use tokio_test::{assert_pending, assert_ready, task};
use tower::ServiceBuilder;

/// Watches `below`; `watch` makes the turn.
fn watched<S: Agent>(
    below: S,
    watch: impl Fn() -> Watch + Clone,
) -> Watched<S, impl Fn(&mut Scope, &mut Prompt) -> Watch + Clone> {
    Watched::new(below, move |_: &mut Scope, _: &mut Prompt| watch())
}

fn start<S: Agent + Clone>(agent: &S) -> task::Spawn<std::pin::Pin<Box<Invoke<S>>>> {
    task::spawn(Box::pin(agent.invoke(scope(), prompt())))
}

macro_rules! next {
    ($turn:expr) => {
        word(&assert_ready!($turn.poll_next()).expect("an event"))
    };
}

/// Polls once; a panic is an answer too.
fn poll_catching<St: Stream<Item = AgentEvent> + Unpin>(
    turn: &mut task::Spawn<St>,
) -> Result<Poll<Option<String>>, ()> {
    catch_unwind(AssertUnwindSafe(|| turn.poll_next()))
        .map(|poll| poll.map(|event| event.as_ref().map(word)))
        .map_err(drop)
}

/// Cuts at the event that is a text `x`.
fn cut_at_x(flow: Flow) -> impl FnMut(&mut AgentEvent, &mut portcullis::Outbox) -> Flow + Send {
    move |event, out| {
        if word(event) == "x" {
            out.fail(Failure::new("cut"));
            return flow;
        }
        Flow::Forward
    }
}

/// Two layers that only log, around `below`.
fn two(log: &Log, below: Below) -> impl Agent<Response: Send, Future: Send> + Clone {
    let [outer, inner] = ["outer", "inner"].map(|name| {
        let log = log.clone();
        TurnLayer::new(move |_: &mut Scope, _: &mut Prompt| Watch::new(&log, name))
    });
    ServiceBuilder::new()
        .layer(outer)
        .layer(inner)
        .service(below)
}

#[test]
fn completed_and_failed_are_told_before_the_caller_reads_them() {
    for (last, end) in [
        (AgentEvent::completed(), "completed"),
        (AgentEvent::from(Failure::new("why")), "failed: why"),
    ] {
        let log = Log::default();
        let agent = two(&log, Below::new(&log, [text("a"), Do::Emit(last)]));
        let mut turn = start(&agent);
        assert_eq!(next!(turn), "a");
        assert_eq!(log.take(), ["call"]);
        assert_eq!(next!(turn), end);
        let told = [
            "below dropped".to_owned(),
            format!("inner {end}"),
            "inner dropped".to_owned(),
            format!("outer {end}"),
            "outer dropped".to_owned(),
        ];
        assert_eq!(log.take(), told);
        assert!(assert_ready!(turn.poll_next()).is_none());
        drop(turn);
        assert!(log.take().is_empty(), "once");
    }
}

#[test]
fn a_bare_end_is_told_and_passes_as_it_is() {
    let log = Log::default();
    let agent = two(&log, Below::new(&log, [text("a")]));
    let mut turn = start(&agent);
    assert_eq!(next!(turn), "a");
    assert!(assert_ready!(turn.poll_next()).is_none());
    let told = [
        "call",
        "below dropped",
        "inner truncated",
        "inner dropped",
        "outer truncated",
        "outer dropped",
    ];
    assert_eq!(log.take(), told);
    drop(turn);
    assert!(log.take().is_empty());
}

#[test]
fn a_drop_is_told_at_every_event_and_every_pending() {
    let cancelled = [
        "below dropped",
        "inner cancelled",
        "inner dropped",
        "outer cancelled",
        "outer dropped",
    ];
    for polls in 0.. {
        let log = Log::default();
        let steps = [Do::Yield, text("a"), Do::Yield, text("b"), completed()];
        let mut below = Below::new(&log, steps);
        below.call_pending = 1;
        let agent = two(&log, below);
        let mut turn = start(&agent);
        let mut over = false;
        for _ in 0..polls {
            if let Poll::Ready(Some(event)) = turn.poll_next() {
                over |= event.is_terminal();
            }
        }
        let before = log.take();
        drop(turn);
        match (polls, over) {
            (0, _) => assert!(log.take().is_empty(), "nothing was called"),
            (_, false) => assert_eq!(log.take(), cancelled, "after {polls} polls"),
            (_, true) => {
                assert!(before.contains(&"outer completed".to_owned()));
                assert!(log.take().is_empty());
                assert_eq!(polls, 6);
                break;
            }
        }
    }
}

#[test]
fn a_drop_between_call_and_first_poll_is_a_cancel() {
    use tower::Service;
    let log = Log::default();
    let mut agent = watched(Below::new(&log, []), {
        let log = log.clone();
        move || Watch::new(&log, "layer")
    });
    drop(agent.call((scope(), prompt())));
    let told = ["call", "below dropped", "layer cancelled", "layer dropped"];
    assert_eq!(log.take(), told);
}

#[test]
fn a_panic_below_is_told_at_once_and_goes_on() {
    let log = Log::default();
    let agent = two(&log, Below::new(&log, [text("a"), Do::Panic]));
    let mut turn = start(&agent);
    assert_eq!(next!(turn), "a");
    assert!(poll_catching(&mut turn).is_err());
    let told = [
        "call",
        "below dropped",
        "inner panicked",
        "inner dropped",
        "outer panicked",
        "outer dropped",
    ];
    assert_eq!(log.take(), told, "at the panic, not at the drop");
    assert_eq!(poll_catching(&mut turn), Ok(Poll::Ready(None)));
    drop(turn);
    assert!(log.take().is_empty());
}

#[test]
fn a_panic_of_the_call_is_told() {
    use tower::Service;
    let log = Log::default();
    let mut below = Below::new(&log, []);
    below.call_panics = true;
    let mut agent = two(&log, below);
    assert!(catch_unwind(AssertUnwindSafe(|| drop(agent.call((scope(), prompt()))))).is_err());
    let told = [
        "call",
        "inner panicked",
        "inner dropped",
        "outer panicked",
        "outer dropped",
    ];
    assert_eq!(log.take(), told);
}

#[test]
fn a_panic_of_the_outer_layer_cancels_the_inner_one() {
    let log = Log::default();
    let inner = watched(Below::new(&log, [text("a"), completed()]), {
        let log = log.clone();
        move || Watch::new(&log, "inner")
    });
    let agent = watched(inner, {
        let log = log.clone();
        move || Watch::new(&log, "outer").on_event(|_, _| panic!("on_event"))
    });
    let mut turn = start(&agent);
    assert!(poll_catching(&mut turn).is_err());
    let told = [
        "call",
        "below dropped",
        "inner cancelled",
        "inner dropped",
        "outer panicked",
        "outer dropped",
    ];
    assert_eq!(log.take(), told);
}

#[test]
fn a_panic_of_any_method_is_told_once() {
    type Build = fn(Watch) -> Watch;
    let methods: [(&str, Build); 3] = [
        ("on_event", |watch| {
            watch.on_event(|_, _| panic!("on_event"))
        }),
        ("poll_quiet", |watch| {
            watch.on_quiet(|_, _| panic!("poll_quiet"))
        }),
        ("poll_close", |watch| {
            watch.on_close(|_, _| panic!("poll_close"))
        }),
    ];
    for (name, build) in methods {
        let log = Log::default();
        let agent = watched(Below::new(&log, [Do::Yield, completed()]), {
            let log = log.clone();
            move || build(Watch::new(&log, "layer"))
        });
        let mut turn = start(&agent);
        let panicked = (0..2).any(|_| poll_catching(&mut turn).is_err());
        assert!(panicked, "{name}");
        let told = ["call", "below dropped", "layer panicked", "layer dropped"];
        assert_eq!(log.take(), told, "{name}");
        assert_eq!(poll_catching(&mut turn), Ok(Poll::Ready(None)), "{name}");
        drop(turn);
        assert!(log.take().is_empty(), "{name}");
    }
}

#[test]
fn a_panic_of_an_epilogue_that_had_waited_is_told_once() {
    let log = Log::default();
    let agent = watched(Below::new(&log, [completed()]), {
        let log = log.clone();
        move || {
            let mut polls = 0;
            Watch::new(&log, "layer").on_close(move |_, _| {
                polls += 1;
                assert!(polls < 2, "poll_close");
                Poll::Pending
            })
        }
    });
    let mut turn = start(&agent);
    assert_pending!(turn.poll_next());
    assert!(poll_catching(&mut turn).is_err());
    let told = ["call", "below dropped", "layer panicked", "layer dropped"];
    assert_eq!(log.take(), told);
    assert_eq!(poll_catching(&mut turn), Ok(Poll::Ready(None)));
}

#[test]
fn a_panic_of_make_turn_calls_nothing() {
    use tower::Service;
    let log = Log::default();
    let below = Below::new(&log, []);
    let mut agent = Watched::new(below, |_: &mut Scope, _: &mut Prompt| -> Watch {
        panic!("make_turn")
    });
    assert!(catch_unwind(AssertUnwindSafe(|| drop(agent.call((scope(), prompt()))))).is_err());
    assert!(log.take().is_empty());
}

#[test]
fn a_panic_while_what_is_below_is_dropped_is_told() {
    // At the terminal event, at a cut, at a bare end and at the caller's drop.
    for (steps, how) in [
        (vec![completed()], "terminal"),
        (vec![text("x")], "cut"),
        (vec![], "bare end"),
        (vec![Do::Hang], "drop"),
    ] {
        let log = Log::default();
        let mut below = Below::new(&log, steps);
        below.drop_panics = true;
        let agent = watched(below, {
            let log = log.clone();
            move || Watch::new(&log, "layer").on_event(cut_at_x(Flow::Forward))
        });
        let mut turn = start(&agent);
        if how == "drop" {
            assert_pending!(turn.poll_next());
            assert!(catch_unwind(AssertUnwindSafe(|| drop(turn))).is_err());
        } else {
            assert!(poll_catching(&mut turn).is_err(), "{how}");
            assert_eq!(
                poll_catching(&mut turn),
                Ok(Poll::Ready(None)),
                "nothing follows a panic: {how}"
            );
        }
        let told = ["call", "below dropped", "layer panicked", "layer dropped"];
        assert_eq!(log.take(), told, "{how}");
    }
}

#[test]
fn a_cut_drops_the_engine_in_the_very_poll() {
    for (flow, first) in [(Flow::Forward, "x"), (Flow::Skip, "failed: cut")] {
        let log = Log::default();
        let below = Below::new(&log, [text("a"), text("x"), text("b"), completed()]);
        let agent = watched(below.clone(), {
            let log = log.clone();
            move || Watch::new(&log, "layer").on_event(cut_at_x(flow))
        });
        let mut turn = start(&agent);
        assert_eq!(next!(turn), "a");
        log.take();
        assert_eq!(next!(turn), first);
        assert_eq!(log.take()[0], "below dropped", "{flow:?}");
        assert_eq!(below.polls(), 2, "{flow:?}");
        if flow == Flow::Forward {
            assert_eq!(next!(turn), "failed: cut");
            assert_eq!(log.take(), ["layer failed: cut", "layer dropped"]);
        }
        assert!(assert_ready!(turn.poll_next()).is_none());
        assert_eq!(below.polls(), 2, "{flow:?}");
    }
}

#[test]
fn a_clock_cuts_in_the_very_poll_also_while_the_call_is_pending() {
    for call_pending in [0, 5] {
        let log = Log::default();
        let mut below = Below::new(&log, [Do::Hang]);
        below.call_pending = call_pending;
        let agent = watched(below.clone(), {
            let log = log.clone();
            move || {
                let mut quiet = 0;
                Watch::new(&log, "layer").on_quiet(move |_, out| {
                    quiet += 1;
                    if quiet == 2 {
                        out.before(AgentEvent::text("warning"));
                        out.fail(Failure::new("late"));
                    }
                })
            }
        });
        let mut turn = start(&agent);
        assert_pending!(turn.poll_next());
        log.take();
        assert_eq!(next!(turn), "warning");
        assert_eq!(log.take(), ["below dropped"]);
        assert_eq!(next!(turn), "failed: late");
        assert_eq!(log.take(), ["layer failed: late", "layer dropped"]);
        assert_eq!(below.polls(), if call_pending == 0 { 2 } else { 0 });
    }
}

#[test]
fn a_turn_that_is_dropped_between_a_cut_and_its_failure_was_cancelled() {
    let log = Log::default();
    let agent = watched(Below::new(&log, [text("x")]), {
        let log = log.clone();
        move || Watch::new(&log, "layer").on_event(cut_at_x(Flow::Forward))
    });
    let mut turn = start(&agent);
    assert_eq!(next!(turn), "x");
    drop(turn);
    let told = ["call", "below dropped", "layer cancelled", "layer dropped"];
    assert_eq!(log.take(), told);
}

#[test]
fn what_a_layer_inserts_keeps_its_order() {
    let log = Log::default();
    let below = Below::new(&log, [text("a"), text("b"), completed()]);
    let agent = watched(below, {
        let log = log.clone();
        move || {
            Watch::new(&log, "layer").on_event(|event, out| {
                for i in 1..=2 {
                    out.before(AgentEvent::text(format!("<{i}{}", word(event))));
                    out.after(AgentEvent::text(format!("{}{i}>", word(event))));
                }
                if word(event) == "b" {
                    Flow::Skip
                } else {
                    Flow::Forward
                }
            })
        }
    });
    let mut turn = start(&agent);
    let mut seen = Vec::new();
    while let Some(event) = assert_ready!(turn.poll_next()) {
        seen.push(word(&event));
    }
    let expected = "<1a <2a a a1> a2> <1b <2b b1> b2> \
                    <1completed <2completed completed1> completed2> completed";
    assert_eq!(
        seen.join(" "),
        expected,
        "nothing follows the terminal event"
    );
}

#[test]
fn a_terminal_event_that_is_inserted_ends_the_turn() {
    let log = Log::default();
    let agent = watched(Below::new(&log, [text("a"), text("b")]), {
        let log = log.clone();
        move || {
            Watch::new(&log, "layer").on_event(|_, out| {
                out.after(AgentEvent::completed());
                out.after(AgentEvent::text("last words"));
                out.fail(Failure::new("too late: the first call counts"));
                Flow::Forward
            })
        }
    });
    let mut turn = start(&agent);
    assert_eq!(next!(turn), "a");
    assert_eq!(next!(turn), "last words");
    assert_eq!(next!(turn), "completed");
    assert!(assert_ready!(turn.poll_next()).is_none());
    let told = ["call", "below dropped", "layer completed", "layer dropped"];
    assert_eq!(log.take(), told);
}

#[test]
fn an_overrun_at_the_terminal_event_keeps_it_unless_it_is_skipped() {
    for (flow, end) in [(Flow::Forward, "completed"), (Flow::Skip, "failed: over")] {
        let log = Log::default();
        let agent = watched(Below::new(&log, [completed()]), {
            let log = log.clone();
            move || {
                Watch::new(&log, "layer").on_event(move |_, out| {
                    out.fail(Failure::new("over"));
                    flow
                })
            }
        });
        let mut turn = start(&agent);
        assert_eq!(next!(turn), end);
        assert!(log.take().contains(&format!("layer {end}")));
        assert!(assert_ready!(turn.poll_next()).is_none());
    }
}

#[test]
fn a_terminal_event_cannot_be_withheld() {
    let log = Log::default();
    let agent = watched(Below::new(&log, [text("a"), completed()]), {
        let log = log.clone();
        move || Watch::new(&log, "layer").on_event(|_, _| Flow::Skip)
    });
    let mut turn = start(&agent);
    assert_eq!(next!(turn), "completed");
}

#[test]
fn the_epilogue_runs_before_the_terminal_event_and_after_the_engine_is_gone() {
    for dropped_in_it in [false, true] {
        let log = Log::default();
        let agent = watched(Below::new(&log, [completed()]), {
            let log = log.clone();
            move || {
                let told = log.clone();
                let mut polls = 0;
                Watch::new(&log, "layer").on_close(move |cx, last| {
                    polls += 1;
                    told.push(format!("closes {polls}"));
                    if polls < 3 {
                        cx.waker().wake_by_ref();
                        return Poll::Pending;
                    }
                    *last = Failure::new("not stored").into();
                    Poll::Ready(())
                })
            }
        });
        let mut turn = start(&agent);
        assert_pending!(turn.poll_next());
        assert_eq!(log.take(), ["call", "below dropped", "closes 1"]);
        assert!(turn.is_woken());
        if dropped_in_it {
            drop(turn);
            assert_eq!(log.take(), ["layer cancelled", "layer dropped"]);
            continue;
        }
        assert_pending!(turn.poll_next());
        assert_eq!(next!(turn), "failed: not stored");
        let told = [
            "closes 2",
            "closes 3",
            "layer failed: not stored",
            "layer dropped",
        ];
        assert_eq!(log.take(), told);
    }
}

#[test]
fn the_epilogue_of_a_cut_runs_too() {
    let log = Log::default();
    let agent = watched(Below::new(&log, [text("x")]), {
        let log = log.clone();
        move || {
            let told = log.clone();
            Watch::new(&log, "layer")
                .on_event(cut_at_x(Flow::Skip))
                .on_close(move |_, last| {
                    told.push(format!("closes {}", word(last)));
                    Poll::Ready(())
                })
        }
    });
    let mut turn = start(&agent);
    assert_eq!(next!(turn), "failed: cut");
    let told = [
        "call",
        "below dropped",
        "closes failed: cut",
        "layer failed: cut",
        "layer dropped",
    ];
    assert_eq!(log.take(), told);
}

#[test]
fn withheld_events_do_not_starve_others() {
    let log = Log::default();
    let steps = std::iter::repeat_n(text("a"), 1_000).chain([completed()]);
    let below = Below::new(&log, steps);
    let agent = watched(below.clone(), {
        let log = log.clone();
        move || Watch::new(&log, "layer").on_event(|_, _| Flow::Skip)
    });
    let mut turn = start(&agent);
    let mut polls = 1;
    while turn.poll_next().is_pending() {
        assert!(turn.is_woken(), "it goes on by itself");
        polls += 1;
    }
    assert!(
        polls > 5,
        "one poll runs through {} events",
        below.polls() / polls
    );
    assert_eq!(below.polls(), 1_001);
}

#[test]
fn around_wraps_the_call_every_poll_and_the_drop() {
    let log = Log::default();
    let agent = watched(Below::new(&log, [text("a"), Do::Hang]), {
        let log = log.clone();
        move || {
            let mut watch = Watch::new(&log, "layer");
            watch.log_around = true;
            watch
        }
    });
    let mut turn = start(&agent);
    assert_eq!(next!(turn), "a");
    assert_eq!(
        log.take(),
        [
            "layer enters",
            "call",
            "layer leaves",
            "layer enters",
            "layer leaves"
        ]
    );
    assert_pending!(turn.poll_next());
    assert_eq!(log.take(), ["layer enters", "layer leaves"]);
    drop(turn);
    let told = [
        "layer enters",
        "below dropped",
        "layer leaves",
        "layer cancelled",
        "layer dropped",
    ];
    assert_eq!(log.take(), told);
}

#[test]
fn the_plain_case_wakes_nobody_and_polls_once_an_event() {
    let log = Log::default();
    let below = Below::new(&log, [text("a"), Do::Hang]);
    let agent = two(&log, below.clone());
    let mut turn = start(&agent);
    assert_eq!(next!(turn), "a");
    assert_eq!(below.polls(), 1);
    assert_pending!(turn.poll_next());
    assert_eq!(below.polls(), 2);
    assert!(!turn.is_woken());
}

#[test]
fn make_turn_may_edit_what_is_asked() {
    let asked = Arc::new(AtomicUsize::new(0));
    let below = portcullis::agent_fn_with(
        Arc::clone(&asked),
        async |asked: Arc<AtomicUsize>, scope: Scope, prompt: Prompt, _out| {
            asked.store(prompt.as_text().len(), Ordering::SeqCst);
            assert_eq!(scope.tenant(), Some("t"));
            Ok(())
        },
    );
    let agent = Watched::new(below, |scope: &mut Scope, prompt: &mut Prompt| {
        *scope = scope.clone().with_tenant("t");
        prompt.text_mut().push_str("!!");
    });
    let mut turn = start(&agent);
    assert_eq!(next!(turn), "completed");
    assert_eq!(asked.load(Ordering::SeqCst), "p!!".len());
}

mod any_stack {
    //! Whatever happens below and in the layers, and wherever it is dropped.

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Act {
        Nothing,
        Insert,
        CutAt(usize, bool),
        PanicAt(usize),
        CutWhenQuiet(usize),
        Epilogue(usize),
        Withhold,
    }

    fn act() -> impl Strategy<Value = Act> {
        prop_oneof![
            Just(Act::Nothing),
            Just(Act::Insert),
            (0..4_usize, any::<bool>()).prop_map(|(at, forward)| Act::CutAt(at, forward)),
            (0..4_usize).prop_map(Act::PanicAt),
            (0..3_usize).prop_map(Act::CutWhenQuiet),
            (0..3_usize).prop_map(Act::Epilogue),
            Just(Act::Withhold),
        ]
    }

    fn step() -> impl Strategy<Value = Do> {
        prop_oneof![
            4 => Just(text("a")),
            2 => Just(Do::Yield),
            1 => Just(Do::Panic),
            1 => Just(completed()),
            1 => Just(Do::Emit(Failure::new("below").into())),
        ]
    }

    fn watch(log: &Log, name: &'static str, act: &Act) -> Watch {
        let watch = Watch::new(log, name);
        let act = act.clone();
        let mut seen = 0;
        match act {
            Act::Nothing => watch,
            Act::Insert => watch.on_event(|_, out| {
                out.before(AgentEvent::text("<"));
                out.after(AgentEvent::text(">"));
                Flow::Forward
            }),
            Act::CutAt(at, forward) => watch.on_event(move |_, out| {
                seen += 1;
                if seen == at + 1 {
                    out.fail(Failure::new("cut"));
                    return if forward { Flow::Forward } else { Flow::Skip };
                }
                Flow::Forward
            }),
            Act::PanicAt(at) => watch.on_event(move |_, _| {
                seen += 1;
                assert!(seen != at + 1, "a layer panics");
                Flow::Forward
            }),
            Act::CutWhenQuiet(at) => watch.on_quiet(move |_, out| {
                seen += 1;
                if seen == at + 1 {
                    out.fail(Failure::new("late"));
                }
            }),
            Act::Epilogue(polls) => watch.on_close(move |cx, _| {
                seen += 1;
                if seen > polls {
                    return Poll::Ready(());
                }
                cx.waker().wake_by_ref();
                Poll::Pending
            }),
            Act::Withhold => watch.on_event(|_, _| Flow::Skip),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

        #[test]
        fn each_layer_is_told_one_end_inner_first(
            steps in prop::collection::vec(step(), 0..8),
            call_pending in 0..2_usize,
            acts in prop::array::uniform3(act()),
            polls in 0..24_usize,
        ) {
            let log = Log::default();
            let mut below = Below::new(&log, steps);
            below.call_pending = call_pending;
            let [outer, middle, inner] = &acts;
            let layer = |name, act: &Act| {
                let (log, act) = (log.clone(), act.clone());
                TurnLayer::new(move |_: &mut Scope, _: &mut Prompt| watch(&log, name, &act))
            };
            let agent = ServiceBuilder::new()
                .layer(layer("outer", outer))
                .layer(layer("middle", middle))
                .layer(layer("inner", inner))
                .service(below);
            let mut turn = start(&agent);
            let mut last = None;
            let mut panicked = false;
            let mut ended = false;
            for _ in 0..polls {
                match poll_catching(&mut turn) {
                    Ok(Poll::Ready(Some(word))) => {
                        prop_assert!(!ended && !panicked, "{word} follows the end");
                        ended = word == "completed" || word.starts_with("failed");
                        last = Some(word);
                    }
                    Ok(Poll::Ready(None)) => {
                        last = last.filter(|_| ended);
                        ended = true;
                        break;
                    }
                    Ok(Poll::Pending) => {}
                    Err(()) => {
                        panicked = true;
                        break;
                    }
                }
                if ended {
                    break;
                }
            }
            let at_the_end = log.take();
            drop(turn);
            let at_the_drop = log.take();
            if ended || panicked {
                prop_assert!(at_the_drop.is_empty(), "told late: {at_the_drop:?}");
            }
            let told = [at_the_end, at_the_drop].concat();
            if polls == 0 {
                prop_assert!(told.is_empty());
                return Ok(());
            }
            let places: Vec<_> = ["below dropped", "inner dropped", "middle dropped", "outer dropped"]
                .iter()
                .map(|line| told.iter().position(|told| told == line))
                .collect();
            prop_assert!(places.iter().all(Option::is_some), "{told:?}");
            prop_assert!(places.is_sorted(), "inner first: {told:?}");
            // A call, and for each of three layers one end and one permit; below once.
            prop_assert_eq!(told.len(), 8, "once each: {:?}", &told);
            let end_of_outer = match (&last, ended, panicked) {
                (_, _, true) => "outer panicked".to_owned(),
                (Some(last), true, _) => format!("outer {last}"),
                (None, true, _) => "outer truncated".to_owned(),
                (_, false, _) => "outer cancelled".to_owned(),
            };
            prop_assert!(told.contains(&end_of_outer), "{end_of_outer}: {told:?}");
        }
    }
}
