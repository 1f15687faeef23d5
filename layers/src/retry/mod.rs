//! Tries again after a failure, as long as the caller has seen nothing.
//!
//! # When
//!
//! Around an agent that fails now and then for reasons that pass.
//!
//! # Where
//!
//! Below [`budget`](crate::budget), which pays for every attempt, and the clock of the whole turn;
//! above the clocks of the first event and of silence, and above
//! [`conform`](crate::conform).
//!
//! # The commit point
//!
//! The first visible event ([`AgentEvent::is_visible`](portcullis::AgentEvent::is_visible)): text, thinking, a tool, or an event of
//! unknown type. Up to it the layer withholds the end of a run; with it, the rest of the
//! run is handed over and the layer costs nothing more. So no output is ever there twice, and a
//! failure behind it is passed on as it is.
//!
//! `usage` and `retrying` go through at once: a failed attempt costs as well. The ids of
//! the second run begin with `2/`.
//!
//! # When it tries again
//!
//! - The failure says `retryable` (or [`classify`](RetryLayer::classify) says so), or the run
//!   ended without a terminal event.
//! - Retries are left: of this layer, of the turn, and of the layer's
//!   [`allowance`](RetryLayer::allowance). Nested retries draw on what the outermost one
//!   allows, so that three of three are not nine.
//! - The wait is over before the scope's deadline. It is random up to a bound that grows ([`Backoff`]),
//!   and not shorter than the failure's `retry_after`.
//!
//! Each retry is announced with a `retrying` event that has the true delay. The last failure comes
//! through as it is. One box a turn, one a run.
//!
//! # Cousins
//!
//! tower's `Retry` looks at errors and clones a request; an agent answers `Ok` whatever
//! happens. Inside [`stock`](crate::stock) it works, without back-off for streams,
//! announcement or shared attempts.
//!
//! # MUST 6
//!
//! Portable. The allowance is one for each process.
//!
//! # Examples
//!
//! ```
//! use std::sync::{Arc, atomic::{AtomicU32, Ordering}};
//! use portcullis::{AgentEvent, AgentExt, Failure, Prompt, Scope, agent_fn, collect};
//! use portcullis_layers::retry::RetryLayer;
//! use tower::ServiceBuilder;
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() {
//! let calls = Arc::new(AtomicU32::new(0));
//! let flaky = agent_fn(move |_scope, _prompt: Prompt, out| {
//!     let call = calls.fetch_add(1, Ordering::Relaxed);
//!     async move {
//!         if call < 2 {
//!             return Err(Failure::new("the model is busy").retryable(true));
//!         }
//!         out.emit(AgentEvent::text("at last")).await;
//!         Ok(())
//!     }
//! });
//! let agent = ServiceBuilder::new().layer(RetryLayer::new(3)).service(flaky);
//! let answer = collect(agent.invoke(Scope::new("s"), Prompt::text("hello"))).await;
//! assert_eq!(answer.expect("the third try completes").text, "at last");
//! # }
//! ```
//!
//! With other waits, and a smaller allowance for all turns together:
//!
//! ```
//! use std::time::Duration;
//! use portcullis_layers::retry::{Backoff, RetryLayer};
//!
//! let backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(5))?.factor(3.0)?;
//! let layer = RetryLayer::new(2).backoff(backoff).allowance(5, 10);
//! # let _ = layer;
//! # Ok::<(), portcullis_layers::retry::InvalidBackoff>(())
//! ```

mod allowance;
mod backoff;
mod layer;
mod script;

pub use self::{
    backoff::{Backoff, InvalidBackoff},
    layer::{Retry, RetryLayer},
};
