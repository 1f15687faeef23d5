//! Asks another agent when one fails, as long as the caller has seen nothing.
//!
//! # When
//!
//! There is a second choice: another model, another region, a canned answer. An agent keeps its
//! sessions itself, so the second one knows nothing of what was said to the first, unless they
//! share a store.
//!
//! # Where
//!
//! Below [`budget`](crate::budget), which pays for every attempt. Around [`retry`](crate::retry) and
//! [`breaker`](crate::breaker), which belong to one agent each: put them around the first one and around
//! those to fall back to. A breaker that is open makes this ask the next agent at once.
//!
//! # The commit point
//!
//! As of [`retry`](crate::retry): the first visible event. Up to it the end of a run is withheld; with it
//! the rest of the run is handed over, and a failure behind it is passed on as it is.
//! [`buffered`](FallbackLayer::buffered) moves it to the end of the run.
//!
//! `usage` goes through at once, for a failed attempt costs as well. The ids of the second
//! agent's begin with `2/`.
//!
//! # When it asks another agent
//!
//! After a failure, unless its code says that the turn is to blame: `aborted`, `budget_exceeded`,
//! `invalid_prompt`, `permission_denied`, `session_busy`, `unauthenticated`; and after a stream that just ended.
//! [`classify`](FallbackLayer::classify) says it otherwise. Not behind the scope's deadline.
//!
//! # Where the reason goes
//!
//! - A `retrying` event without delay announces the next agent; its member `fallback` has the
//!   name. It is advisory, so that a `retry` above may still begin again.
//! - The turn's record keeps the failures: [`TurnRecord::give_up`](portcullis::TurnRecord::give_up).
//! - When the last agent fails too, the failure names that reason and the first one's. Texts
//!   of code `internal` are not told. If the two codes differ, the code is `unavailable`; it is
//!   retryable if one of the two was.
//!
//! # Ends
//!
//! | the run | before the commit point | after it |
//! |---|---|---|
//! | completes | passed on | passed on |
//! | fails | perhaps another agent | passed on |
//! | just ends | another agent, at last passed on as it is | passed on as it is |
//! | panics | goes on upwards: put `conform` below | goes on upwards |
//!
//! A dropped turn drops the run at once. A failed run is gone before the next one begins. One box
//! a turn, one a run; an event costs one comparison once the rest is handed over.
//!
//! # Cousins
//!
//! tower's `Steer` picks a service by the request, before anything has failed.
//!
//! # MUST 6
//!
//! Portable: it keeps nothing between turns.
//!
//! # Examples
//!
//! ```
//! use portcullis::{AgentEvent, AgentExt, Failure, Prompt, Scope, agent_fn, collect};
//! use portcullis_layers::fallback::FallbackLayer;
//! use tower::ServiceBuilder;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let large = agent_fn(async |_scope, _prompt: Prompt, _out| -> Result<(), Failure> {
//!     Err(Failure::new("out of capacity"))
//! });
//! let small = agent_fn(async |_scope, _prompt: Prompt, out| {
//!     out.emit(AgentEvent::text("from the small one")).await;
//!     Ok(())
//! });
//! let agent = ServiceBuilder::new().layer(FallbackLayer::new("small", small)).service(large);
//! let answer = collect(agent.invoke(Scope::new("s"), Prompt::text("hello"))).await;
//! assert_eq!(answer.expect("completed").text, "from the small one");
//! # }
//! ```
//!
//! A chain of agents of different types, after time-outs and refusals only:
//!
//! ```
//! # use portcullis::{BoxAgent, Failure, FailureCode, Prompt, agent_fn};
//! use portcullis_layers::fallback::FallbackLayer;
//!
//! # let elsewhere = agent_fn(async |_scope, _prompt: Prompt, _out| Ok(()));
//! # let sorry = agent_fn(async |_scope, _prompt: Prompt, _out| Ok(()));
//! let codes = [FailureCode::TIMEOUT, FailureCode::OVERLOADED, FailureCode::UNAVAILABLE];
//! let layer = FallbackLayer::new("elsewhere", BoxAgent::new(elsewhere))
//!     .then("sorry", BoxAgent::new(sorry))
//!     .classify(move |failure| failure.code().is_some_and(|code| codes.contains(code)));
//! # let _ = layer;
//! ```

mod causes;
mod layer;
mod script;
mod target;

pub use self::{
    layer::{Fallback, FallbackLayer},
    target::{TargetStream, Targets},
};
