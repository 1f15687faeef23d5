//! Turns that are read to their end.

use super::{
    compare::Comparison,
    scenario::{Expect, Scenario},
    stack::{PROMPT, Stack, Suite},
};
use crate::{
    AgentEvent,
    conformance::{
        Breach, Check, Place,
        drive::{Driven, Polled},
    },
};

impl Suite<'_> {
    /// Reads the whole turn. Stops at the first breach, since others would follow from it.
    pub(super) async fn read(&mut self, scenario: &Scenario) {
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
        let comparison = Comparison::new(&said, &events, self.options)
            .panicked(panics)
            .sound(scenario.expect == Expect::Terminal);
        if let Some(found) = comparison.difference() {
            let state = place.to_string();
            let breach = Breach::new(found.check, name, state, found.event, found.details);
            return self.report.breach(breach);
        }
        // What is held back is run past, and that may be what people read, never what costs.
        let holds_back = |event: &AgentEvent| {
            let is_read = matches!(event, AgentEvent::Text(_) | AgentEvent::Thinking(_));
            self.options.edits && is_read
        };
        if stack.log.ran_ahead_of(|event| !holds_back(event)) > 0 {
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

    pub(super) async fn read_turn(
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
}
