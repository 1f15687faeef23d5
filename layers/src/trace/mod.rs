//! One `tracing` span a turn, open until the turn ends, whatever ends it.
//!
//! # When
//!
//! Always.
//!
//! # Where
//!
//! Below [`catch`](crate::catch) and the authentication, above everything else: the span
//! then covers the time that a turn waits for its place.
//!
//! # What it records
//!
//! The span is named `invoke_agent` and follows OpenTelemetry's semantic conventions for
//! generative AI. Everything below is called, polled *and dropped* inside it.
//!
//! | field | |
//! |---|---|
//! | `gen_ai.operation.name` | `invoke_agent` |
//! | `gen_ai.agent.name` | if [given](TraceLayer::agent) |
//! | `gen_ai.conversation.id` | the session |
//! | `gen_ai.response.model` | of the last call that names one |
//! | `gen_ai.usage.input_tokens`, `.output_tokens` | over all calls; absent if nobody said, which is not zero |
//! | `error.type` | the code of the failure, `_OTHER` if it has none, or `cancelled`, `truncated`, `panicked` |
//! | `otel.status_code` | `ERROR` if there is an `error.type` |
//! | `portcullis.outcome` | `completed`, `failed`, `cancelled`, `truncated` or `panicked` |
//! | `portcullis.events`, `portcullis.first_event_ms`, `portcullis.duration_ms` | how many, and when |
//! | `portcullis.model_calls`, `portcullis.attempts`, `portcullis.source` | if known |
//! | `gen_ai.input.messages`, `gen_ai.output.messages` | only with [`TraceLayer::content`] |
//!
//! All that becomes known later is recorded at the end, with one log line: at `info` for
//! `completed` and `cancelled`, `warn` for `failed`, `error` for the rest. There is no
//! record an event. Usage that an engine reports while it is dropped is counted.
//!
//! # Cousins
//!
//! `tower_http`'s `Trace` ends with the response, and tells a client that left from one
//! that read everything only if the body is read to its end.
//!
//! # MUST 6
//!
//! Portable: nothing is kept between turns.
//!
//! # Examples
//!
//! ```
//! # use portcullis::{AgentExt, Prompt, agent_fn};
//! use portcullis_layers::trace::TraceLayer;
//! use tower::ServiceBuilder;
//!
//! # let engine = agent_fn(async |_scope, _prompt: Prompt, _out| Ok(()));
//! let agent = ServiceBuilder::new().layer(TraceLayer::new()).service(engine);
//! # let _ = agent;
//! ```
//!
//! With a name, and with the first two kilobytes of prompt and answer:
//!
//! ```
//! # use portcullis::{AgentExt, Prompt, agent_fn};
//! # use portcullis_layers::trace::TraceLayer;
//! # use tower::ServiceBuilder;
//! # let engine = agent_fn(async |_scope, _prompt: Prompt, _out| Ok(()));
//! let layer = TraceLayer::new().agent("desk").content(2048);
//! let agent = ServiceBuilder::new().layer(layer).service(engine);
//! # let _ = agent;
//! ```

mod content;
mod layer;
mod turn;

pub use self::{
    layer::{Trace, TraceLayer},
    turn::TraceTurn,
};
