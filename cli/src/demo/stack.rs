use std::{fmt, time::Duration};

use portcullis::{BoxAgent, Scope};
use portcullis_layers::{
    ServiceBuilderExt,
    budget::{BudgetLayer, Limits, Meter},
    concurrency::ConcurrencyLayer,
    timeout::TimeoutLayer,
    trace::TraceLayer,
};
use tower::ServiceBuilder;

use crate::args::Piece;

/// Tools that a turn may call.
const TOOLS: u64 = 3;
/// How long a turn may take.
const TIME: Duration = Duration::from_secs(3);

/// The layers of the demo, from the outside in. Each acts at least once in the drive.
#[derive(Debug)]
pub(super) struct Stack {
    without: Option<Piece>,
}

impl Stack {
    pub(super) const fn without(without: Option<Piece>) -> Self {
        Self { without }
    }

    fn has(&self, piece: Piece) -> bool {
        self.without != Some(piece)
    }

    /// Puts the layers around an agent.
    pub(super) fn around(&self, agent: BoxAgent) -> BoxAgent {
        let conversation = |scope: &Scope| Some(scope.session().to_owned());
        let trace = TraceLayer::new().agent("desk");
        let concurrency = ConcurrencyLayer::keyed(1, conversation).shed();
        let budget = BudgetLayer::per_turn(Limits::of(Meter::ToolCalls, TOOLS));
        let timeout = TimeoutLayer::total(TIME);
        let agent = ServiceBuilder::new()
            .optional(self.has(Piece::Trace).then_some(trace))
            .optional(self.has(Piece::Concurrency).then_some(concurrency))
            .optional(self.has(Piece::Budget).then_some(budget))
            .optional(self.has(Piece::Timeout).then_some(timeout))
            .service(agent);
        BoxAgent::new(agent)
    }
}

impl fmt::Display for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layers = [
            (Piece::Trace, "trace".to_owned()),
            (
                Piece::Concurrency,
                "concurrency (1 turn a conversation)".to_owned(),
            ),
            (Piece::Budget, format!("budget ({TOOLS} tools a turn)")),
            (
                Piece::Timeout,
                format!("timeout ({} s a turn)", TIME.as_secs()),
            ),
        ];
        for (piece, name) in layers {
            if self.has(piece) {
                write!(f, "{name} > ")?;
            }
        }
        f.write_str("desk")
    }
}
