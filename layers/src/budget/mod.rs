//! Limits what turns consume: tokens, money, model calls, tool calls, bytes; for each turn and
//! for all turns of a session, a principal or a tenant together, for ever or per hour.
//!
//! # When
//!
//! Where somebody pays.
//!
//! # Where
//!
//! Below [`concurrency`](crate::concurrency), so that a turn that waits reserves nothing,
//! and above [`retry`](crate::retry), so that every attempt is paid for.
//!
//! # Limits
//!
//! On seven [`Meter`]s: tokens in, out and all, model calls, tool calls, bytes of text, and
//! money. For each turn, and for all turns of a session, a principal, a tenant or whatever a
//! function names, together. For ever, or for each [`Window`] of time: then what was used
//! comes back continuously, and what was used beyond the limit is a debt that is paid first.
//! A turn is checked against all of them.
//!
//! # A turn and its budget
//!
//! 1. **Reserve.** In one step for all accounts. With too little left, the turn is one
//!    `failed{budget_exceeded}` and the agent is not called. A ledger that cannot be reached is
//!    not a spent budget: `failed{unavailable}`, or the turn runs ([`Unreachable`]).
//! 2. **Meter.** Usage records are counted by the id of their call, counter by counter; so is
//!    what an engine reports in the scope's [`UsageSink`](portcullis::UsageSink). Missing is never
//!    zero: text that nobody has measured yet is estimated, after each kilobyte ([`Unmeasured`]).
//!    What a turn uses beyond its reservation it draws from what is left.
//! 3. **Warn.** One `budget` event ([`Budget`](portcullis::views::Budget)) a limit, when 80 per cent are used.
//! 4. **Cut.** The event that was too much is delivered, `failed{budget_exceeded}` comes
//!    next, and the agent is dropped in that very poll: it makes no other call. A tool
//!    that is too much is not even shown: the failure comes in its place. If the *last* event of a turn
//!    tells of too much, the turn stays what it was; the next one is refused.
//!    [`finish_call`](BudgetLayer::finish_call) lets the model call that runs come to its end.
//! 5. **Settle.** Before the terminal event leaves, as far as the ledger stores it; on a drop, a
//!    bare end and a panic right after everything below is gone. What the engine reports
//!    while it is dropped is in it. A turn that is dropped while it waits to be admitted
//!    costs nothing.
//!
//! It acts on what the engine reports: one that reports only at the end is cut by the estimate
//! or not before the end. A limit may be passed by what a turn used before it could report.
//! The ids of usage records are unique within one run; layers that invoke again number them
//! ([`Usage::number`](portcullis::Usage::number)), so nobody's bill is overwritten.
//!
//! # Money
//!
//! In billionths of one currency, which is a part of the account's name: euros and dollars
//! never meet. By default the record of a call says what it cost; [`PriceList`] or a function
//! computes it ([`BudgetLayer::priced`]). No price is a policy ([`Unpriced`]), never zero, and so is a
//! price in another currency. Too much to be counted is too much for every limit. All
//! arithmetic is on whole numbers, rounded up once a call.
//!
//! # Other agents
//!
//! An agent that asks another one gives it a part of its own budget: [`BudgetPurse`] and
//! [`BudgetGrant`], both in the scope's typed map, set by code only.
//!
//! # Cancel safety
//!
//! Dropping a turn settles it: nothing blocks and nothing is lost.
//!
//! # MUST 6
//!
//! Portable with a shared [`Ledger`]: with [`MemoryLedger`] a session has one budget a process, with
//! one over a store it has one wherever its turns are served.
//!
//! # Cost
//!
//! An event that says nothing about usage costs an addition and two comparisons, no lock and
//! no allocation. An account limited by bytes is asked at each event with text.
//!
//! # Examples
//!
//! ```
//! # use portcullis::{AgentExt, Failure, FailureCode, Prompt, Scope, Usage, agent_fn, collect};
//! use portcullis_layers::budget::{BudgetLayer, Limits, Meter};
//! use tower::ServiceBuilder;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! # let engine = agent_fn(async |_scope, _prompt: Prompt, out| {
//! #     out.emit(Usage::new("call-1").with_input(9_000).with_output(2_000)).await;
//! #     unreachable!("cut before the next step");
//! #     #[expect(unreachable_code)] Ok(())
//! # });
//! let limits = Limits::of(Meter::Tokens, 10_000).and(Meter::ToolCalls, 8);
//! let agent = ServiceBuilder::new().layer(BudgetLayer::per_turn(limits)).service(engine);
//! let answer = collect(agent.invoke(Scope::new("s"), Prompt::text("hello"))).await;
//! let spent = "the budget of the turn is spent: 10000 tokens";
//! assert_eq!(answer, Err(Failure::with_code(FailureCode::BUDGET_EXCEEDED, spent).into()));
//! # }
//! ```
//!
//! Ten model calls a session and two a turn, with a warning at half of it:
//!
//! ```
//! # use portcullis::{AgentExt, Prompt, Scope, Usage, agent_fn, collect};
//! # use portcullis_layers::budget::{Account, BudgetLayer, Limits, MemoryLedger, Meter};
//! # use tower::ServiceBuilder;
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! # let engine = agent_fn(async |_scope, _prompt: Prompt, out| {
//! #     out.emit(Usage::new("call-1").with_input(9).with_output(2)).await;
//! #     Ok(())
//! # });
//! let ledger = MemoryLedger::new();
//! let budget = BudgetLayer::per_session(ledger.clone(), Limits::of(Meter::ModelCalls, 10))
//!     .and_per_turn(Limits::of(Meter::ModelCalls, 2))
//!     .warn_at(50);
//! let agent = ServiceBuilder::new().layer(budget).service(engine);
//! # let scope = Scope::new("s");
//! # collect(agent.invoke(scope.clone(), Prompt::text("hello"))).await.expect("completes");
//! assert_eq!(ledger.used(&Account::session(&scope)).of(Meter::ModelCalls), 1);
//! # }
//! ```
//!
//! Five dollars a principal and day, a million tokens a tenant and minute:
//!
//! ```
//! # use portcullis::{AgentExt, Prompt, Scope, Usage, agent_fn, collect};
//! use portcullis_layers::budget::{
//!     BudgetLayer, Currency, Limits, MemoryLedger, Meter, Money, PriceList, Rates, Window,
//! };
//! # use tower::ServiceBuilder;
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let engine = agent_fn(async |_scope, _prompt: Prompt, out| {
//! #     out.emit(Usage::new("call-1").with_model("small").with_input(9).with_output(2)).await;
//! #     Ok(())
//! # });
//! let prices = PriceList::new(Currency::USD).model("small", Rates::per_million("0.25", "2.00")?);
//! let five = Limits::of(Meter::Money, Money::parse("5.00", Currency::USD)?.nanos());
//! let million = Limits::of(Meter::Tokens, 1_000_000);
//! let budget = BudgetLayer::per_principal(MemoryLedger::new(), five.per(Window::DAY))
//!     .and_per_tenant(million.per(Window::MINUTE))
//!     .priced(Currency::USD, prices);
//! let agent = ServiceBuilder::new().layer(budget).service(engine);
//! # collect(agent.invoke(Scope::new("s"), Prompt::text("hello"))).await.expect("completes");
//! # Ok(())
//! # }
//! ```

mod admit;
mod grant;
mod layer;
mod ledger;
mod meter;
mod plan;
mod price;
mod purse;
mod tally;
mod turn;
mod window;

#[cfg(feature = "testing")]
#[cfg_attr(docsrs, doc(cfg(feature = "testing")))]
pub use self::ledger::suite as ledger_suite;
pub use self::{
    admit::Reserving,
    grant::{BudgetGrant, BudgetPurse},
    layer::{Budget, BudgetLayer},
    ledger::{
        Account, Balance, BookRules, Books, Changes, Claim, Denied, Exceeded, Held, LeaseState,
        Ledger, LedgerFull, MemoryLedger, MemoryReservation, MemoryReserve, Reservation,
    },
    meter::{Amounts, Limits, Meter},
    plan::{Unmeasured, Unpriced, Unreachable},
    price::{Currency, Money, MoneyError, PriceList, Pricing, Rates},
    turn::{Metered, UNMEASURED, UNPRICED},
    window::{Allowance, Window},
};
