use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use portcullis::{AgentEvent, End, Failure, FailureCode, Flow, Outbox, Scope, Turn, views::Budget};
use tokio::time::{Instant, Sleep, sleep};

use super::{
    Amounts, BudgetGrant, BudgetPurse, Claim, Exceeded, Limits, Meter, Reservation,
    plan::{Plan, Unmeasured},
    purse::{Purse, State},
};

/// The code of a turn that failed since nobody said what it used; see [`Unmeasured::Fail`].
pub const UNMEASURED: FailureCode = FailureCode::from_static("unmeasured");

/// The code of a turn that was cut since nobody knows what a call cost; see
/// [`Unpriced`](super::Unpriced).
pub const UNPRICED: FailureCode = FailureCode::from_static("unpriced");

/// A turn whose consumption is counted.
pub struct Metered<R: Reservation> {
    purse: Arc<Purse<R>>,
    /// The accounts, for warnings.
    claims: Vec<Watched>,
    /// Bytes of text and thinking, and those since somebody last said what was used.
    bytes: u64,
    unmeasured: u64,
    /// When the bytes that nobody measured are worth a look.
    look_at: u64,
    /// Events since the lease was last renewed.
    events: u32,
    renewal: Option<Renewal>,
    /// Which warnings were given: a bit for each meter, of the turn and of the grant.
    warned: [u8; 2],
    /// A limit was passed in the middle of a call, which comes to its end; and how many calls
    /// there were.
    passed: Option<(Exceeded, u64)>,
    /// What the turn came to, once it is at its end.
    bill: Option<Amounts>,
}

/// An account that a turn draws on.
struct Watched {
    kind: String,
    limits: Limits,
    /// A bit for each meter that was warned of.
    warned: u8,
}

struct Renewal {
    every: Duration,
    /// Made when somebody first waits.
    timer: Option<Pin<Box<Sleep>>>,
    last: Instant,
}

impl<R: Reservation> Metered<R> {
    pub(super) fn new(
        plan: Arc<Plan>,
        reservation: Option<R>,
        claims: &[Claim],
        scope: &mut Scope,
    ) -> Self {
        let extensions = scope.extensions();
        let grant = extensions.get::<BudgetGrant>().cloned();
        // What a grant is carved from has set it aside already.
        let outer = match grant {
            Some(_) => None,
            None => extensions.get::<BudgetPurse>().cloned(),
        };
        if grant.is_some() {
            // Taken up: a layer further in would take it a second time.
            scope.extensions_mut().remove::<BudgetGrant>();
        }
        let every = reservation.as_ref().and_then(Reservation::renew_every);
        let purse = Purse::new(plan, reservation, grant, outer);
        scope.add_usage_sink(purse.sink());
        let carve = BudgetPurse::new(Arc::clone(&purse) as _);
        scope.extensions_mut().insert(carve);
        let claims = claims.iter().map(|claim| Watched {
            kind: claim.account.kind().to_owned(),
            limits: claim.limits,
            warned: 0,
        });
        let mut turn = Self {
            purse,
            claims: claims.collect(),
            bytes: 0,
            unmeasured: 0,
            look_at: 0,
            events: 0,
            renewal: every.map(|every| Renewal {
                every,
                timer: None,
                last: Instant::now(),
            }),
            warned: [0; 2],
            passed: None,
            bill: None,
        };
        turn.look_again();
        turn
    }

    fn plan(&self) -> Arc<Plan> {
        Arc::clone(&self.purse.plan)
    }

