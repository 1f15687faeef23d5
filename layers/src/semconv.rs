//! Names of OpenTelemetry's semantic conventions for generative AI, as the layers write them.
//!
//! They follow version 0.1.0 of `semantic-conventions-genai`, in which all names have the status
//! "development". Another version of this crate may follow another one; dashboards name the
//! version that they were made for.

/// The version of the conventions.
pub const VERSION: &str = "0.1.0";

/// `gen_ai.operation.name`: always [`INVOKE_AGENT`].
pub const OPERATION: &str = "gen_ai.operation.name";
/// The operation of a turn, and the name of its span.
pub const INVOKE_AGENT: &str = "invoke_agent";
/// `gen_ai.agent.name`
pub const AGENT: &str = "gen_ai.agent.name";
/// `gen_ai.conversation.id`: the session.
pub const CONVERSATION: &str = "gen_ai.conversation.id";
/// `gen_ai.provider.name`
pub const PROVIDER: &str = "gen_ai.provider.name";
/// `gen_ai.request.model`: what was asked for.
pub const REQUEST_MODEL: &str = "gen_ai.request.model";
/// `gen_ai.response.model`: what answered.
pub const RESPONSE_MODEL: &str = "gen_ai.response.model";
/// `gen_ai.response.time_to_first_chunk`, in seconds.
pub const FIRST_CHUNK: &str = "gen_ai.response.time_to_first_chunk";
/// `gen_ai.usage.input_tokens`, cached ones included.
pub const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
/// `gen_ai.usage.output_tokens`, reasoning included.
pub const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
/// `gen_ai.usage.cache_read.input_tokens`
pub const CACHE_READ_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
/// `gen_ai.usage.cache_creation.input_tokens`
pub const CACHE_WRITE_TOKENS: &str = "gen_ai.usage.cache_creation.input_tokens";
/// `gen_ai.usage.reasoning.output_tokens`
pub const REASONING_TOKENS: &str = "gen_ai.usage.reasoning.output_tokens";
/// `gen_ai.input.messages`: content.
pub const INPUT_MESSAGES: &str = "gen_ai.input.messages";
/// `gen_ai.output.messages`: content.
pub const OUTPUT_MESSAGES: &str = "gen_ai.output.messages";
/// `gen_ai.token.type`: `input` or `output`.
pub const TOKEN_TYPE: &str = "gen_ai.token.type";
/// `error.type`
pub const ERROR: &str = "error.type";
/// The word for an error, a model or a provider that has no word here.
pub const OTHER: &str = "_OTHER";

/// A histogram: seconds of a turn.
pub const TURN_DURATION: &str = "gen_ai.invoke_agent.duration";
/// A histogram: model calls of a turn.
pub const TURN_CALLS: &str = "gen_ai.invoke_agent.inference_calls";
/// A histogram: tools that a turn has used.
pub const TURN_TOOLS: &str = "gen_ai.invoke_agent.tool_calls";
/// A histogram: tokens of a model call.
pub const CALL_TOKENS: &str = "gen_ai.client.token.usage";
