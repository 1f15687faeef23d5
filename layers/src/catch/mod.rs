//! Folds every error and every panic of a service into one `failed` event.
//!
//! # When
//!
//! Around anything that is not an agent yet: a service with an error type of its own, or
//! a stack of tower's layers (then rather [`StockLayer`](crate::stock::StockLayer), which has the other
//! half as well). And outermost in every stack, where it is the last to catch a panic
//! of a layer: in readiness, in the call, in its future, in the stream, and while any
//! of them is dropped.
//!
//! # Where
//!
//! Outermost.
//!
//! # What becomes of an error
//!
//! The source chain is searched, from the outside in:
//!
//! | found | failure |
//! |---|---|
//! | a [`Failure`](portcullis::Failure) of ours | the same, unchanged |
//! | tower's `Overloaded` | `overloaded`, retryable |
//! | tower's `Elapsed` | `timeout`, retryable |
//! | nothing of these, or a panic | `internal`: a reference for the caller, the chain in the log under the same reference |
//!
//! A stream that ends without a terminal event becomes `failed{contract_violation}`. A
//! service that failed while it was made ready is dead: that is remembered, and the
//! next call says so.
//!
//! With `panic = "abort"` nothing can catch a panic.
//!
//! # Cousins
//!
//! `tower_http`'s `CatchPanic` stops at the response future; this one goes on to the end
//! of the stream. axum's `HandleError` is always ready; this one asks the service.
//!
//! # MUST 6
//!
//! Portable: nothing is kept between turns.
//!
//! # Examples
//!
//! ```
//! use portcullis::{AgentExt, Prompt, Scope, CollectError, collect};
//! use portcullis_layers::catch::CatchLayer;
//! use tower::{ServiceBuilder, service_fn};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let broken = service_fn(async |_: (Scope, Prompt)| {
//!     Err::<portcullis::BoxEventStream, _>(std::io::Error::other("db://user:secret@host"))
//! });
//! let agent = ServiceBuilder::new().layer(CatchLayer::new()).service(broken);
//! let answer = collect(agent.invoke(Scope::new("s"), Prompt::text("hello"))).await;
//! let Err(CollectError::Failed(failure)) = answer else { panic!("{answer:?}") };
//! assert!(failure.details().starts_with("internal error, reference "));
//! # }
//! ```
//!
//! A failure of ours comes through as it is:
//!
//! ```
//! use portcullis::{AgentExt, Failure, FailureCode, Prompt, Scope, collect};
//! use portcullis_layers::catch::CatchLayer;
//! use tower::{ServiceBuilder, service_fn};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let agent = ServiceBuilder::new().layer(CatchLayer::new()).service(service_fn(
//!     async |_: (Scope, Prompt)| {
//!         let failure = Failure::with_code(FailureCode::UNAVAILABLE, "the model sleeps");
//!         Err::<portcullis::BoxEventStream, _>(failure.retryable(true))
//!     },
//! ));
//! let answer = collect(agent.invoke(Scope::new("s"), Prompt::text("hello"))).await;
//! let failure = Failure::with_code(FailureCode::UNAVAILABLE, "the model sleeps");
//! assert_eq!(answer, Err(failure.retryable(true).into()));
//! # }
//! ```

mod layer;
mod service;

pub use self::{layer::CatchLayer, service::Catch};
pub use crate::settle::SettleStream as CatchStream;
