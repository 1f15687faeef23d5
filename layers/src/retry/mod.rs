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
//! The first visible event: text, thinking, a tool, or an event of unknown type, unless
//! [`visible`](RetryLayer::visible) says otherwise. Up to it the layer withholds the end of a run;
//! with it, the rest of the run is handed over and the layer costs nothing more. So no output is
//! ever there twice, and a failure behind it is passed on as it is.
//!
//! `usage`, `retrying` and `context` go through at once: a failed attempt costs as well. The
//! ids of the second run begin with `2/`.
//!
//! A caller that waits for the whole answer sees nothing before `completed`. For it,
//! [`buffered`](RetryLayer::buffered) moves the commit point to the end of the run, at the price of so
//! much memory a turn. Then a run that is given up has said nothing, events of unknown type included: MUST 5
//! holds for the run that is shown; and the agent goes on while nobody reads.
//!
//! # When it tries again
//!
//! - The failure says `retryable` (or [`classify`](RetryLayer::classify) says so), or the run
//!   ended without a terminal event.
//! - Retries are left: of this layer, of the turn, and of the layer's
//!   [`allowance`](RetryLayer::allowance). Nested retries draw on what the outermost one
//!   allows, so that three of three are not nine.
//! - The wait is over before the scope's deadline, and within
//!   [`max_elapsed`](RetryLayer::max_elapsed). It is random up to a bound that grows ([`Backoff`]), on top
//!   of the failure's `retry_after`.
//!
//! Each retry is announced with a `retrying` event that has the true delay, and the turn's record
//! keeps why ([`TurnRecord::give_up`](portcullis::TurnRecord::give_up)). The last failure comes through as it is. One
//! box a turn, one a run.
//!
//! # Ends
//!
//! | the run | before the commit point | after it |
//! |---|---|---|
//! | completes | passed on | passed on |
//! | fails | perhaps tried again | passed on |
//! | just ends | tried again, at last passed on as it is | passed on as it is |
//! | panics | goes on upwards: put `conform` below | goes on upwards |
//!
//! A dropped turn drops the run, or the wait, at once. The failed run is gone before the wait
//! begins.
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
//! use portcullis::FailureCode;
//! use portcullis_layers::retry::{Backoff, Jitter, RetryLayer};
//!
//! let backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(5))?
//!     .factor(3.0)?
//!     .jitter(Jitter::Equal);
//! let layer = RetryLayer::new(2)
//!     .backoff(backoff)
//!     .allowance(5, 10)
//!     .max_elapsed(Duration::from_secs(20))
//!     .classify(|failure| failure.is_retryable() || failure.is(&FailureCode::INTERNAL));
//! # let _ = layer;
//! # Ok::<(), portcullis_layers::retry::InvalidBackoff>(())
//! ```

mod allowance;
mod backoff;
mod layer;
mod script;

pub use self::{
    backoff::{Backoff, InvalidBackoff, Jitter},
    layer::{Retry, RetryLayer},
};
