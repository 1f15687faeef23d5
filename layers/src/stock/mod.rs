//! A stack of tower's own layers around an agent, in one piece: errors never leave it.
//!
//! # When
//!
//! To use tower's `Retry`, `Timeout`, `LoadShed` or `Buffer`, or anybody's layer that
//! acts on errors.
//!
//! `Stock(layers)` is `Catch(layers(Raise(agent)))`: [`raise`](crate::raise) gives the
//! layers the only failures that they may act upon, those before the caller has seen
//! anything, and [`catch`](crate::catch) makes events of their errors again. So it takes
//! an agent and is an agent.
//!
//! # Where
//!
//! Anywhere, as one layer among ours.
//!
//! # How tower's layers behave in it
//!
//! | layer | in here |
//! |---|---|
//! | `Timeout` | bounds the time to the first visible event |
//! | `Retry` | tries again only while nothing was shown; the ids of its usage get a prefix a run |
//! | `LoadShed` | `failed{overloaded}` at once, if what is below is not ready. Our waiting layers are always ready: use their shedding form |
//! | `Buffer` | makes any service `Clone`; dropping the turn still stops the agent |
//! | `ConcurrencyLimit` | **do not use**: the permit is back at the first event, while the turn runs on; use [`concurrency`](crate::concurrency) |
//! | `Balance` | not in here: it chooses among many agents, and counts a turn until its stream begins. Use `balance`, which counts to the end |
//!
//! # MUST 6
//!
//! Portable, if the layers are.
//!
//! # Examples
//!
//! ```
//! use std::time::Duration;
//! use portcullis::{AgentExt, Failure, FailureCode, Prompt, Scope, agent_fn, collect};
//! use portcullis_layers::stock::StockLayer;
//! use tower::{ServiceBuilder, timeout::TimeoutLayer};
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() {
//! let sleeps = agent_fn(async |_scope, _prompt: Prompt, _out| {
//!     std::future::pending::<Result<(), Failure>>().await
//! });
//! let agent = ServiceBuilder::new()
//!     .layer(StockLayer::new(TimeoutLayer::new(Duration::from_secs(5))))
//!     .service(sleeps);
//! let answer = collect(agent.invoke(Scope::new("s"), Prompt::text("hello"))).await;
//! let timeout = Failure::with_code(FailureCode::TIMEOUT, "it took too long");
//! assert_eq!(answer, Err(timeout.retryable(true).into()));
//! # }
//! ```
//!
//! Several layers at once, and another way to raise:
//!
//! ```
//! # use std::time::Duration;
//! # use portcullis::{AgentExt, Prompt, agent_fn};
//! use portcullis_layers::{raise::RaiseLayer, stock::StockLayer};
//! use tower::{ServiceBuilder, load_shed::LoadShedLayer, timeout::TimeoutLayer};
//!
//! # let engine = agent_fn(async |_scope, _prompt: Prompt, _out| Ok(()));
//! let layers = ServiceBuilder::new()
//!     .layer(LoadShedLayer::new())
//!     .layer(TimeoutLayer::new(Duration::from_secs(5)))
//!     .into_inner();
//! let agent = ServiceBuilder::new()
//!     .layer(StockLayer::new(layers).raise(RaiseLayer::new().hold_back(4)))
//!     .service(engine)
//!     .boxed();
//! # let _ = agent;
//! ```

mod layer;
mod service;

pub use self::{layer::StockLayer, service::Stock};
