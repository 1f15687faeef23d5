//! Turns a failure that comes before anything was shown into an error of the response
//! future.
//!
//! # When
//!
//! Below layers of tower's that look at errors, such as `Retry` and `Timeout`: an agent
//! answers `Ok` with a stream whatever happens, and they would never act. Rather use
//! [`StockLayer`](crate::stock::StockLayer), which puts [`catch`](crate::catch) above
//! them as well.
//!
//! # Where
//!
//! Innermost in a section of tower's layers, right above the agent or above a stack of
//! ours. Not in a stack of our own layers: they look at `failed` events.
//!
//! # What it does
//!
//! The response future waits for the first event that a caller would see.
//!
//! - `failed`: the future is `Err(Failure)`, and the stream is gone already.
//! - `retrying` and `usage` are advisory: they are held back, a bounded number of them, and come first
//!   when the stream is handed over. Usage goes to the scope's sink at once, since a
//!   failed attempt costs as well.
//! - Anything else hands over the stream; a later failure stays an event.
//!
//! While it holds back, the agent runs on, and nobody outside has seen the events yet: a
//! budget that shall cut before the next call belongs inside, or [`RaiseLayer::hold_back`]
//! is zero. One box a turn. A response future that waits for an event means that an HTTP edge has
//! to send its headers first.
//!
//! # MUST 6
//!
//! Portable: nothing is kept between turns.
//!
//! # Examples
//!
//! ```
//! use portcullis::{Failure, Prompt, Scope, agent_fn};
//! use portcullis_layers::raise::RaiseLayer;
//! use tower::{ServiceBuilder, ServiceExt};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let fails = agent_fn(async |_scope, _prompt: Prompt, _out| Err::<(), _>(Failure::new("no")));
//! let raises = ServiceBuilder::new().layer(RaiseLayer::new()).service(fails);
//! let error = raises.oneshot((Scope::new("s"), Prompt::text("hello"))).await.unwrap_err();
//! assert_eq!(error, Failure::new("no"));
//! # }
//! ```
//!
//! Without holding anything back, only a failure in the very first event is raised:
//!
//! ```
//! # use portcullis::{AgentEvent, Failure, Prompt, Scope, Usage, agent_fn};
//! # use portcullis_layers::raise::RaiseLayer;
//! # use tower::{ServiceBuilder, ServiceExt};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let fails = agent_fn(async |_scope, _prompt: Prompt, out| {
//!     out.emit(Usage::new("call").with_input(3)).await;
//!     Err::<(), _>(Failure::new("no"))
//! });
//! let raises = ServiceBuilder::new().layer(RaiseLayer::new().hold_back(0)).service(fails);
//! assert!(raises.oneshot((Scope::new("s"), Prompt::text("hello"))).await.is_ok());
//! # }
//! ```

mod future;
mod layer;
mod runs;
mod service;
mod stream;

#[cfg(feature = "stock")]
pub(crate) use self::runs::Runs;
pub use self::{future::RaiseFuture, layer::RaiseLayer, service::Raise, stream::RaiseStream};
