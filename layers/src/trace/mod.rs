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
//! generative AI, in the version of [`semconv`](crate::semconv). Everything below is called, polled *and dropped* inside it.
//!
//! | field | |
//! |---|---|
//! | `gen_ai.operation.name` | `invoke_agent` |
//! | `gen_ai.agent.name` | if [given](TraceLayer::agent) |
//! | `gen_ai.conversation.id` | the session |
//! | `gen_ai.request.model` | if [given](TraceLayer::request_model) |
//! | `gen_ai.response.model`, `gen_ai.provider.name` | of the last call that names one |
//! | `gen_ai.response.time_to_first_chunk` | seconds to the first `text` or `thinking` |
//! | `gen_ai.usage.input_tokens`, `.output_tokens`, `.cache_read.input_tokens`, `.cache_creation.input_tokens`, `.reasoning.output_tokens` | over all calls; absent if nobody said, which is not zero |
//! | `error.type` | the code of the failure, `_OTHER` if it has none, or `cancelled`, `truncated`, `panicked` |
//! | `otel.status_code` | `ERROR` if there is an `error.type` |
//! | `portcullis.outcome` | `completed`, `failed`, `cancelled`, `truncated` or `panicked` |
//! | `portcullis.events`, `portcullis.first_event_ms`, `portcullis.duration_ms` | how many, and when |
//! | `portcullis.tools`, `portcullis.model_calls`, `portcullis.attempts`, `portcullis.source` | if known, or not zero |
//! | `portcullis.given_up` | the codes of failures after which a layer tried again |
//! | `portcullis.cost` | one sum a currency: `0.0125 USD` |
//! | `trace_id`, `parent_id` | of the W3C trace context that an edge has put into the scope |
//! | `gen_ai.input.messages`, `gen_ai.output.messages` | only with [`TraceLayer::content`] or [`TraceLayer::redacted_content`] |
//!
//! All that becomes known later is recorded at the end, with one log line: at `info` for
//! `completed` and `cancelled`, `warn` for `failed`, `error` for the rest. There is no
//! span and no record an event. Usage that an engine reports while it is dropped is counted.
//!
//! # OpenTelemetry
//!
//! The layer knows no type of OpenTelemetry, whose crates break several times a year. A program
//! with `tracing-opentelemetry` gives [`TraceLayer::on_span`] a hook of ten lines: it makes the
//! trace of the scope the parent of the span, and the span the trace of what is below. The
//! example `otlp` does so, and exports.
//!
//! # The ends
//!
//! The span closes once, whatever ends the turn, after everything below is gone; so does the one
//! of a turn that is dropped while a layer below still waits to admit it.
//!
//! # Cost
//!
//! 8 ns an event where nobody listens, 10 to 14 where a registry does, which is what entering and
//! leaving the span takes; no allocation an event. 0.2 to 0.4 µs a turn.
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
