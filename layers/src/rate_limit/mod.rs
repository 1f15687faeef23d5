//! Bounds how many requests there are in a while.
//!
//! # When
//!
//! Somebody asks more often than you want to answer, and each answer costs. What answers consume
//! (tokens, money) is for [`budget`](crate::budget), and how many run at once for
//! [`concurrency`](crate::concurrency).
//!
//! # Where
//!
//! Below whatever says who asks: a limit that runs before authentication counts names that anybody
//! can make up. Above [`concurrency`](crate::concurrency), so that a turn that waits here takes no
//! place there, and above everything that costs.
//!
//! # What it counts
//!
//! One request a turn, whatever the turn does below; a retry or a repair is none. A [`Rate`] is a
//! bucket (GCRA): so many requests at once, and one more in every interval. There is no window
//! that begins anew, so no moment at which two windows' worth gets through.
//!
//! | constructor | turns share a bucket that have | who cannot be told apart |
//! |---|---|---|
//! | [`new`](RateLimitLayer::new) | anything: one bucket | |
//! | [`per_principal`](RateLimitLayer::per_principal) | the same principal | without one: by [`Peer`], or else all together |
//! | [`per_tenant`](RateLimitLayer::per_tenant) | the same tenant | no tenant: all together |
//! | [`per_session`](RateLimitLayer::per_session) | the same principal and session | without a principal: by session |
//! | [`per_source`](RateLimitLayer::per_source) | the same source | no source: all together |
//! | [`keyed`](RateLimitLayer::keyed) | what your function says | what it marks [`anonymous`](LimitKey::anonymous) |
//!
//! Sessions and sources are chosen by the caller: such a limit is fair among friends, and no defence.
//! Callers of the last column are counted apart, in a memory of their own and, with
//! [`anonymous`](RateLimitLayer::anonymous), at another rate: whatever they do, they push nobody
//! out who has a name.
//!
//! # Memory
//!
//! Bounded: [`max_keys`](RateLimitLayer::max_keys) buckets, 100,000 unless you say otherwise, of those who
//! have a name and as many of those who have none, under a hundred bytes each however long a name
//! is. A bucket is forgotten when it is full again, which is when it says nothing more, and never before: so nobody
//! gets a new allowance by pushing out an old one. When the memory is full, keys that have no bucket share one, and
//! are refused with `overloaded`: they did nothing wrong. A key that gets a bucket of its own while the shared one
//! is in use begins where that one stands.
//!
//! # Refusals
//!
//! | what | code | `retry_after` |
//! |---|---|---|
//! | too many requests | `rate_limited` | the time until there is one, to the nanosecond, rounded up to a millisecond |
//! | the memory is full, and so is the shared bucket's use | `overloaded` | the same |
//! | the [`Limiter`] cannot be reached | `unavailable`, or admitted with [`admit_when_unreachable`](RateLimitLayer::admit_when_unreachable) | |
//!
//! All are `retryable`. They come with the first poll, so at an A2A edge they are errors of the
//! operation and no task is opened. [`state`](RateLimitLayer::state) says how a caller stands, for the
//! headers of an answer.
//!
//! # Waiting
//!
//! [`wait_at_most`](RateLimitLayer::wait_at_most) makes a layer whose turns wait instead, first come, first
//! served in each key. The wait is announced with `retrying` and its true delay. A turn that would wait longer than
//! the bound, or past the scope's deadline, is refused at once. Who waits reserves nothing below; who is
//! dropped gives the place to the next, who is called earlier.
//!
//! # Ends
//!
//! It looks at the beginning of a turn only: every end passes as it is, and a request that was
//! admitted is counted, whatever became of it. A turn that is dropped while it waits has not been counted. Nothing
//! is done for an event.
//!
//! # Cousins
//!
//! tower's `RateLimit` is one bucket for everybody, holds its place in `poll_ready`, and begins a window anew.
//!
//! # MUST 6
//!
//! Not portable with the limiter in memory: each process counts by itself, so three of them admit
//! three times the rate. Portable with a [`Limiter`] over a store that they share.
//!
//! # Examples
//!
//! ```
//! use portcullis::{AgentEvent, AgentExt, CollectError, FailureCode, Prompt, Scope, agent_fn, collect};
//! use portcullis_layers::rate_limit::{Rate, RateLimitLayer};
//! use tower::ServiceBuilder;
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = agent_fn(async |_scope, _prompt: Prompt, out| {
//!     out.emit(AgentEvent::text("hello")).await;
//!     Ok(())
//! });
//! let agent = ServiceBuilder::new()
//!     .layer(RateLimitLayer::new(Rate::per_minute(1)?))
//!     .service(engine);
//! let ask = || collect(agent.invoke(Scope::new("s"), Prompt::text("hi")));
//! assert!(ask().await.is_ok());
//! let Err(CollectError::Failed(refusal)) = ask().await else { unreachable!() };
//! assert!(refusal.is(&FailureCode::RATE_LIMITED));
//! tokio::time::advance(refusal.after().expect("it says when")).await;
//! assert!(ask().await.is_ok());
//! # Ok(())
//! # }
//! ```
//!
//! Sixty a minute for each principal, ten at once; less for those whom nobody knows; and a turn
//! waits up to five seconds:
//!
//! ```
//! use std::time::Duration;
//! use portcullis_layers::rate_limit::{InvalidRate, Rate, RateLimitLayer};
//!
//! # fn main() -> Result<(), InvalidRate> {
//! let layer = RateLimitLayer::per_principal(Rate::per_minute(60)?.burst(10)?)
//!     .anonymous(Rate::per_minute(6)?)
//!     .wait_at_most(Duration::from_secs(5));
//! # let _ = layer;
//! # Ok(())
//! # }
//! ```

mod admit;
mod clock;
mod error;
mod gate;
mod key;
mod keys;
mod layer;
mod limiter;
mod line;
mod memory;
mod paced;
mod rate;

pub use portcullis::Peer;

pub use self::{
    admit::Admit,
    error::LimiterError,
    key::{ByPrincipal, BySession, BySource, ByTenant, Everybody, Key, LimitKey},
    layer::{RateLimit, RateLimitLayer},
    limiter::{Decision, Limiter, Standing},
    memory::MemoryLimiter,
    paced::{Paced, PacedLayer},
    rate::{InvalidRate, Rate},
};
