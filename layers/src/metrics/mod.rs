//! Numbers over all turns, through the facade `metrics`: whatever recorder the
//! program installs gets them.
//!
//! # When
//!
//! When somebody watches a service. It is a layer beside [`trace`](crate::trace) rather than a
//! part of it: numbers are wanted where nobody collects spans, and a second one may stand
//! around one model among several.
//!
//! # Where
//!
//! Beside `trace`, above everything that refuses or waits: a turn that is refused is a turn.
//!
//! # What it records
//!
//! | name | kind | labels | |
//! |---|---|---|---|
//! | `gen_ai.invoke_agent.duration` | histogram, s | agent, `error.type` | each turn |
//! | `gen_ai.invoke_agent.inference_calls` | histogram | agent | model calls of each turn |
//! | `gen_ai.invoke_agent.tool_calls` | histogram | agent | tools of each turn |
//! | `gen_ai.client.token.usage` | histogram, tokens | agent, provider, model, `gen_ai.token.type` | each model call that says so |
//! | `portcullis.turns` | counter | agent, `outcome`, `error.type` | |
//! | `portcullis.turns.active` | gauge | agent | turns that run |
//! | `portcullis.turn.time_to_first_event` | histogram, s | agent | turns that have one |
//! | `portcullis.turn.time_to_first_token` | histogram, s | agent | `text` or `thinking` |
//! | `portcullis.turn.cost` | histogram | agent, `currency` | turns that have a price |
//!
//! The names of the first four follow the semantic conventions, see
//! [`semconv`](crate::semconv). [`describe`] tells a recorder units and meaning.
//!
//! **Labels are bounded.** No session, principal or text is one. A failure whose code is none of
//! [`FailureCode`](portcullis::FailureCode)'s own counts as `_OTHER`, and so do models, providers
//! and currencies after the [first hundred](MetricsLayer::max_names) of a layer: an engine, or who
//! speaks through it, cannot make series without end.
//!
//! # The ends
//!
//! Each turn counts once, whatever ends it, after everything below is gone. The gauge goes down
//! with the turn, panics included. Usage that an engine reports while it is dropped counts.
//!
//! # Cost
//!
//! 7 ns an event, and no allocation; 0.3 µs a turn, and what the recorder takes for its
//! instruments.
//!
//! # MUST 6
//!
//! A turn runs the same anywhere. The numbers are those of one process; a collector adds them up.
//!
//! # Examples
//!
//! ```
//! # use portcullis::{AgentExt, Prompt, Scope, agent_fn, collect};
//! use portcullis_layers::metrics::MetricsLayer;
//! use tower::ServiceBuilder;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! # let engine = agent_fn(async |_scope, _prompt: Prompt, _out| Ok(()));
//! let layer = MetricsLayer::new().agent("desk");
//! let agent = ServiceBuilder::new().layer(layer).service(engine);
//! # assert!(collect(agent.invoke(Scope::new("s"), Prompt::text("hello"))).await.is_ok());
//! # }
//! ```

mod active;
mod describe;
mod layer;
mod names;
mod turn;

pub use self::{
    describe::describe,
    layer::{Metered, MetricsLayer},
    turn::MetricsTurn,
};
