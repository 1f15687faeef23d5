use std::sync::Arc;

use portcullis::{Admitted, Policy, Prompt, Scope};
use tower_layer::Layer;

use super::{
    Account, Claim, Exceeded, Ledger, Limits, MemoryLedger, Meter, Metered, Reserving,
    plan::{Plan, Unmeasured, Unreachable},
};

/// Limits what turns consume. See the [module docs](super).
#[derive(Clone, Debug)]
pub struct BudgetLayer<L = MemoryLedger> {
    ledger: L,
    plan: Arc<Plan>,
}

/// An agent with a budget. See the [module docs](super).
pub type Budget<S, L = MemoryLedger> = Admitted<S, BudgetLayer<L>>;

impl BudgetLayer {
    /// Limits for each turn.
    #[must_use]
    pub fn per_turn(limits: Limits) -> Self {
        Self {
            ledger: MemoryLedger::new(),
            plan: Arc::new(Plan::new()),
        }
        .and_per_turn(limits)
    }
}

impl<L> BudgetLayer<L> {
    /// Limits for all turns of a session together, kept in a ledger.
    #[must_use]
    pub fn per_session(ledger: L, limits: Limits) -> Self {
        let layer = Self {
            ledger,
            plan: Arc::new(Plan::new()),
        };
        layer.plan(|plan| plan.session = Some(limits))
    }

    fn plan(mut self, change: impl FnOnce(&mut Plan)) -> Self {
        change(Arc::make_mut(&mut self.plan));
        self
    }

    /// And limits for each turn.
    #[must_use]
    pub fn and_per_turn(self, limits: Limits) -> Self {
        self.plan(|plan| plan.turn = Some(limits))
    }

    /// And limits for all turns of a session together, kept in a ledger.
    #[must_use]
    pub fn and_per_session<M>(self, ledger: M, limits: Limits) -> BudgetLayer<M> {
        let layer = BudgetLayer {
            ledger,
            plan: self.plan,
        };
        layer.plan(|plan| plan.session = Some(limits))
    }

    /// What a turn reserves of its session before it begins. So much has to be left, and
    /// is the turn's own. The default is one of each, but no tool call; of everything
    /// except tool calls it is at least one.
    ///
    /// With as much as a turn uses at most, no turn is cut for what another used.
    #[must_use]
    pub fn reserve(self, meter: Meter, amount: u64) -> Self {
        let least = u64::from(meter != Meter::ToolCalls);
        self.plan(|plan| plan.slice = plan.slice.with(meter, amount.max(least)))
    }

    /// Warns with one `budget` event when so many per cent of a limit are used. The
    /// default is 80.
    #[must_use]
    pub fn warn_at(self, percent: u8) -> Self {
        self.plan(|plan| plan.warn_at = Some(percent))
    }

    /// Adds no event.
    #[must_use]
    pub fn no_warning(self) -> Self {
        self.plan(|plan| plan.warn_at = None)
    }

    /// Cuts as soon as a limit is used up, not only when it is passed: after the report
    /// that used up the last of it, the agent takes no other step.
    ///
    /// For engines that go on after a report only to spend more. Without it a limit of
    /// one model call lets the second begin, since a turn that has used its budget up may
    /// still have to say so: a report that comes right before `completed` fails the turn
    /// here. Tool calls are counted when they begin, so for them nothing changes.
    #[must_use]
    pub fn cut_when_spent(self) -> Self {
        self.plan(|plan| plan.cut_when_spent = true)
    }

    /// What output costs that nobody measured.
    #[must_use]
    pub fn unmeasured(self, policy: Unmeasured) -> Self {
        self.plan(|plan| plan.unmeasured = policy)
    }

    /// What happens when the ledger cannot say.
    #[must_use]
    pub fn unreachable(self, policy: Unreachable) -> Self {
        self.plan(|plan| plan.unreachable = policy)
    }

    /// The ledger.
    pub const fn ledger(&self) -> &L {
        &self.ledger
    }
}

impl<L: Ledger> Policy for BudgetLayer<L> {
    type Turn = Metered<L::Reservation>;
    type Admit = Reserving<L>;

    fn admit(&self, scope: Scope, prompt: Prompt) -> Reserving<L> {
        let plan = Arc::clone(&self.plan);
        // A turn that may not even call a model is not begun.
        let spent = plan.turn.as_ref().and_then(|limits| {
            let limits = limits.iter();
            limits
                .filter(|(meter, limit)| *meter != Meter::ToolCalls && *limit == 0)
                .map(|(meter, limit)| Exceeded::new("turn", meter, limit))
                .next()
        });
        if let Some(exceeded) = spent {
            return Reserving::refused(exceeded, plan, scope, prompt);
        }
        let reserve = plan.session.map(|limits| {
            let slice = limits
                .iter()
                .fold(super::Amounts::ZERO, |slice, (meter, _)| {
                    slice.with(meter, plan.slice.of(meter))
                });
            let claim = Claim::new(Account::session(&scope), limits, slice);
            self.ledger.reserve(vec![claim])
        });
        Reserving::new(reserve, plan, scope, prompt)
    }
}

impl<S, L: Clone> Layer<S> for BudgetLayer<L> {
    type Service = Budget<S, L>;

    fn layer(&self, inner: S) -> Self::Service {
        Admitted::new(inner, self.clone())
    }
}
