//! Places and sessions against a model, in every order of things up to a depth, and in long random
//! orders beyond it.
//!
//! What is shared is changed under one lock and by nobody but these operations, so that an order of
//! operations is all there is to an interleaving; what threads add to that, the lock's own order, is
//! with `race` in `session.rs` and `holds_under_load` in `concurrency.rs`.

#[path = "support/puppet.rs"]
mod puppet;

use std::{
    collections::BTreeSet,
    fmt::Debug,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use futures_util::{FutureExt, Stream};
use portcullis::{
    AgentEvent, AgentExt, BoxAgent, Completed, Failure, FailureCode, Fate, Invoke, Policy, Prompt,
    RefusalCode, Scope, SessionControl, views::FollowUp,
};
use portcullis_layers::{
    concurrency::ConcurrencyLayer,
    session::{GateLayer, Limits, MemoryLock, SessionDesk},
};
use proptest::{collection::vec, prelude::*, sample::Index};
use tower::Layer;

use puppet::{Pull, Puppet};

/// Something that can be driven by operations, beside a model that says what has to happen.
trait World {
    type Op: Clone + Debug;

    /// What can be done now.
    fn ops(&self) -> Vec<Self::Op>;

    /// Does it, and compares.
    fn apply(&mut self, op: &Self::Op);
}

/// Every sequence of operations of a length, each from the beginning. Answers how many there were.
fn explore<W: World>(make: impl Fn() -> W, depth: usize) -> usize {
    fn go<W: World>(make: &impl Fn() -> W, path: &mut Vec<W::Op>, depth: usize) -> usize {
        let mut world = make();
        for op in &*path {
            world.apply(op);
        }
        if depth == 0 {
            return 1;
        }
        let ops = world.ops();
        drop(world);
        let mut paths = 0;
        for op in ops {
            path.push(op);
            paths += go(make, path, depth - 1);
            path.pop();
        }
        paths
    }
    go(&make, &mut Vec::new(), depth)
}

/// One sequence, as long as there are choices.
fn wander<W: World>(mut world: W, choices: &[Index]) {
    for choice in choices {
        let ops = world.ops();
        if ops.is_empty() {
            return;
        }
        world.apply(choice.get(&ops));
    }
}

/// Notes that it was woken.
#[derive(Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl Flag {
    fn is_woken(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    fn reset(&self) {
        self.0.store(false, Ordering::SeqCst);
    }
}

/// Turns that want places: of a key, and overall.
mod places {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) struct Rules {
        per_key: usize,
        overall: usize,
        waiting: usize,
    }

    #[derive(Clone, Debug)]
    pub(super) enum Op {
        /// A turn of a key comes, and does nothing yet.
        Come(usize),
        Poll(usize),
        Drop(usize),
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Stage {
        New,
        Waiting,
        CalledUp,
        Held,
        Gone,
    }

    struct Turn<P: Policy> {
        key: usize,
        stage: Stage,
        admit: Option<Pin<Box<P::Admit>>>,
        held: Option<P::Turn>,
        flag: Arc<Flag>,
    }

    /// The layer beside a model of it: who came is in a list, and the first in it that could
    /// have a place has one.
    pub(super) struct Places<P: Policy> {
        policy: P,
        gauges: fn(&P) -> (usize, usize, usize),
        rules: Rules,
        most: usize,
        turns: Vec<Turn<P>>,
        /// Those who wait, in the order of their coming.
        queue: Vec<usize>,
    }

    impl<P: Policy> Places<P> {
        fn new(
            policy: P,
            gauges: fn(&P) -> (usize, usize, usize),
            rules: Rules,
            most: usize,
        ) -> Self {
            Self {
                policy,
                gauges,
                rules,
                most,
                turns: Vec::new(),
                queue: Vec::new(),
            }
        }

        fn holders(&self, key: Option<usize>) -> usize {
            let holds = |turn: &&Turn<P>| {
                matches!(turn.stage, Stage::CalledUp | Stage::Held)
                    && key.is_none_or(|key| turn.key == key)
            };
            self.turns.iter().filter(holds).count()
        }

        fn could_have(&self, key: usize) -> bool {
            self.holders(Some(key)) < self.rules.per_key && self.holders(None) < self.rules.overall
        }

        fn call_up(&mut self) {
            while let Some(place) = self
                .queue
                .iter()
                .position(|turn| self.could_have(self.turns[*turn].key))
            {
                let turn = self.queue.remove(place);
                self.turns[turn].stage = Stage::CalledUp;
            }
        }

        /// What the next poll of a turn has to bring: `None` if it waits.
        fn expect(&mut self, turn: usize) -> Option<bool> {
            let key = self.turns[turn].key;
            match self.turns[turn].stage {
                Stage::New => {
                    let ahead = |other: &&usize| self.turns[**other].key == key;
                    let ahead = self.queue.iter().filter(ahead).count();
                    if ahead == 0 && self.could_have(key) {
                        self.turns[turn].stage = Stage::Held;
                        return Some(true);
                    }
                    if ahead >= self.rules.waiting {
                        self.turns[turn].stage = Stage::Gone;
                        return Some(false);
                    }
                    self.queue.push(turn);
                    self.turns[turn].stage = Stage::Waiting;
                    self.call_up();
                    assert_eq!(self.turns[turn].stage, Stage::Waiting, "of the model");
                    None
                }
                Stage::CalledUp => {
                    self.turns[turn].stage = Stage::Held;
                    Some(true)
                }
                Stage::Waiting => None,
                Stage::Held | Stage::Gone => unreachable!("it is not polled"),
            }
        }

        fn check(&self) {
            let keys: BTreeSet<_> = self
                .turns
                .iter()
                .filter(|turn| !matches!(turn.stage, Stage::New | Stage::Gone))
                .map(|turn| turn.key)
                .collect();
            let expected = (self.holders(None), self.queue.len(), keys.len());
            assert_eq!((self.gauges)(&self.policy), expected, "held, waiting, keys");
            for (number, turn) in self.turns.iter().enumerate() {
                match turn.stage {
                    Stage::Waiting => {
                        assert!(!turn.flag.is_woken(), "{number} is woken for nothing")
                    }
                    Stage::CalledUp => assert!(turn.flag.is_woken(), "{number} is not woken"),
                    _ => {}
                }
            }
        }
    }

    impl<P: Policy> World for Places<P> {
        type Op = Op;

        fn ops(&self) -> Vec<Op> {
            let mut ops = Vec::new();
            if self
                .turns
                .iter()
                .filter(|turn| turn.stage != Stage::Gone)
                .count()
                < self.most
            {
                ops.extend([Op::Come(0), Op::Come(1)]);
            }
            for (number, turn) in self.turns.iter().enumerate() {
                match turn.stage {
                    Stage::Gone => {}
                    Stage::Held => ops.push(Op::Drop(number)),
                    _ => ops.extend([Op::Poll(number), Op::Drop(number)]),
                }
            }
            ops
        }

        fn apply(&mut self, op: &Op) {
            match *op {
                Op::Come(key) => {
                    let scope = Scope::new(["a", "b"][key]);
                    let admit = self.policy.admit(scope, Prompt::text("p"));
                    self.turns.push(Turn {
                        key,
                        stage: Stage::New,
                        admit: Some(Box::pin(admit)),
                        held: None,
                        flag: Arc::default(),
                    });
                }
                Op::Poll(number) => {
                    let expected = self.expect(number);
                    let turn = &mut self.turns[number];
                    turn.flag.reset();
                    let waker = Waker::from(Arc::clone(&turn.flag));
                    let admit = turn.admit.as_mut().expect("it has no place yet");
                    let polled = admit.as_mut().poll(&mut Context::from_waker(&waker));
                    let got = match &polled {
                        Poll::Ready(answer) => Some(answer.is_ok()),
                        Poll::Pending => None,
                    };
                    assert_eq!(got, expected, "turn {number}");
                    if let Poll::Ready(answer) = polled {
                        turn.admit = None;
                        turn.held = answer.ok().map(|(_, _, held)| held);
                    }
                }
                Op::Drop(number) => {
                    let turn = &mut self.turns[number];
                    turn.stage = Stage::Gone;
                    (turn.admit, turn.held) = (None, None);
                    self.queue.retain(|waiting| *waiting != number);
                    self.call_up();
                }
            }
            self.check();
        }
    }

    type Keyed = ConcurrencyLayer<fn(&Scope) -> String>;

    fn concurrency(rules: Rules, most: usize) -> Places<Keyed> {
        fn by_session(scope: &Scope) -> String {
            scope.session().to_owned()
        }
        let by_session: fn(&Scope) -> String = by_session;
        let layer = ConcurrencyLayer::keyed(rules.per_key, by_session)
            .overall(rules.overall)
            .max_waiting(rules.waiting);
        let gauges = |layer: &Keyed| (layer.running(), layer.waiting(), layer.keys());
        Places::new(layer, gauges, rules, most)
    }

    fn gate(waiting: usize, most: usize) -> Places<GateLayer> {
        let rules = Rules {
            per_key: 1,
            overall: usize::MAX,
            waiting,
        };
        let wait = std::time::Duration::from_secs(1_000);
        let gate = GateLayer::over(MemoryLock::new())
            .queue(waiting, wait)
            .unwrap();
        let gauges = |gate: &GateLayer| {
            let lock = gate.lock();
            (lock.held(), lock.waiting(), lock.sessions())
        };
        Places::new(gate, gauges, rules, most)
    }

    const RULES: [Rules; 4] = [
        Rules {
            per_key: 1,
            overall: 9,
            waiting: 9,
        },
        Rules {
            per_key: 1,
            overall: 1,
            waiting: 9,
        },
        Rules {
            per_key: 2,
            overall: 2,
            waiting: 1,
        },
        Rules {
            per_key: 1,
            overall: 2,
            waiting: 2,
        },
    ];

    #[test]
    fn concurrency_in_every_order() {
        for rules in RULES {
            let paths = explore(|| concurrency(rules, 4), 7);
            assert!(paths > 20_000, "{paths}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_gate_in_every_order() {
        for waiting in [1, 2] {
            let paths = explore(|| gate(waiting, 4), 7);
            assert!(paths > 20_000, "{paths}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn concurrency_in_long_orders(
            rules in (1..3_usize, 1..4_usize, 0..4_usize),
            choices in vec(any::<Index>(), 0..200),
        ) {
            let (per_key, overall, waiting) = rules;
            wander(concurrency(Rules { per_key, overall, waiting }, 12), &choices);
        }

        #[test]
        fn the_gate_in_long_orders(
            waiting in 1..4_usize,
            choices in vec(any::<Index>(), 0..200),
        ) {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
            let runtime = runtime.expect("a runtime");
            let _inside = runtime.enter();
            wander(gate(waiting, 12), &choices);
        }
    }
}

/// Turns that a desk reaches.
mod windows {
    use super::*;

    const FOLLOW_UPS: usize = 2;
    const STEERS: usize = 1;

    #[derive(Clone, Debug)]
    pub(super) enum Op {
        /// A turn comes. It has a window when it is polled.
        Come,
        /// The turn that was last is polled, or an earlier one.
        Poll(usize),
        Drop(usize),
        FollowUp,
        Steer,
        Abort,
        /// What the engine does at its next step.
        Engine(What),
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum What {
        Take,
        Read,
        Complete,
        Fail,
    }

    /// What is known of a turn.
    #[derive(Clone, Debug, PartialEq, Eq)]
    enum Stage {
        /// Not polled yet.
        New,
        /// At work on a run.
        Running {
            has_inbox: bool,
        },
        /// It has emitted the boundary, and begins a run with this prompt next.
        Between(u64),
        Over,
    }

    struct Turn {
        stage: Stage,
        aborted: bool,
        /// Accepted prompts that wait, by number: follow-ups, and what earlier runs did not read.
        queue: Vec<u64>,
        /// In the inbox of the run.
        inbox: Vec<u64>,
        stream: Option<Pin<Box<Invoke<BoxAgent>>>>,
        flag: Arc<Flag>,
        /// Whether whoever polls it has to be woken, since it can go on.
        awake: bool,
    }

    /// A desk, a window over a puppet, and a model of both for at most two turns of one session.
    pub(super) struct Windows {
        desk: SessionDesk,
        puppet: Puppet,
        agent: BoxAgent,
        turns: Vec<Turn>,
        /// What the puppet is told and has not done.
        orders: Vec<What>,
        /// The fate of each accepted prompt, by number.
        fates: Vec<Fate>,
        begun: Vec<String>,
        heard: Vec<String>,
    }

    impl Windows {
        pub(super) fn new() -> Self {
            let limits = Limits::new().follow_ups(FOLLOW_UPS).steers(STEERS);
            let desk = SessionDesk::with_limits(limits).unwrap();
            let puppet = Puppet::default();
            let agent = desk.window().layer(puppet.agent()).boxed();
            Self {
                desk,
                puppet,
                agent,
                turns: Vec::new(),
                orders: Vec::new(),
                fates: Vec::new(),
                begun: Vec::new(),
                heard: Vec::new(),
            }
        }

        fn is_open(turn: &Turn) -> bool {
            matches!(turn.stage, Stage::Running { .. } | Stage::Between(_))
        }

        /// The turn that is reached: of those with a window the last that opened one. Turns are polled for
        /// the first time in the order of their coming, so that is the last.
        fn reached(&self) -> Option<usize> {
            let last = self.turns.iter().rposition(Self::is_open)?;
            (!self.turns[last].aborted).then_some(last)
        }

        fn accept(&mut self) -> u64 {
            self.fates.push(Fate::Queued);
            self.fates.len() as u64 - 1
        }

        fn prompt(number: u64) -> Prompt {
            Prompt::text(number.to_string())
        }

        fn set(&mut self, number: u64, fate: Fate) {
            self.fates[usize::try_from(number).unwrap()] = fate;
        }

        /// A turn is over: what it has not taken is dropped.
        fn close(&mut self, turn: usize) {
            let it = &mut self.turns[turn];
            let mut left: Vec<_> = it.queue.drain(..).chain(it.inbox.drain(..)).collect();
            if let Stage::Between(number) = it.stage {
                left.push(number);
            }
            it.stage = Stage::Over;
            for number in left {
                self.set(number, Fate::Dropped);
            }
        }

        /// What a poll of a turn has to bring: an event by its type, or `None`.
        fn expect(&mut self, turn: usize) -> Option<&'static str> {
            match self.turns[turn].stage.clone() {
                Stage::New => self.begin(turn, "first".to_owned()),
                Stage::Between(number) if !self.turns[turn].aborted => {
                    self.set(number, Fate::Delivered);
                    self.begin(turn, number.to_string());
                }
                _ => {}
            }
            if self.turns[turn].aborted {
                self.close(turn);
                return Some("aborted");
            }
            loop {
                let what = (!self.orders.is_empty()).then(|| self.orders.remove(0))?;
                match what {
                    What::Take => {
                        self.turns[turn].stage = Stage::Running { has_inbox: true };
                    }
                    What::Read => {
                        let it = &mut self.turns[turn];
                        if it.stage == (Stage::Running { has_inbox: true }) && !it.inbox.is_empty()
                        {
                            let number = it.inbox.remove(0);
                            self.heard.push(number.to_string());
                            self.set(number, Fate::Delivered);
                        }
                    }
                    What::Fail => {
                        self.close(turn);
                        return Some("failed");
                    }
                    What::Complete => {
                        let it = &mut self.turns[turn];
                        it.queue.append(&mut it.inbox);
                        it.queue.sort_unstable();
                        if it.queue.is_empty() {
                            self.close(turn);
                            return Some("completed");
                        }
                        it.stage = Stage::Between(it.queue.remove(0));
                        return Some("follow_up");
                    }
                }
            }
        }

        fn begin(&mut self, turn: usize, prompt: String) {
            self.begun.push(prompt);
            self.turns[turn].stage = Stage::Running { has_inbox: false };
        }

        fn check(&self) {
            let strings = self.puppet.strings();
            assert_eq!(strings.begun, self.begun, "runs have begun with");
            assert_eq!(strings.heard, self.heard, "engines have read");
            let running = |turn: &&Turn| matches!(turn.stage, Stage::Running { .. });
            let alive = self.turns.iter().filter(running).count();
            assert_eq!(strings.alive, alive, "runs are alive");
            drop(strings);
            let state = self.desk.state("s").now_or_never().expect("at once");
            let fates: Vec<_> = state.fates.iter().map(|(_, fate)| *fate).collect();
            assert_eq!(fates, self.fates);
            let open = self.turns.iter().filter(|turn| Self::is_open(turn)).count();
            assert_eq!((state.running, self.desk.running()), (open > 0, open));
            assert!(open > 0 || !fates.contains(&Fate::Queued), "never silently");
            let can = self.desk.capabilities("s").now_or_never().expect("at once");
            let reached = self.reached().map(|turn| &self.turns[turn]);
            let steer = reached.is_some_and(|it| it.stage == Stage::Running { has_inbox: true });
            assert_eq!(
                (can.steer, can.follow_up, can.abort),
                (steer, reached.is_some(), reached.is_some())
            );
            for turn in &self.turns {
                assert!(!turn.awake || turn.flag.is_woken(), "nobody wakes the turn");
            }
        }
    }

    impl World for Windows {
        type Op = Op;

        fn ops(&self) -> Vec<Op> {
            let mut ops = vec![Op::FollowUp, Op::Steer, Op::Abort];
            let live = self
                .turns
                .iter()
                .filter(|turn| turn.stage != Stage::Over)
                .count();
            let all_begun = self.turns.iter().all(|turn| turn.stage != Stage::New);
            if live < 2 && all_begun {
                ops.push(Op::Come);
            }
            for (number, turn) in self.turns.iter().enumerate() {
                if turn.stage != Stage::Over {
                    ops.extend([Op::Poll(number), Op::Drop(number)]);
                }
            }
            if self.orders.is_empty() && live > 0 {
                use What::{Complete, Fail, Read, Take};
                ops.extend([Take, Read, Complete, Fail].map(Op::Engine));
            }
            ops
        }

        fn apply(&mut self, op: &Op) {
            match *op {
                Op::Come => {
                    let stream = self.agent.invoke(Scope::new("s"), Prompt::text("first"));
                    self.turns.push(Turn {
                        stage: Stage::New,
                        aborted: false,
                        queue: Vec::new(),
                        inbox: Vec::new(),
                        stream: Some(Box::pin(stream)),
                        flag: Arc::default(),
                        awake: false,
                    });
                }
                Op::Poll(number) => {
                    let expected = self.expect(number);
                    let turn = &mut self.turns[number];
                    turn.flag.reset();
                    turn.awake = false;
                    let waker = Waker::from(Arc::clone(&turn.flag));
                    let stream = turn.stream.as_mut().expect("it is not over");
                    let got = match stream.as_mut().poll_next(&mut Context::from_waker(&waker)) {
                        Poll::Pending => None,
                        Poll::Ready(None) => Some("end"),
                        Poll::Ready(Some(AgentEvent::Completed(_))) => Some("completed"),
                        Poll::Ready(Some(AgentEvent::Failed(failure))) => {
                            Some(if failure.is(&FailureCode::ABORTED) {
                                "aborted"
                            } else {
                                "failed"
                            })
                        }
                        Poll::Ready(Some(event)) => {
                            let boundary = event
                                .view::<FollowUp>()
                                .expect("a boundary")
                                .expect("whole");
                            let Stage::Between(next) = turn.stage else {
                                panic!("{event:?} comes from nowhere");
                            };
                            assert_eq!(boundary.text, Some(next.to_string()));
                            Some("follow_up")
                        }
                    };
                    assert_eq!(got, expected, "turn {number}");
                    if turn.stage == Stage::Over {
                        turn.stream = None;
                    }
                }
                Op::Drop(number) => {
                    self.turns[number].stream = None;
                    if Self::is_open(&self.turns[number]) {
                        self.close(number);
                    }
                    self.turns[number].stage = Stage::Over;
                }
                Op::FollowUp => {
                    let prompt = Self::prompt(self.fates.len() as u64);
                    let got = self
                        .desk
                        .follow_up("s", prompt)
                        .now_or_never()
                        .expect("at once");
                    let got = got.map(drop).map_err(|refusal| refusal.code());
                    let expected = match self.reached() {
                        None => Err(RefusalCode::NotRunning),
                        Some(turn) if self.turns[turn].queue.len() >= FOLLOW_UPS => {
                            Err(RefusalCode::QueueFull)
                        }
                        Some(turn) => {
                            let number = self.accept();
                            self.turns[turn].queue.push(number);
                            Ok(())
                        }
                    };
                    assert_eq!(got, expected);
                }
                Op::Steer => {
                    let prompt = Self::prompt(self.fates.len() as u64);
                    let got = self
                        .desk
                        .steer("s", prompt)
                        .now_or_never()
                        .expect("at once");
                    let got = got.map(drop).map_err(|refusal| refusal.code());
                    let expected = match self.reached() {
                        None => Err(RefusalCode::NotRunning),
                        Some(turn) => match self.turns[turn].stage {
                            Stage::Running { has_inbox: true }
                                if self.turns[turn].inbox.len() < STEERS =>
                            {
                                let number = self.accept();
                                self.turns[turn].inbox.push(number);
                                Ok(())
                            }
                            Stage::Running { has_inbox: true } => Err(RefusalCode::QueueFull),
                            _ => Err(RefusalCode::Unsupported),
                        },
                    };
                    assert_eq!(got, expected);
                }
                Op::Abort => {
                    let got = self.desk.abort("s").now_or_never().expect("at once");
                    let got = got.map_err(|refusal| refusal.code());
                    let expected = match self.reached() {
                        None => Err(RefusalCode::NotRunning),
                        Some(turn) => {
                            let it = &mut self.turns[turn];
                            it.aborted = true;
                            // Between two runs it is the caller who has to ask for more.
                            it.awake = matches!(it.stage, Stage::Running { .. });
                            Ok(())
                        }
                    };
                    assert_eq!(got, expected);
                }
                Op::Engine(what) => {
                    self.orders.push(what);
                    self.puppet.pull(match what {
                        What::Take => Pull::Take,
                        What::Read => Pull::Read,
                        What::Complete => Pull::Complete(Completed::new()),
                        What::Fail => Pull::Fail(Failure::new("no")),
                    });
                }
            }
            self.check();
        }
    }

    #[test]
    fn the_desk_in_every_order() {
        // Begun, or there is not much to order.
        let begun = || {
            let mut world = Windows::new();
            world.apply(&Op::Come);
            world.apply(&Op::Poll(0));
            world
        };
        let paths = explore(begun, 5) + explore(Windows::new, 4);
        assert!(paths > 20_000, "{paths}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn the_desk_in_long_orders(choices in vec(any::<Index>(), 0..60)) {
            wander(Windows::new(), &choices);
        }
    }
}