    /// Says at how many unmeasured bytes to look next.
    fn look_again(&mut self) {
        let plan = &self.purse.plan;
        let state = self.purse.lock();
        let granted = state.grant.as_ref().map(|taken| *taken.grant.limits());
        drop(state);
        let is_limited = |meter| {
            plan.is_limited(meter) || granted.is_some_and(|limits| limits.on(meter).is_some())
        };
        let estimated = [Meter::OutputTokens, Meter::Tokens, Meter::Money];
        let mut step = u64::MAX;
        if plan.unmeasured.estimates() && estimated.into_iter().any(is_limited) {
            step = LOOK_EVERY;
        }
        if let Some(limit) = plan.turn.and_then(|limits| limits.on(Meter::Bytes)) {
            step = step.min(limit.saturating_sub(self.bytes).saturating_add(1));
        }
        let of_grant = granted.and_then(|limits| limits.on(Meter::Bytes)).is_some();
        if plan.accounts_for_bytes() || of_grant {
            // Only the account knows how many are left.
            step = 1;
        }
        self.look_at = self.unmeasured.saturating_add(step);
    }

    /// Tokens that nobody measured, where the policy is to estimate them.
    fn estimate(&self, plan: &Plan, state: &State<R>) -> Amounts {
        if !plan.unmeasured.estimates() || self.unmeasured == 0 {
            return Amounts::ZERO;
        }
        let tokens = self.unmeasured.div_ceil(BYTES_PER_TOKEN);
        let price = state.tally.price_estimate(tokens, plan);
        Amounts::ZERO
            .with(Meter::OutputTokens, tokens)
            .with(Meter::Tokens, tokens)
            .with(Meter::ModelCalls, u64::from(state.tally.calls() == 0))
            .with(Meter::Money, price)
    }

    /// Brings what is counted event by event together with what was reported.
    fn take_over(&mut self, state: &mut State<R>) {
        state.bytes = self.bytes;
        if std::mem::take(&mut state.reported) {
            // A report is of all that was said before it.
            self.unmeasured = 0;
        }
    }

    /// Counts anew what was reported, and cuts or warns.
    fn meter(&mut self, out: &mut Outbox) {
        let plan = self.plan();
        let purse = Arc::clone(&self.purse);
        let mut state = purse.lock();
        self.take_over(&mut state);
        let used = state.known().plus(self.estimate(&plan, &state));
        let charged = state.charge(&used, &plan);
        let within = charged.and_then(|()| self.something_left(&plan, &state, &used));
        let calls = state.tally.calls();
        let in_call = self.unmeasured > 0 || !state.tally.are_final();
        if state.tally.is_unpriced() {
            out.fail(unpriced());
            return;
        }
        match within {
            Ok(()) => {
                self.passed = None;
                self.warn(&plan, &state, &used, out);
            }
            // The call that passed it comes to its end; the next one does not begin.
            Err(exceeded)
                if plan.finish_call
                    && in_call
                    && self.passed.as_ref().is_none_or(|(_, then)| calls <= *then) =>
            {
                let calls = match &self.passed {
                    Some((_, then)) => *then,
                    // Of the one that runs nothing was said yet.
                    None if state.tally.are_final() => calls + 1,
                    None => calls,
                };
                self.passed = Some((exceeded, calls));
            }
            // What was produced is delivered, the failure comes next.
            Err(exceeded) => out.fail(exceeded.into()),
        }
        drop(state);
        self.look_again();
    }

    /// Refuses a turn that has used up a limit, where the layer was told to.
    fn something_left(
        &self,
        plan: &Plan,
        state: &State<R>,
        used: &Amounts,
    ) -> Result<(), Exceeded> {
        if !plan.cut_when_spent {
            return Ok(());
        }
        for (kind, limits, used) in self.accounts(plan, state, used) {
            if let Some((meter, limit)) = limits.used_up_by(&used) {
                return Err(Exceeded::new(kind.to_owned(), meter, limit));
            }
        }
        Ok(())
    }

