//! Turns that are dropped, in every state.

use super::{
    scenario::{self, Expect, Scenario},
    stack::{Stack, Suite},
};
use crate::conformance::{Check, Place};

impl Suite<'_> {
    /// Drops turns of one stack after each poll, and then reads one: nothing was lost.
    pub(super) async fn drop_everywhere(&mut self, scenario: &Scenario) {
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

    pub(super) fn nothing_is_left(&mut self, stack: &Stack, name: &str, place: Place) -> bool {
        let (live, reserved) = (stack.log.live_runs(), stack.log.reserved());
        if live > 0 || reserved > 0 {
            let details = format!("{live} runs live and {reserved} services are kept ready");
            self.breach(Check::DropReaches, name, place, details);
            return false;
        }
        true
    }

    /// A turn of a stack that has seen others end in every way.
    pub(super) async fn read_another(&mut self, stack: &Stack, name: &str) {
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
    pub(super) async fn drop_a_ready_service(&mut self) {
        let stack = self.stack(&scenario::slow());
        drop(stack.subject.ready().await);
        self.nothing_is_left(
            &stack,
            "a service is made ready and not called",
            Place::NotPolled,
        );
    }
}
