//! Ends a turn that takes too long: three clocks, for the first event, for silence, and
//! for the whole turn.
//!
//! # When
//!
//! Always: an agent waits for a network, and a network may fall silent.
//!
//! # Where
//!
//! The clock of the whole turn outside, below [`budget`](crate::budget): it counts all runs of a
//! turn. The clocks of the first event and of silence inside, below
//! [`retry`](crate::retry): they count anew with each run, and what they end may be tried
//! again. So a stack may have the layer twice.
//!
//! # The clocks
//!
//! | clock | runs | ends with |
//! |---|---|---|
//! | first event | from the first time that somebody waits, the call included, to the first *meaningful* event | `no event came within …` |
//! | idle | from each time that somebody waits, to the next meaningful event | `nothing came for …` |
//! | total | from the call to the end; the scope's deadline if that is earlier | `the turn took longer than …` |
//!
//! All end with `failed{timeout, retryable}`, and drop what is below in that very poll.
//!
//! - Event first, then clock: an event that is there is delivered, however late
//!   somebody looks. An agent that nobody polls is not silent.
//! - [`is_meaningful`] says which events count; heartbeats do not.
//! - The clock of the whole turn becomes the scope's deadline, so that layers below know.
//! - An agent that never waits is looked at every 64 events.
//! - Needs tokio's timer. One allocation a turn, at the first wait.
//!
//! # Cousins
//!
//! tower's `Timeout` bounds the time until the stream is handed over, which is at once;
//! inside [`stock`](crate::stock) it bounds the first visible event.
//!
//! # MUST 6
//!
//! Portable: nothing is kept between turns.
//!
//! # Examples
//!
//! ```
//! use std::time::Duration;
//! use portcullis::{AgentExt, Failure, FailureCode, Prompt, Scope, agent_fn, collect};
//! use portcullis_layers::timeout::TimeoutLayer;
//! use tower::ServiceBuilder;
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() {
//! let hangs = agent_fn(async |_scope, _prompt: Prompt, _out| {
//!     std::future::pending::<Result<(), Failure>>().await
//! });
//! let agent = ServiceBuilder::new()
//!     .layer(TimeoutLayer::idle(Duration::from_secs(30)))
//!     .service(hangs);
//! let answer = collect(agent.invoke(Scope::new("s"), Prompt::text("hello"))).await;
//! let failure = Failure::with_code(FailureCode::TIMEOUT, "no event came within 30s");
//! assert_eq!(answer, Err(failure.retryable(true).into()));
//! # }
//! ```
//!
//! Several clocks, as a configuration file would have them. Without any, the layer
//! cannot be built:
//!
//! ```
//! # use std::time::Duration;
//! use portcullis_layers::timeout::{Clocks, TimeoutLayer};
//!
//! let first: Option<Duration> = Some(Duration::from_secs(20));
//! let layer = TimeoutLayer::new(Clocks::new().first_event(first).idle(Duration::from_secs(60)));
//! assert!(layer.is_ok());
//! assert!(TimeoutLayer::new(Clocks::new()).is_err());
//! ```

mod clocks;
mod layer;
mod turn;

pub use self::{
    clocks::{Clocks, NoClock},
    layer::{Timeout, TimeoutLayer, is_meaningful},
    turn::TimeoutTurn,
};
