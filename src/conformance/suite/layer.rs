use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tower_layer::Layer;

use super::{
    LayerOptions,
    compare::Comparison,
    scenario::{self, Expect, Scenario},
};
use crate::{
    Agent, AgentEvent, Prompt, Scope, UsageSink,
    conformance::{
        Breach, Check, Place, ProbeAgent, ProbeLog, Report,
        clock::demand_paused,
        drive::{Driven, Polled, woken},
        probe::TurnMark,
        subject::Subject,
    },
};

/// Proves a layer right: MUST 5, and everything else that a stack relies on.
///
/// `make_layer` makes the layer anew for each scenario; within one, turns share it, so
/// that what is not given back shows. Give it a limit below twenty to see it act.
///
/// A stack of two layers is a layer as well: [`pair`](crate::conformance::pair).
///
/// ```
/// use portcullis::{Flow, Outbox, AgentEvent, Turn, TurnLayer, conformance::{LayerOptions, suite}};
///
/// /// Counts words.
/// struct Words(usize);
///
/// impl Turn for Words {
///     fn on_event(&mut self, event: &mut AgentEvent, _out: &mut Outbox) -> Flow {
///         if let AgentEvent::Text(text) = event {
///             self.0 += text.delta().split_whitespace().count();
///         }
///         Flow::Forward
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let layer = || TurnLayer::new(|_: &mut _, _: &mut _| Words(0));
/// suite::layer(layer, LayerOptions::new()).await.assert();
/// # }
/// ```
///
/// # Panics
///
/// If tokio's clock is not paused.
pub async fn layer<L>(make_layer: impl Fn() -> L, options: LayerOptions) -> Report
where
    L: Layer<ProbeAgent>,
    L::Service: Agent + Clone + 'static,
{
    demand_paused().await;
    let make = |probe: ProbeAgent| Subject::new(make_layer().layer(probe));
    let mut suite = Suite {
        make: &make,
        options,
        report: Report::default(),
    };
    for scenario in scenario::all() {
        suite.read(&scenario).await;
        suite.drop_everywhere(&scenario).await;
    }
    suite.drop_a_ready_service().await;
    suite.crowd().await;
    suite.drop_what_waits().await;
    suite.begin_after_a_terminal().await;
    suite.spend().await;
    suite.report
}

struct Suite<'a> {
    make: &'a dyn Fn(ProbeAgent) -> Subject,
    options: LayerOptions,
    report: Report,
}

/// A layer over a probe.
struct Stack {
    subject: Subject,
    log: ProbeLog,
    /// How often the sink of the caller was reported to.
    reports: Arc<AtomicUsize>,
}

const PROMPT: &str = "What is the weather like?";

impl Stack {
    fn turn(&self, session: &str) -> Driven<'_> {
        let mut scope = Scope::new(session);
        scope.extensions_mut().insert(TurnMark::default());
        let reports = Arc::clone(&self.reports);
        scope.add_usage_sink(UsageSink::new(move |usage| {
            if usage.id().ends_with("late") {
                reports.fetch_add(1, Ordering::Relaxed);
            }
        }));
        let events = self.subject.start(scope, Prompt::text(PROMPT));
        Driven::new(self.log.taking(events))
    }

    fn reports(&self) -> usize {
        self.reports.load(Ordering::Relaxed)
    }
}

