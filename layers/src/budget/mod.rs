//! Limits what turns consume: tokens, model calls and tool calls, for each turn and for all
//! turns of a session together.
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
//! # A turn and its budget
//!
//! 1. **Reserve.** In one step for all limits. With too little left, the turn is one
//!    `failed{budget_exceeded}` and the agent is not called.
//! 2. **Meter.** Usage records are counted by the id of their call, counter by counter; so is
//!    what an engine reports in the scope's [`UsageSink`](portcullis::UsageSink). Missing is never
//!    zero. What a turn uses beyond its reservation it draws from what is left.
//! 3. **Warn.** One `budget` event ([`Budget`](portcullis::views::Budget)) a limit, when 80 per cent are used.
//! 4. **Cut.** The event that was too much is delivered, `failed{budget_exceeded}` comes
//!    next, and the agent is dropped in that very poll: it makes no other call. A tool
//!    that is too much is not even shown: the failure comes in its place. If the *last* event of a turn
//!    tells of too much, the turn stays what it was; the next one is refused.
//! 5. **Settle.** On every end: completed, failed, cancelled, truncated, panicked. What the
//!    engine reports while it is dropped is in it. Output that nobody measured costs
//!    an estimate ([`Unmeasured`]).
//!
//! It acts on what the engine reports: one that reports only at the end is cut only then.
//! A limit may be passed by what a turn used before it could report.
//!
//! # MUST 6
//!
//! Portable as far as the [`Ledger`] is: with [`MemoryLedger`] a session has one budget a process.
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

mod admit;
mod layer;
mod ledger;
mod meter;
mod plan;
mod reports;
mod turn;

#[cfg(feature = "testing")]
#[cfg_attr(docsrs, doc(cfg(feature = "testing")))]
pub use self::ledger::assert_ledger;
pub use self::{
    admit::Reserving,
    layer::{Budget, BudgetLayer},
    ledger::{
        Account, Claim, Denied, Exceeded, Ledger, MemoryLedger, MemoryReservation, Reservation,
    },
    meter::{Amounts, Limits, Meter},
    plan::{Unmeasured, Unreachable},
    turn::Metered,
};