    /// What there are limits on, and what is used of it: the turn, the grant, the accounts.
    fn accounts<'a>(
        &'a self,
        plan: &'a Plan,
        state: &'a State<R>,
        used: &'a Amounts,
    ) -> impl Iterator<Item = (&'a str, Limits, Amounts)> {
        let turn = plan.turn.map(|limits| ("turn", limits, *used));
        let grant = state.grant.as_ref();
        let grant = grant.map(|taken| ("grant", *taken.grant.limits(), taken.grant.used()));
        let reservation = state.reservation.as_ref();
        let accounts = reservation.into_iter().flat_map(|reservation| {
            let claims = self.claims.iter().enumerate();
            claims.map(|(place, claim)| (&*claim.kind, claim.limits, reservation.used(place)))
        });
        turn.into_iter().chain(grant).chain(accounts)
    }

    /// Admits a tool, or puts the failure in its place: its start is not shown to be cut
    /// right after.
    fn tool(&mut self, out: &mut Outbox) -> Flow {
        if let Some((exceeded, _)) = self.passed.take() {
            out.fail(exceeded.into());
            return Flow::Skip;
        }
        let plan = self.plan();
        let purse = Arc::clone(&self.purse);
        // What was reported past the stream counts here as well.
        purse.take_news();
        let mut state = purse.lock();
        self.take_over(&mut state);
        if state.tally.is_unpriced() {
            out.fail(unpriced());
            return Flow::Skip;
        }
        let used = state.known().and(Meter::ToolCalls, 1);
        let used = used.plus(self.estimate(&plan, &state));
        match state.try_charge(&used, &plan) {
            Ok(()) => {
                state.tool_calls += 1;
                self.warn(&plan, &state, &used, out);
                Flow::Forward
            }
            Err(exceeded) => {
                out.fail(exceeded.into());
                Flow::Skip
            }
        }
    }

    fn warn(&mut self, plan: &Plan, state: &State<R>, used: &Amounts, out: &mut Outbox) {
        if plan.warn_at.is_none() {
            return;
        }
        let mut notices = Vec::new();
        let own = [plan.turn.is_some(), state.grant.is_some()];
        let own = own.into_iter().enumerate().filter(|(_, there)| *there);
        let accounts = (0..self.claims.len()).map(Place::Account);
        let places = own.map(|(place, _)| Place::Own(place)).chain(accounts);
        for (place, (kind, limits, used)) in places.zip(self.accounts(plan, state, used)) {
            let warned = match place {
                Place::Own(place) => self.warned[place],
                Place::Account(place) => self.claims[place].warned,
            };
            for (meter, limit) in limits.iter() {
                let (used, bit) = (used.of(meter), 1 << meter as u8);
                if warned & bit == 0 && used > 0 && plan.is_near(used, limit) {
                    let mut notice = Budget::new(meter.as_str(), used, limit);
                    notice.scope = Some(kind.to_owned());
                    notices.push((place, bit, notice));
                }
            }
        }
        for (place, bit, notice) in notices {
            match place {
                Place::Own(place) => self.warned[place] |= bit,
                Place::Account(place) => self.claims[place].warned |= bit,
            }
            out.after(notice);
        }
    }

    /// Tells the ledger that the turn lives. A stream that is never quiet does so as well.
    fn renew(&mut self) {
        let Some(renewal) = &mut self.renewal else {
            return;
        };
        if renewal.last.elapsed() >= renewal.every {
            renewal.last = Instant::now();
            if let Some(reservation) = &mut self.purse.lock().reservation {
                reservation.renew();
            }
        }
    }

    /// What the turn has used, with what nobody measured.
    fn bill(&mut self, end: &End<'_>) -> Amounts {
        // Everything below is gone: what an engine reports in its `Drop` has come, and is
        // of all that it has said.
        let plan = self.plan();
        let purse = Arc::clone(&self.purse);
        let mut state = purse.lock();
        self.take_over(&mut state);
        let known = state.known();
        let said_nothing = state.tally.calls() == 0;
        let complete = match end {
            // An agent that ended as it should has said what it wished to say.
            End::Completed => !said_nothing || self.unmeasured == 0,
            _ => self.unmeasured == 0 && state.tally.are_final(),
        };
        if complete {
            return known;
        }
        match plan.unmeasured {
            Unmeasured::Nothing => known,
            Unmeasured::Reserved => known.max(plan.slice.with(Meter::ToolCalls, 0)),
            Unmeasured::Estimate | Unmeasured::Fail => known.plus(self.estimate(&plan, &state)),
        }
    }

    /// The bill of a turn that has just come to its end; it stays what it was.
    fn final_bill(&mut self, end: &End<'_>) -> Amounts {
        match self.bill {
            Some(bill) => bill,
            None => {
                let bill = self.bill(end);
                *self.bill.insert(bill)
            }
        }
    }
}

