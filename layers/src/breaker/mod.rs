//! Leaves an agent alone that fails: while a breaker is open, turns are refused at once
//! and the agent is not called.
//!
//! # When
//!
//! In front of what fails as a whole, such as a model endpoint or a remote agent: callers get their answer
//! at once, and what is down is not kept down by those who try.
//!
//! # Where
//!
//! Below [`retry`](crate::retry) and [`fallback`](crate::fallback), so that every run counts and a fallback
//! is asked at once; above [`timeout`](crate::timeout) and [`conform`](crate::conform), whose failures it sees.
//! `retry` honours the `retry_after` of a refusal, so bound its `longest_hint` if nobody shall wait so
//! long.
//!
//! # Ends
//!
//! | end of the turn | counts as |
//! |---|---|
//! | completed | success |
//! | failed | failure; nothing if the code says that the turn is to blame: `aborted`, `budget_exceeded`, `invalid_prompt`, `permission_denied`, `session_busy`, `unauthenticated` ([`classify`](BreakerLayer::classify)) |
//! | bare end, panic | failure |
//! | dropped by the caller | nothing; failure if no visible event had come for half a minute ([`dropped`](BreakerLayer::dropped)) |
//! | refused, or dropped while it is asked | nothing |
//!
//! Callers leave for reasons of their own, so a drop says nothing; but an agent that hangs is ended
//! by nothing else where there is no clock below, so who waited long in vain counts. The usual
//! breaker sees a stream begin and calls that success; this one waits for the end.
//!
//! # States
//!
//! *Closed*: turns go through, and their ends are kept: the last hundred, for a minute. If at
//! least ten are there and half of them failed, it *opens*: for half a minute every turn is
//! `failed{unavailable, retryable}` with `retry_after`, the time that remains. Then it is
//! *half open*: one turn at a time goes through as a probe. A success closes it, a failure opens it
//! again. A probe that is dropped makes place for another one, and so does one that hangs for a
//! minute. [`Settings`] has all these numbers. Turns that began before a change do not count after it.
//!
//! [`state`](BreakerLayer::state) tells how it stands, [`on_change`](BreakerLayer::on_change) that it changes.
//!
//! # Keys
//!
//! [`keyed`](BreakerLayer::keyed) has one breaker for each key. Keys of which nothing is known are forgotten. Beyond
//! [`max_keys`](Settings::max_keys), the one that was used longest ago is, but none that is open or has turns
//! running. Where no room can be made, turns of new keys go through and do not count: a breaker is no
//! gate.
//!
//! # Cost
//!
//! One lock when a turn begins and one when it ends; an event costs a comparison. No task and no
//! timer.
//!
//! # Cousins
//!
//! tower has none. Those that wrap a `Service` judge the response, which for a stream is its
//! beginning.
//!
//! # MUST 6
//!
//! Not portable: each process finds out for itself. A turn runs the same on any.
//!
//! # Examples
//!
//! ```
//! # use portcullis::{AgentExt, Prompt, Scope, agent_fn, collect};
//! use portcullis_layers::breaker::BreakerLayer;
//! use tower::ServiceBuilder;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! # let engine = agent_fn(async |_scope, _prompt: Prompt, _out| Ok(()));
//! let agent = ServiceBuilder::new().layer(BreakerLayer::default()).service(engine);
//! # assert!(collect(agent.invoke(Scope::new("s"), Prompt::text("hello"))).await.is_ok());
//! # }
//! ```
//!
//! One for each tenant, which opens after three failures in a row:
//!
//! ```
//! use std::time::Duration;
//! use portcullis::{AgentExt, Failure, Prompt, Scope, agent_fn, collect};
//! use portcullis_layers::breaker::{BreakerLayer, Settings, State};
//! use tower::ServiceBuilder;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let settings = Settings::new()
//!     .window(3, Duration::from_secs(60))
//!     .at_least(3)
//!     .percent(100)
//!     .open_for(Duration::from_secs(10));
//! let breaker = BreakerLayer::keyed(settings, |scope| scope.tenant().map(str::to_owned))?
//!     .on_change(|tenant, change| println!("{tenant:?}: {change:?}"));
//! let dead = agent_fn(async |_scope, _prompt: Prompt, _out| -> Result<(), Failure> {
//!     Err(Failure::new("no"))
//! });
//! let agent = ServiceBuilder::new().layer(breaker.clone()).service(dead);
//! for _ in 0..3 {
//!     let _ = collect(agent.invoke(Scope::new("s"), Prompt::text("hello"))).await;
//! }
//! assert!(matches!(breaker.state(&None), State::Open { .. }));
//! # Ok(())
//! # }
//! ```

mod admit;
mod circuit;
mod circuits;
mod desk;
mod layer;
mod outcome;
mod settings;
mod state;
mod turn;
mod window;

pub use self::{
    admit::Admit,
    layer::{Breaker, BreakerLayer},
    outcome::{Dropped, Outcome},
    settings::{InvalidBreaker, Settings},
    state::{Change, State},
    turn::Judged,
};
