//! Makes an agent keep to the contract: one terminal event, nothing after it, no panic.
//!
//! # When
//!
//! Around an agent that somebody else wrote.
//!
//! # Where
//!
//! Innermost, so that the layers above see a failure where the agent panicked or just
//! stopped, and can retry it, count it or trace it.
//!
//! # What it does
//!
//! | the agent | the turn |
//! |---|---|
//! | ends without a terminal event | `failed{contract_violation}` |
//! | panics in readiness, call, future or stream | `failed{internal}`, the text in the log |
//! | goes on after its terminal event | nobody hears it: its stream is dropped with the event |
//!
//! It is written by hand like [`catch`](crate::catch) and shares its code: a
//! [`Turn`](portcullis::Turn) is told of a bare end and of a panic, and cannot repair
//! them.
//!
//! # Cousins
//!
//! [`catch`](crate::catch) does the same outermost, and takes errors of any type.
//!
//! # MUST 6
//!
//! Portable: nothing is kept between turns.
//!
//! # Examples
//!
//! ```
//! use portcullis::{AgentExt, AgentEvent, CollectError, FailureCode, Prompt, Scope, collect};
//! use portcullis_layers::conform::ConformLayer;
//! use tower::{ServiceBuilder, service_fn};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let mumbles = service_fn(async |_: (Scope, Prompt)| {
//!     Ok::<_, std::convert::Infallible>(futures_util::stream::iter([AgentEvent::text("er")]))
//! });
//! let agent = ServiceBuilder::new().layer(ConformLayer::new()).service(mumbles);
//! let answer = collect(agent.invoke(Scope::new("s"), Prompt::text("hello"))).await;
//! let Err(CollectError::Failed(failure)) = answer else { panic!("{answer:?}") };
//! assert!(failure.is(&FailureCode::CONTRACT_VIOLATION));
//! # }
//! ```
//!
//! Its usual place, below everything that looks at failures:
//!
//! ```
//! # use portcullis::{AgentExt, Prompt, agent_fn};
//! use portcullis_layers::{catch::CatchLayer, conform::ConformLayer};
//! use tower::ServiceBuilder;
//!
//! # let foreign = agent_fn(async |_scope, _prompt: Prompt, _out| Ok(()));
//! let agent = ServiceBuilder::new()
//!     .layer(CatchLayer::new())
//!     // trace, limits, retry
//!     .layer(ConformLayer::new())
//!     .service(foreign)
//!     .boxed();
//! # let _ = agent;
//! ```

mod layer;
mod service;

pub use self::{layer::ConformLayer, service::Conform};
pub use crate::settle::SettleStream as ConformStream;