impl Suite<'_> {
    fn stack(&self, probe: &ProbeAgent) -> Stack {
        let probe = probe.renewed();
        Stack {
            log: probe.log(),
            subject: (self.make)(probe),
            reports: Arc::default(),
        }
    }

    fn breach(&mut self, check: Check, scenario: &str, state: Place, details: impl Into<String>) {
        self.report.breach(Breach::new(
            check,
            scenario,
            state.to_string(),
            state.event(),
            details,
        ));
    }

    /// Reads the whole turn. Stops at the first breach, since others would follow from it.
    async fn read(&mut self, scenario: &Scenario) {
        let stack = self.stack(&scenario.probe);
        let mut turn = stack.turn("session");
        self.report.turn();
        if let Err((check, details)) = self.read_turn(scenario, &stack, &mut turn).await {
            let place = turn.place;
            drop(turn.drop_turn());
            self.breach(check, scenario.name, place, details);
            return;
        }
        let (place, events) = (turn.place, std::mem::take(&mut turn.events));
        let panics = scenario.expect == Expect::Panic;
        let heard = turn.panic.is_some() || matches!(events.last(), Some(AgentEvent::Failed(_)));
        let panicked = turn.drop_turn();
        let name = scenario.name;
        if panics {
            if stack.log.panics() > 0 && !heard && panicked.is_none() {
                let details = match place {
                    Place::Stuck => "the turn hangs",
                    Place::Terminal(_) => "the turn completed",
                    _ => "the stream just ended",
                };
                return self.breach(Check::HearsPanics, name, place, details);
            }
        } else if let Some(panic) = panicked {
            return self.breach(Check::NoPanic, name, place, format!("drop: {panic}"));
        }
        let said = stack.log.events();
        let comparison = Comparison::new(&said, &events, self.options).panicked(panics);
        if let Some(found) = comparison.difference() {
            let state = place.to_string();
            let breach = Breach::new(found.check, name, state, found.event, found.details);
            return self.report.breach(breach);
        }
        if stack.log.ran_ahead() > 0 {
            let details = "the agent went on while the caller had yet to take its event";
            return self.breach(Check::NothingAhead, name, place, details);
        }
        if stack.log.unready_calls() > 0 {
            let details = "the agent was called without being ready";
            return self.breach(Check::CallsWhenReady, name, place, details);
        }
        let requests = stack.log.requests();
        let passed = requests
            .iter()
            .all(|it| it.session == "session" && it.prompt == PROMPT && it.marked);
        if !passed && !self.options.edits_requests {
            self.breach(
                Check::PassesRequest,
                name,
                place,
                "the agent was asked something else",
            );
        }
    }

    async fn read_turn(
        &mut self,
        scenario: &Scenario,
        stack: &Stack,
        turn: &mut Driven<'_>,
    ) -> Result<(), (Check, String)> {
        loop {
            let place = turn.step().await;
            if stack.log.reserved() > 0 {
                return Err((
                    Check::ReservesNothing,
                    "the agent is ready and not called, between two polls".into(),
                ));
            }
            if place.is_over() {
                break;
            }
        }
        match (turn.place, scenario.expect) {
            (Place::Terminal(_), _) => {
                if stack.log.live_runs() > 0 {
                    let details = "the agent is still there, and the caller has the end";
                    return Err((Check::FreeAtTerminal, details.into()));
                }
                match turn.after_the_end().await {
                    Polled::End => Ok(()),
                    Polled::Event(event) => {
                        let details = format!("{event:?} followed");
                        Err((Check::NothingAfterTerminal, details))
                    }
                    Polled::Pending => Err((
                        Check::NothingAfterTerminal,
                        "the stream waits for something".into(),
                    )),
                    Polled::Panicked(panic) => Err((Check::NoPanic, panic)),
                }
            }
            (Place::End, Expect::BareEnd | Expect::Panic)
            | (Place::Stuck, Expect::Never | Expect::Panic)
            | (Place::Panicked, Expect::Panic) => Ok(()),
            (Place::Panicked, _) => {
                let panic = turn.panic.clone().unwrap_or_default();
                Err((Check::NoPanic, panic))
            }
            (Place::Stuck, _) => Err((
                Check::Wakes,
                "the turn is pending, and nobody will wake it".into(),
            )),
            _ => Err((
                Check::EndsWithTerminal,
                "the stream ended without a terminal event".into(),
            )),
        }
    }

    /// Drops turns of one stack after each poll, and then reads one: nothing was lost.
    async fn drop_everywhere(&mut self, scenario: &Scenario) {
        let name = scenario.name;
        let stack = self.stack(&scenario.probe);
        for polls in 0.. {
            let (emitted, reports) = (stack.log.emitted(), stack.reports());
            let mut turn = stack.turn("session");
            self.report.turn();
            for _ in 0..polls {
                turn.step().await;
            }
            let place = turn.place;
            let dropped = turn.drop_turn();
            if let (Some(panic), false) = (dropped, scenario.expect == Expect::Panic) {
                return self.breach(Check::NoPanic, name, place, format!("drop: {panic}"));
            }
            if !self.nothing_is_left(&stack, name, place) {
                return;
            }
            let owed = scenario.reports_on_drop && stack.log.emitted() > emitted;
            if owed && stack.reports() == reports {
                let details = "the caller's sink was not told of it";
                return self.breach(Check::PassesSink, name, place, details);
            }
            if place.is_over() {
                break;
            }
        }
        self.read_another(&stack, name).await;
    }

    fn nothing_is_left(&mut self, stack: &Stack, name: &str, place: Place) -> bool {
        let (live, reserved) = (stack.log.live_runs(), stack.log.reserved());
        if live > 0 || reserved > 0 {
            let details = format!("{live} runs live and {reserved} services are kept ready");
            self.breach(Check::DropReaches, name, place, details);
            return false;
        }
        true
    }

    /// A turn of a stack that has seen others end in every way.
    async fn read_another(&mut self, stack: &Stack, name: &str) {
        stack.log.disarm();
        let calls = stack.log.calls();
        let mut turn = stack.turn("session");
        self.report.turn();
        turn.run_to_end().await;
        let place = turn.place;
        drop(turn.drop_turn());
        // An agent that never is ready, or hangs, says nothing about the layer; that it
        // was called does.
        let served = place != Place::Stuck || stack.log.calls() > calls;
        let never_ready = stack.log.reservations() == 0 && calls == 0;
        if !served && !never_ready {
            let details = "after turns that were dropped or panicked, another one waits for ever";
            self.breach(Check::ReturnsPermits, name, place, details);
        }
    }

    /// A service that was made ready and then dropped leaves nothing behind.
    async fn drop_a_ready_service(&mut self) {
        let stack = self.stack(&scenario::slow());
        drop(stack.subject.ready().await);
        self.nothing_is_left(
            &stack,
            "a service is made ready and not called",
            Place::NotPolled,
        );
    }

    /// Several turns at once: those that wait reserve nothing, and each has its turn.
    async fn crowd(&mut self) {
        let name = "several turns at once";
        let stack = self.stack(&scenario::slow());
        let sessions = ["session", "session", "session", "session", "other"];
        let mut turns: Vec<_> = sessions.iter().map(|session| stack.turn(session)).collect();
        turns.iter().for_each(|_| self.report.turn());
        while !turns.is_empty() {
            for turn in &mut turns {
                let place = turn.poll().await;
                if stack.log.reserved() > 0 {
                    let details = "the agent is ready and not called, while the turn waits";
                    return self.breach(Check::ReservesNothing, name, place, details);
                }
            }
            turns.retain(|turn| !turn.place.is_over());
            let all_wait = turns.iter().all(|turn| turn.place == Place::Pending);
            if !turns.is_empty() && all_wait && !woken().await {
                // One that runs would have to be woken by the agent below.
                let (check, details) = if stack.log.live_runs() > 0 {
                    (Check::Wakes, "a turn is pending, and nobody will wake it")
                } else {
                    (
                        Check::ReturnsPermits,
                        "a turn that waited for others never ran",
                    )
                };
                return self.breach(check, name, Place::Stuck, details);
            }
        }
        self.nothing_is_left(&stack, name, Place::End);
    }

    /// A turn that is dropped while it waits for another one leaves nothing behind.
    async fn drop_what_waits(&mut self) {
        let name = "a turn is dropped while others run";
        let stack = self.stack(&scenario::slow());
        let mut turns: Vec<_> = (0..3).map(|_| stack.turn("session")).collect();
        for turn in &mut turns {
            self.report.turn();
            for _ in 0..3 {
                if !turn.place.is_over() {
                    turn.poll().await;
                }
            }
        }
        // From the back: those that wait go first.
        while let Some(turn) = turns.pop() {
            let place = turn.place;
            drop(turn.drop_turn());
            let running = turns.iter().filter(|turn| !turn.place.is_over()).count();
            let (live, reserved) = (stack.log.live_runs(), stack.log.reserved());
            if live > running || reserved > running {
                let details = format!("{live} runs live and {reserved} services are kept ready");
                return self.breach(Check::DropReaches, name, place, details);
            }
        }
        self.read_another(&stack, name).await;
    }

    /// The caller has the terminal event and keeps the stream: what the turn held is free.
    async fn begin_after_a_terminal(&mut self) {
        let name = "a turn follows while the stream of the last one is kept";
        let stack = self.stack(&scenario::slow());
        let mut kept = stack.turn("session");
        self.report.turn();
        if !matches!(kept.run_to_end().await, Place::Terminal(_)) {
            return;
        }
        let calls = stack.log.calls();
        let mut turn = stack.turn("session");
        self.report.turn();
        let place = turn.run_to_end().await;
        if stack.log.calls() == calls && (place == Place::Stuck || !self.options.ends_turns) {
            let details = "what the first turn held is given back only when its stream is dropped";
            self.breach(Check::FreeAtTerminal, name, place, details);
        }
    }

    /// What a layer that counts usage allows.
    async fn spend(&mut self) {
        let Some(allowed) = self.options.paid_calls else {
            return;
        };
        let stack = self.stack(&scenario::spender());
        let mut turn = stack.turn("session");
        self.report.turn();
        let place = turn.run_to_end().await;
        let paid = stack.log.paid_calls();
        if paid > allowed {
            let details = format!("{paid} paid calls were made, {allowed} are allowed");
            self.breach(
                Check::NothingAhead,
                "reports usage before each paid call",
                place,
                details,
            );
        }
    }
}
