use std::{
    fmt,
    sync::Arc,
    task::{Context, Poll},
};

use portcullis::{AgentEvent, End, Flow, Outbox, Scope, Turn, views::Budget};

use super::{
    Amounts, Exceeded, Meter, Reservation,
    plan::{Plan, Unmeasured},
    reports::Reports,
};

/// A turn whose consumption is counted.
pub struct Metered<R: Reservation> {
    plan: Arc<Plan>,
    /// `None` where no account is kept.
    reservation: Option<R>,
    reports: Arc<Reports>,
    used: Amounts,
    tool_calls: u64,
    /// Bytes of text and thinking since somebody last said what was used.
    unmeasured: u64,
    /// Which warnings were given: a bit for each meter, of the turn and of the session.
    warned: [u8; 2],
}

impl<R: Reservation> Metered<R> {
    pub(super) fn new(plan: Arc<Plan>, reservation: Option<R>, scope: &mut Scope) -> Self {
        let reports = Arc::<Reports>::default();
        scope.add_usage_sink(Reports::sink(&reports));
        Self {
            plan,
            reservation,
            reports,
            used: Amounts::ZERO,
            tool_calls: 0,
            unmeasured: 0,
            warned: [0; 2],
        }
    }

    /// Counts anew what was reported, and cuts or warns.
    fn meter(&mut self, out: &mut Outbox) {
        self.unmeasured = 0;
        self.used = self
            .reports
            .amounts()
            .with(Meter::ToolCalls, self.tool_calls);
        let charged = match &mut self.reservation {
            Some(reservation) => reservation.charge(&self.used),
            None => Ok(()),
        };
        let within = charged.and_then(|()| self.within_turn(&self.used));
        match within.and_then(|()| self.something_left()) {
            Ok(()) => self.warn(out),
            // What was produced is delivered, the failure comes next.
            Err(exceeded) => out.fail(exceeded.into()),
        }
    }

    fn within_turn(&self, used: &Amounts) -> Result<(), Exceeded> {
        let limits = self.plan.turn.as_ref();
        match limits.and_then(|limits| limits.exceeded_by(used)) {
            Some((meter, limit)) => Err(Exceeded::new("turn", meter, limit)),
            None => Ok(()),
        }
    }

    /// Refuses a turn that has used up a limit, where the layer was told to.
    fn something_left(&self) -> Result<(), Exceeded> {
        if !self.plan.cut_when_spent {
            return Ok(());
        }
        let session = self
            .reservation
            .as_ref()
            .map(|reservation| reservation.used(0));
        let accounts = [
            ("turn", self.plan.turn, Some(self.used)),
            ("session", self.plan.session, session),
        ];
        for (account, limits, used) in accounts {
            let spent = limits
                .zip(used)
                .and_then(|(limits, used)| limits.used_up_by(&used));
            if let Some((meter, limit)) = spent {
                return Err(Exceeded::new(account, meter, limit));
            }
        }
        Ok(())
    }

    /// Admits a tool, or puts the failure in its place: its start is not shown to be cut
    /// right after.
    fn tool(&mut self, out: &mut Outbox) -> Flow {
        // What was reported past the stream counts here as well.
        self.reports.take_news();
        let used = self.reports.amounts();
        let used = used.with(Meter::ToolCalls, self.tool_calls + 1);
        let admitted = self.within_turn(&used).and_then(|()| {
            let reservation = self.reservation.as_mut();
            reservation.map_or(Ok(()), |reservation| reservation.try_charge(&used))
        });
        match admitted {
            Ok(()) => {
                self.used = used;
                self.tool_calls += 1;
                self.warn(out);
                Flow::Forward
            }
            Err(exceeded) => {
                out.fail(exceeded.into());
                Flow::Skip
            }
        }
    }

    fn warn(&mut self, out: &mut Outbox) {
        if self.plan.warn_at.is_none() {
            return;
        }
        let Self {
            plan,
            reservation,
            warned,
            used,
            ..
        } = self;
        let [of_turn, of_session] = warned;
        let session = reservation.as_ref().map(|reservation| reservation.used(0));
        let accounts = [
            ("turn", plan.turn, Some(*used), of_turn),
            ("session", plan.session, session, of_session),
        ];
        for (kind, limits, used, warned) in accounts {
            let (Some(limits), Some(used)) = (limits, used) else {
                continue;
            };
            for (meter, limit) in limits.iter() {
                let (used, bit) = (used.of(meter), 1 << meter as u8);
                if *warned & bit == 0 && used > 0 && plan.is_near(used, limit) {
                    *warned |= bit;
                    let mut notice = Budget::new(meter.as_str(), used, limit);
                    notice.scope = Some(kind.to_owned());
                    out.after(notice);
                }
            }
        }
    }

    /// What the turn has used, with what nobody measured.
    fn bill(&self, end: &End<'_>) -> Amounts {
        let known = self
            .reports
            .amounts()
            .with(Meter::ToolCalls, self.tool_calls);
        let said_nothing = known.of(Meter::ModelCalls) == 0;
        let complete = match end {
            // An agent that ended as it should has said what it wished to say.
            End::Completed => !said_nothing || self.unmeasured == 0,
            _ => self.unmeasured == 0 && self.reports.are_final(),
        };
        if complete {
            return known;
        }
        match self.plan.unmeasured {
            Unmeasured::Nothing => known,
            Unmeasured::Reserved => known.max(self.plan.slice.with(Meter::ToolCalls, 0)),
            Unmeasured::Estimate => {
                let tokens = self.unmeasured.div_ceil(BYTES_PER_TOKEN);
                known.plus(
                    Amounts::ZERO
                        .with(Meter::OutputTokens, tokens)
                        .with(Meter::Tokens, tokens)
                        .with(Meter::ModelCalls, u64::from(said_nothing && tokens > 0)),
                )
            }
        }
    }
}

/// A rule of thumb for English and for most tokenizers.
const BYTES_PER_TOKEN: u64 = 4;

impl<R: Reservation> Turn for Metered<R> {
    fn on_event(&mut self, event: &mut AgentEvent, out: &mut Outbox) -> Flow {
        match event {
            AgentEvent::Text(piece) => self.unmeasured += piece.delta().len() as u64,
            AgentEvent::Thinking(piece) => self.unmeasured += piece.delta().len() as u64,
            AgentEvent::Usage(usage) => self.reports.record(usage),
            AgentEvent::ToolStarted(_) => return self.tool(out),
            _ => {}
        }
        // Also what an engine reported past the stream.
        if self.reports.take_news() {
            self.meter(out);
        }
        Flow::Forward
    }

    fn poll_close(&mut self, cx: &mut Context<'_>, _last: &mut AgentEvent) -> Poll<()> {
        match &mut self.reservation {
            Some(reservation) => reservation.poll_flush(cx),
            None => Poll::Ready(()),
        }
    }

    fn on_end(mut self, end: End<'_>) {
        // Everything below is gone: what an engine reports in its `Drop` has come, and is
        // of all that it has said.
        if self.reports.take_news() {
            self.unmeasured = 0;
        }
        if let Some(reservation) = self.reservation.take() {
            reservation.settle(&self.bill(&end));
        }
    }
}

impl<R: Reservation> fmt::Debug for Metered<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metered")
            .field("used", &self.used)
            .finish_non_exhaustive()
    }
}
