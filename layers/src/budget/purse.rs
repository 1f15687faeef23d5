use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use portcullis::{Usage, UsageSink};

use super::{
    Amounts, BudgetGrant, BudgetPurse, Exceeded, Limits, Meter, Reservation,
    grant::{Carve, GrantState},
    plan::Plan,
    tally::Tally,
};

/// What the watcher of a turn, its usage sink and its purse share.
pub(super) struct Purse<R> {
    pub(super) plan: Arc<Plan>,
    state: Mutex<State<R>>,
    /// Something has come that was not counted yet.
    news: Arc<AtomicBool>,
    /// The purse of a budget layer further out.
    outer: Option<BudgetPurse>,
}

/// A turn's money.
pub(super) struct State<R> {
    pub(super) tally: Tally,
    /// `None` where no account is kept, and once it is settled.
    pub(super) reservation: Option<R>,
    /// What the turn lives on, if another one has given it something.
    pub(super) grant: Option<Taken>,
    pub(super) tool_calls: u64,
    pub(super) bytes: u64,
    /// Something was reported that the watcher has not taken over.
    pub(super) reported: bool,
}

/// A grant, and what this turn has used of it.
pub(super) struct Taken {
    pub(super) grant: BudgetGrant,
    used: Amounts,
}

impl Taken {
    pub(super) const fn new(grant: BudgetGrant) -> Self {
        Self {
            grant,
            used: Amounts::ZERO,
        }
    }

    fn charge(&mut self, used: Amounts, undo: bool) -> Result<(), Exceeded> {
        let charged = self.grant.replace(self.used, used, undo);
        if charged.is_ok() || !undo {
            self.used = used;
        }
        charged
    }
}

impl<R: Reservation> Purse<R> {
    pub(super) fn new(
        plan: Arc<Plan>,
        reservation: Option<R>,
        grant: Option<BudgetGrant>,
        outer: Option<BudgetPurse>,
    ) -> Arc<Self> {
        let granted = grant.as_ref();
        let needs_prices = plan.is_limited(Meter::Money)
            || granted.is_some_and(|grant| grant.limits().on(Meter::Money).is_some());
        Arc::new(Self {
            plan,
            state: Mutex::new(State {
                tally: Tally::new(needs_prices),
                reservation,
                grant: grant.map(Taken::new),
                tool_calls: 0,
                bytes: 0,
                reported: false,
            }),
            news: Arc::default(),
            outer,
        })
    }

    pub(super) fn sink(self: &Arc<Self>) -> UsageSink {
        let purse = Arc::clone(self);
        UsageSink::new(move |usage| purse.record(usage))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn record(&self, usage: &Usage) {
        let mut state = self.lock();
        state.tally.record(usage, &self.plan);
        state.reported = true;
        drop(state);
        self.news.store(true, Ordering::Release);
    }

    pub(super) fn take_news(&self) -> bool {
        // A plain load first: this is asked at every event.
        self.news.load(Ordering::Relaxed) && self.news.swap(false, Ordering::Acquire)
    }
}

impl<R: Reservation> State<R> {
    /// What is known to be used.
    pub(super) fn known(&self) -> Amounts {
        self.tally
            .total()
            .and(Meter::ToolCalls, self.tool_calls)
            .and(Meter::Bytes, self.bytes)
    }

    /// Books it everywhere, whatever the limits are, and answers with the first that was
    /// passed.
    pub(super) fn charge(&mut self, used: &Amounts, plan: &Plan) -> Result<(), Exceeded> {
        let reservation = self.reservation.as_mut();
        let of_accounts = reservation.map_or(Ok(()), |reservation| reservation.charge(used));
        let of_grant = self
            .grant
            .as_mut()
            .map_or(Ok(()), |taken| taken.charge(*used, false));
        of_accounts
            .and(of_grant)
            .and_then(|()| within_turn(used, plan))
    }

    /// Books it everywhere, or nowhere.
    pub(super) fn try_charge(&mut self, used: &Amounts, plan: &Plan) -> Result<(), Exceeded> {
        within_turn(used, plan)?;
        let before = self.grant.as_ref().map(|taken| taken.used);
        if let Some(taken) = &mut self.grant {
            taken.charge(*used, true)?;
        }
        let reservation = self.reservation.as_mut();
        let charged = reservation.map_or(Ok(()), |reservation| reservation.try_charge(used));
        if let (Err(_), Some(taken), Some(before)) = (&charged, &mut self.grant, before) {
            // Less cannot be too much.
            let _ = taken.charge(before, false);
        }
        charged
    }

    /// Books the bill, and gives back what is left of the grant.
    pub(super) fn settle_grant(&mut self, bill: &Amounts) {
        if let Some(mut taken) = self.grant.take() {
            // It is over: nobody is left to be cut.
            let _ = taken.charge(*bill, false);
        }
    }
}

fn within_turn(used: &Amounts, plan: &Plan) -> Result<(), Exceeded> {
    let limits = plan.turn.as_ref();
    match limits.and_then(|limits| limits.exceeded_by(used)) {
        Some((meter, limit)) => Err(Exceeded::new("turn", meter, limit)),
        None => Ok(()),
    }
}

impl<R: Reservation> Carve for Purse<R> {
    fn carve(&self, limits: Limits) -> Result<BudgetGrant, Exceeded> {
        // Not under our lock: it has its own.
        let outer = match &self.outer {
            Some(outer) => Some(outer.grant(limits)?),
            None => None,
        };
        let mut state = self.lock();
        let number = state.tally.grants() + 1;
        let grant = Arc::new(GrantState::new(number, limits, Arc::clone(&self.news)));
        state.tally.grant(Arc::clone(&grant));
        let used = state.known();
        if let Err(exceeded) = state.try_charge(&used, &self.plan) {
            state.tally.undo_grant();
            return Err(exceeded);
        }
        drop(state);
        Ok(BudgetGrant::new(grant, outer))
    }
}
