//! Bounds how many turns run at once, over all or for each key; a turn holds its place
//! until it *ends*.
//!
//! # When
//!
//! In front of whatever cannot do everything at once: a model endpoint, a process, a
//! database. Keyed, so that one caller cannot take all places.
//!
//! # Where
//!
//! Below [`trace`](crate::trace) and rate limits, above [`budget`](crate::budget): a turn
//! that waits reserves no money. It is always ready, and makes the agent ready and calls
//! it only when it has its place.
//!
//! # How it admits
//!
//! First come, first served; of those whose key has a place free, the first. A turn that
//! waits takes no place, of any limit, and one that is dropped leaves the queue. The
//! place is free at the terminal event, at a bare end, at a panic and at a drop, each
//! time after everything below is gone.
//!
//! Without a place a turn waits, by default for ever, or until its scope's deadline.
//! [`max_wait`](ConcurrencyLayer::max_wait), [`max_waiting`](ConcurrencyLayer::max_waiting) and
//! [`shed`](ConcurrencyLayer::shed) bound that: then it is `failed{overloaded, retryable}`, and the agent
//! is not called. A limit of zero refuses everything.
//!
//! Keys are forgotten when nobody holds or waits for them.
//!
//! # Cousins
//!
//! tower's `ConcurrencyLimit` frees the permit when the response future is done: for a
//! stream that is when it begins. Its `LoadShed` looks at readiness, and this layer is
//! always ready: use `shed`.
//!
//! # MUST 6
//!
//! The limit holds for one process. A turn runs the same on any.
//!
//! # Examples
//!
//! ```
//! # use portcullis::{AgentExt, Prompt, Scope, agent_fn, collect};
//! use portcullis_layers::concurrency::ConcurrencyLayer;
//! use tower::ServiceBuilder;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! # let engine = agent_fn(async |_scope, _prompt: Prompt, _out| Ok(()));
//! let agent = ServiceBuilder::new().layer(ConcurrencyLayer::new(64)).service(engine);
//! # assert!(collect(agent.invoke(Scope::new("s"), Prompt::text("hello"))).await.is_ok());
//! # }
//! ```
//!
//! Two turns a session and a hundred in all; ten of each session may wait, for ten
//! seconds:
//!
//! ```
//! # use std::time::Duration;
//! # use portcullis::{AgentExt, Prompt, Scope, agent_fn, collect};
//! # use portcullis_layers::concurrency::ConcurrencyLayer;
//! # use tower::ServiceBuilder;
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! # let engine = agent_fn(async |_scope, _prompt: Prompt, _out| Ok(()));
//! let limit = ConcurrencyLayer::keyed(2, |scope: &Scope| scope.session().to_owned())
//!     .overall(100)
//!     .max_waiting(10)
//!     .max_wait(Duration::from_secs(10));
//! let agent = ServiceBuilder::new().layer(limit.clone()).service(engine);
//! # assert!(collect(agent.invoke(Scope::new("s"), Prompt::text("hello"))).await.is_ok());
//! assert_eq!((limit.running(), limit.waiting(), limit.keys()), (0, 0, 0));
//! # }
//! ```

mod admit;
mod key;
mod layer;
mod turn;

pub use self::{
    admit::Admit,
    key::{Global, Key},
    layer::{Concurrency, ConcurrencyLayer},
    turn::Held,
};
