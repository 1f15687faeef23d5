//! Layers for agents that are tower services: limits, time-outs, budgets, retries, tracing.
//!
//! Every layer sees every event and the end of every stream, whatever ends it; so limits,
//! budgets, spans and permits are right even when the client goes away.
//!
//! # Order
//!
//! From the outside in; each layer says why it belongs there, and `docs/layers.md` in the repository says it of
//! all of them together.
//!
//! ```text
//! catch, auth, trace (metrics, receipt, record), session gate, rate_limit, concurrency, budget, timeout (total)
//!   session window, structured, guard, fallback, retry, breaker, timeout (first, idle), conform
//!     agent
//! ```
//!
//! The first line acts once a turn, the second one on each run of the agent within it. [`stock`] holds a stack of
//! tower's own layers and goes anywhere among these, as does [`passthrough`] around somebody else's layer, and
//! [`optional`] around one that a configuration switches on. [`balance`] makes one agent of many.
//!
#![cfg_attr(
    feature = "full",
    doc = r#"
```
use std::time::Duration;
use portcullis::{AgentEvent, AgentExt, Prompt, Scope, agent_fn, collect};
use portcullis_layers::{
    ServiceBuilderExt,
    budget::{BudgetLayer, Limits, Meter},
    timeout::{Clocks, TimeoutLayer},
};
use tower::ServiceBuilder;

# #[tokio::main(flavor = "current_thread")]
# async fn main() -> Result<(), Box<dyn std::error::Error>> {
let engine = agent_fn(async |_scope, prompt: Prompt, out| {
    out.emit(AgentEvent::text(prompt.as_text())).await;
    Ok(())
});
let clocks = Clocks::new()
    .first_event(Duration::from_secs(20))
    .idle(Duration::from_secs(60));
let agent = ServiceBuilder::new()
    .catch()
    .trace()
    .concurrency(64)
    .budget(BudgetLayer::per_turn(Limits::of(Meter::Tokens, 100_000)))
    .clocks(TimeoutLayer::total(Duration::from_secs(600)))
    .retries(2)
    .clocks(TimeoutLayer::new(clocks)?)
    .conform()
    .service(engine);
let answer = collect(agent.invoke(Scope::new("s"), Prompt::text("hello"))).await?;
assert_eq!(answer.text, "hello");
# Ok(())
# }
```
"#
)]
//!
//! # Features
//!
//! Each layer is a module and a feature of the same name. `full` is all of them,
//! `testing` adds the contract suites of the ports.
//!
//! | feature | shape | |
//! |---|---|---|
//! | `catch` | by hand | errors and panics become one failure |
//! | `raise` | by hand | an early failure becomes an error |
//! | `stock` | both | tower's own layers, in one piece |
//! | `conform` | by hand | an agent is made to keep the contract |
//! | `auth` | `Policy` | who asks, and whether they may |
//! | `auth-http` | by hand | the same in front of a service of HTTP requests |
//! | `auth-jwt` | | bearer tokens that are JWTs, for both |
//! | `trace` | `Turn` | one span a turn |
//! | `metrics` | `Turn` | numbers over all turns |
//! | `receipt` | `Turn` | one receipt a turn |
//! | `timeout` | `Turn` | clocks: first event, idle, total |
//! | `session` | `Policy` and `Script` | one turn a session, and a way to reach it |
//! | `concurrency` | `Policy` | how many turns run at once |
//! | `rate_limit` | `Policy`, `Script` | how many requests in a while |
//! | `budget` | `Policy` | what turns consume |
//! | `retry` | `Script` | another try after a failure |
//! | `fallback` | `Script` | another agent after a failure |
//! | `breaker` | `Policy` | an agent that fails is left alone for a while |
//! | `structured` | `Script` | data that fits the schema that was asked for |
//! | `record`, `replay` | `Turn`, an agent | a turn as JSON lines, and back |
//! | `guard` | `Turn` | what an agent must not say |
//! | `passthrough` | by hand | unknown events go around a layer |
//! | `optional` | | a layer that is there or is not |
//! | `boxed` | by hand | one type for everything below |
//! | `balance` | by hand | one agent made of many: load counts to the end of each turn, replicas that fail are left alone, sessions stay |
#![cfg_attr(docsrs, feature(doc_cfg))]

mod builder;

/// The examples of the guide, compiled and run.
#[cfg(all(doctest, feature = "full"))]
#[doc = include_str!("../../docs/write-a-layer.md")]
struct WriteALayer;

/// The example of the page about order, compiled and run.
#[cfg(all(doctest, feature = "full"))]
#[doc = include_str!("../../docs/layers.md")]
struct WhichLayer;

#[cfg(feature = "auth")]
pub mod auth;
#[cfg(feature = "balance")]
pub mod balance;
#[cfg(feature = "boxed")]
pub mod boxed;
#[cfg(feature = "breaker")]
pub mod breaker;
#[cfg(feature = "budget")]
pub mod budget;
#[cfg(feature = "catch")]
pub mod catch;
#[cfg(any(feature = "retry", feature = "fallback", feature = "breaker"))]
mod commit;
#[cfg(feature = "concurrency")]
pub mod concurrency;
#[cfg(feature = "conform")]
pub mod conform;
#[cfg(feature = "fallback")]
pub mod fallback;
#[cfg(feature = "guard")]
pub mod guard;
#[cfg(feature = "metrics")]
pub mod metrics;
#[cfg(feature = "optional")]
pub mod optional;
#[cfg(feature = "passthrough")]
pub mod passthrough;
#[cfg(feature = "raise")]
pub mod raise;
#[cfg(feature = "rate_limit")]
pub mod rate_limit;
#[cfg(feature = "receipt")]
pub mod receipt;
#[cfg(feature = "record")]
pub mod record;
#[cfg(feature = "replay")]
pub mod replay;
#[cfg(feature = "retry")]
pub mod retry;
#[cfg(feature = "receipt")]
pub mod semconv;
#[cfg(feature = "session")]
pub mod session;
#[cfg(any(feature = "catch", feature = "conform"))]
mod settle;
#[cfg(feature = "stock")]
pub mod stock;
#[cfg(feature = "structured")]
pub mod structured;
#[cfg(feature = "timeout")]
pub mod timeout;
#[cfg(feature = "trace")]
pub mod trace;
#[cfg(any(feature = "concurrency", feature = "session"))]
mod turnstile;

pub use self::builder::ServiceBuilderExt;