/// A rule of thumb for English and for most tokenizers.
const BYTES_PER_TOKEN: u64 = 4;

/// After how many bytes that nobody measured their estimate is charged.
const LOOK_EVERY: u64 = 1024;

/// After how many events the clock is asked whether the lease is due.
const RENEW_EVENTS: u32 = 64;

/// Where it is noted that a warning was given.
#[derive(Clone, Copy)]
enum Place {
    Own(usize),
    Account(usize),
}

pub(super) fn unpriced() -> Failure {
    Failure::with_code(UNPRICED, "nobody knows what a call costs")
}

impl<R: Reservation> Turn for Metered<R> {
    fn on_event(&mut self, event: &mut AgentEvent, out: &mut Outbox) -> Flow {
        let bytes = match event {
            AgentEvent::Text(piece) => piece.delta().len() as u64,
            AgentEvent::Thinking(piece) => piece.delta().len() as u64,
            _ => 0,
        };
        self.bytes += bytes;
        self.unmeasured += bytes;
        self.events += 1;
        if self.events >= RENEW_EVENTS {
            self.events = 0;
            self.renew();
        }
        match event {
            AgentEvent::Usage(usage) => self.purse.record(usage),
            AgentEvent::ToolStarted(_) => return self.tool(out),
            AgentEvent::Completed(_) if self.purse.plan.unmeasured == Unmeasured::Fail => {
                let state = self.purse.lock();
                let nothing = state.tally.calls() == 0;
                if nothing && (self.bytes > 0 || state.tool_calls > 0) {
                    let details = "the agent does not say what it used";
                    out.fail(Failure::with_code(UNMEASURED, details));
                    return Flow::Skip;
                }
            }
            _ => {}
        }
        // Also what an engine reported past the stream.
        if self.purse.take_news() || self.unmeasured >= self.look_at {
            self.meter(out);
        }
        Flow::Forward
    }

    fn poll_quiet(&mut self, cx: &mut Context<'_>, out: &mut Outbox) {
        if self.purse.take_news() {
            self.meter(out);
        }
        let Some(renewal) = &mut self.renewal else {
            return;
        };
        let every = renewal.every;
        let timer = renewal.timer.get_or_insert_with(|| Box::pin(sleep(every)));
        while timer.as_mut().poll(cx).is_ready() {
            timer.as_mut().reset(Instant::now() + every);
            renewal.last = Instant::now();
            if let Some(reservation) = &mut self.purse.lock().reservation {
                reservation.renew();
            }
        }
    }

    fn poll_close(&mut self, cx: &mut Context<'_>, last: &mut AgentEvent) -> Poll<()> {
        let bill = match last {
            AgentEvent::Failed(failure) => self.final_bill(&End::Failed(failure)),
            _ => self.final_bill(&End::Completed),
        };
        match &mut self.purse.lock().reservation {
            Some(reservation) => reservation.poll_settle(&bill, cx),
            None => Poll::Ready(()),
        }
    }

    fn on_end(mut self, end: End<'_>) {
        let bill = self.final_bill(&end);
        let mut state = self.purse.lock();
        if let Some(reservation) = state.reservation.take() {
            reservation.settle(&bill);
        }
        state.settle_grant(&bill);
    }
}

impl<R: Reservation> fmt::Debug for Metered<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metered")
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}
