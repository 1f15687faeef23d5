//! Turns beside others: those that wait, and those that come after.

use super::{scenario, stack::Suite};
use crate::conformance::{Check, Place, drive::woken};

impl Suite<'_> {
    /// Several turns at once: those that wait reserve nothing, and each has its turn.
    pub(super) async fn crowd(&mut self) {
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
    pub(super) async fn drop_what_waits(&mut self) {
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
    pub(super) async fn begin_after_a_terminal(&mut self) {
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
}
