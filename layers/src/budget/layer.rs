use std::{borrow::Cow, sync::Arc};

use portcullis::{Admitted, Failure, Policy, Prompt, Scope};
use tower_layer::Layer;

use super::{
    Allowance, BudgetGrant, Currency, Exceeded, Ledger, Limits, MemoryLedger, Meter, Metered,
    Pricing, Reserving,
    plan::{Key, Plan, Unmeasured, Unpriced, Unreachable},
    turn::unpriced,
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
        Self::over(MemoryLedger::new()).and_per_turn(limits)
    }
}

impl<L> BudgetLayer<L> {
    fn over(ledger: L) -> Self {
        Self {
            ledger,
            plan: Arc::new(Plan::new()),
        }
    }

    /// Limits for all turns of a session together, kept in a ledger.
    #[must_use]
    pub fn per_session(ledger: L, allowance: impl Into<Allowance>) -> Self {
        Self::over(ledger).and_per_session(allowance)
    }

    /// Limits for all turns of a principal together. Callers without a name share one
    /// account: nobody gets more by leaving it out.
    #[must_use]
    pub fn per_principal(ledger: L, allowance: impl Into<Allowance>) -> Self {
        Self::over(ledger).and_per_principal(allowance)
    }

    /// Limits for all turns of a tenant together.
    #[must_use]
    pub fn per_tenant(ledger: L, allowance: impl Into<Allowance>) -> Self {
        Self::over(ledger).and_per_tenant(allowance)
    }

    /// Limits for all turns together to which a function gives the same name. `kind` is what
    /// a name is of: "the budget of the `kind` is spent". A turn without a name is not
    /// limited.
    #[must_use]
    pub fn per_key(
        ledger: L,
        kind: impl Into<Cow<'static, str>>,
        name: impl Fn(&Scope) -> Option<String> + Send + Sync + 'static,
        allowance: impl Into<Allowance>,
    ) -> Self {
        Self::over(ledger).and_per_key(kind, name, allowance)
    }

    fn plan(mut self, change: impl FnOnce(&mut Plan)) -> Self {
        change(Arc::make_mut(&mut self.plan));
        self
    }

    /// And limits for each turn. A turn is checked against all limits, and reserves of all
    /// accounts in one step.
    #[must_use]
    pub fn and_per_turn(self, limits: Limits) -> Self {
        self.plan(|plan| plan.turn = Some(limits))
    }

    /// And limits for all turns of a session together. One for ever and one for each length of
    /// window are different limits; of two that are the same the last counts.
    #[must_use]
    pub fn and_per_session(self, allowance: impl Into<Allowance>) -> Self {
        self.plan(|plan| plan.keep(Key::Session, allowance.into()))
    }

    /// And limits for all turns of a principal together, see
    /// [`per_principal`](Self::per_principal).
    #[must_use]
    pub fn and_per_principal(self, allowance: impl Into<Allowance>) -> Self {
        self.plan(|plan| plan.keep(Key::Principal, allowance.into()))
    }

    /// And limits for all turns of a tenant together.
    #[must_use]
    pub fn and_per_tenant(self, allowance: impl Into<Allowance>) -> Self {
        self.plan(|plan| plan.keep(Key::Tenant, allowance.into()))
    }

    /// And limits for all turns of a name together, see [`per_key`](Self::per_key).
    #[must_use]
    pub fn and_per_key(
        self,
        kind: impl Into<Cow<'static, str>>,
        name: impl Fn(&Scope) -> Option<String> + Send + Sync + 'static,
        allowance: impl Into<Allowance>,
    ) -> Self {
        let key = Key::By(kind.into(), Arc::new(name));
        self.plan(|plan| plan.keep(key, allowance.into()))
    }

    /// Says in which currency [`Meter::Money`] counts, and what a call costs. By default it is
    /// [`Currency::USD`], and what the record of the call says itself.
    #[must_use]
    pub fn priced(self, currency: Currency, pricing: impl Pricing + Send + Sync + 'static) -> Self {
        self.plan(|plan| {
            plan.currency = currency;
            plan.pricing = Arc::new(move |usage| pricing.price(usage));
        })
    }

    /// What a turn reserves of each account before it begins. So much has to be left, and
    /// is the turn's own. The default is one of each, but no tool call; of everything
    /// except tool calls it is at least one, and never more than the limit.
    ///
    /// With as much as a turn uses at most, no turn is cut for what another used.
    #[must_use]
    pub fn reserve(self, meter: Meter, amount: u64) -> Self {
        let least = u64::from(meter != Meter::ToolCalls);
        self.plan(|plan| plan.slice = plan.slice.with(meter, amount.max(least)))
    }

    /// Warns with one `budget` event a limit when so many per cent of it are used; more than
    /// 100 is 100. The default is 80.
    #[must_use]
    pub fn warn_at(self, percent: u8) -> Self {
        self.plan(|plan| plan.warn_at = Some(percent.min(100)))
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

    /// Lets a model call that passes a limit come to its end, and cuts before the next call or
    /// tool. Without it the turn is cut at once, in the middle of a call by what was estimated
    /// of it.
    ///
    /// A call is over when its record says so (`final`), so this makes a difference for
    /// engines that report while a call runs, and for estimates.
    #[must_use]
    pub fn finish_call(self) -> Self {
        self.plan(|plan| plan.finish_call = true)
    }

    /// What a call costs whose price nobody knows, where money is limited.
    #[must_use]
    pub fn unpriced(self, policy: Unpriced) -> Self {
        self.plan(|plan| plan.unpriced = policy)
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
        if let Some(refusal) = refusal(&plan, &scope) {
            return Reserving::refused(refusal, plan, (scope, prompt));
        }
        let claims = plan.claims(&scope);
        let reserve = (!claims.is_empty()).then(|| self.ledger.reserve(claims.clone()));
        Reserving::new(reserve, plan, claims, (scope, prompt))
    }
}

/// A turn that may not even call a model is not begun, nor one that would be cut at its first
/// call.
fn refusal(plan: &Plan, scope: &Scope) -> Option<Failure> {
    if plan.lacks_price() {
        return Some(unpriced());
    }
    let zero = |kind, limits: &Limits| {
        let mut limits = limits.iter();
        let (meter, limit) =
            limits.find(|(meter, limit)| *meter != Meter::ToolCalls && *limit == 0)?;
        Some(Exceeded::new(kind, meter, limit))
    };
    let turn = plan.turn.as_ref().and_then(|limits| zero("turn", limits));
    let grant = scope.extensions().get::<BudgetGrant>();
    let spent = turn.or_else(|| {
        let grant = grant?;
        let used = grant.used();
        let spent = grant.limits().used_up_by(&used);
        spent.map(|(meter, limit)| Exceeded::new("grant", meter, limit))
    });
    spent.map(Into::into)
}

impl<S, L: Clone> Layer<S> for BudgetLayer<L> {
    type Service = Budget<S, L>;

    fn layer(&self, inner: S) -> Self::Service {
        Admitted::new(inner, self.clone())
    }
}
