//! A turn that costs money.

use super::{scenario, stack::Suite};
use crate::conformance::Check;

impl Suite<'_> {
    /// What a layer that counts usage allows.
    pub(super) async fn spend(&mut self) {
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
