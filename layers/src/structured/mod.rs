//! Data that fits the schema that was asked for.
//!
//! # When
//!
//! A caller asks for data ([`Scope::with_output_schema`](portcullis::Scope::with_output_schema), `outputSchema` on a wire) and has to rely on it,
//! whatever the engine makes of the schema. With [`collect_as`](portcullis::collect_as) the data is a Rust type in the end.
//!
//! # Where
//!
//! Below [`budget`](crate::budget) and the clock of the whole turn, which bound the repairs as well; above the guard, whose
//! masks are part of what is checked, and above [`retry`](crate::retry): an answer that does not fit is no failure that
//! passes.
//!
//! # What it does
//!
//! Nothing, where no schema is asked for: the turn is handed over at once. Else:
//!
//! 1. The schema is compiled before the agent is called. One that is none, is larger or deeper than the bounds, takes too
//!    much work, or refers to something outside of itself is refused with `invalid_prompt`, and where.
//!    Compiled schemas are kept, up to a bound.
//! 2. The run goes its way; only its text is held back, since it may turn out to be no answer.
//! 3. `completed.data` is checked, or what [`text_as_data`](StructuredLayer::text_as_data) makes of the text. If it
//!    fits, the text comes, in one piece, and the end as it was: the check looks at a copy, so every number keeps its text.
//! 4. If it does not, the text is dropped, `retrying` says so, and the agent is asked again, in the same session, with a prompt
//!    that holds what was asked, what came and what is wrong with it ([`repair_prompt`](StructuredLayer::repair_prompt)
//!    makes another one). So often at most as [`repairs`](StructuredLayer::repairs) says, and not after the
//!    deadline; then the turn fails with `invalid_output`.
//!
//! **Tools may run again in a repair.** What was shown of a run that is repaired (thinking, tools, unknown events) stays shown;
//! the boundary is the `retrying` event. Usage goes through at once, and its ids are numbered: those of the second run
//! begin with `2/`.
//!
//! # Ends
//!
//! | the run | the turn |
//! |---|---|
//! | completed, data that fits | completed |
//! | completed, other data or none | another run, or failed with `invalid_output`, its text never shown |
//! | failed | failed as it was, its text before it |
//! | just ends | just ends, its text before that |
//! | says more text than may be held (a mebibyte) | failed with `invalid_output`, and the run is dropped |
//! | dropped, panicked | dropped, panicked |
//!
//! # Bounds
//!
//! A schema: 64 KiB, 64 deep, and a bound on the work that its references can multiply to. Data: as deep as an event, 4 MiB. Patterns
//! are matched in linear time. Sixteen violations are told, each of at most 300 bytes. `format` is not
//! checked, as the drafts have it.
//!
//! Numbers are compared as `f64`: a minimum in the thirtieth digit is beyond it, and a number that is none of them, `1e400`, is
//! compared as the largest there is.
//!
//! # Cost
//!
//! Without a schema: two boxes a turn, nothing an event. With one it is no pass-through: an event goes through an emitter (about 90 ns), a text
//! is copied, and the data is parsed once.
//!
//! # MUST 6
//!
//! Portable: what it keeps are compiled schemas.
//!
//! # Examples
//!
//! ```
//! use portcullis::{AgentExt, Completed, Failure, Json, Prompt, Scope, agent_fn, collect_as};
//! use portcullis_layers::structured::StructuredLayer;
//! use tower::ServiceBuilder;
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A model that needs to be told what was wrong.
//! let model = agent_fn(async |_scope, prompt: Prompt, _out| {
//!     let told = prompt.as_text().contains(r#""3" is not of type "integer""#)
//!         || prompt.as_text().contains("/stars");
//!     let data = if told { r#"{"stars":3}"# } else { r#"{"stars":"3"}"# };
//!     Ok(Json::from_text(data).map_err(Failure::internal)?)
//! });
//! let agent = ServiceBuilder::new().layer(StructuredLayer::new()).service(model);
//!
//! let schema = r#"{
//!     "type": "object",
//!     "required": ["stars"],
//!     "properties": {"stars": {"type": "integer", "minimum": 1, "maximum": 5}}
//! }"#;
//! let scope = Scope::new("s").with_output_schema(Json::from_text(schema)?);
//! let review: std::collections::BTreeMap<String, u8> =
//!     collect_as(agent.invoke(scope, Prompt::text("How was it?"))).await?;
//! assert_eq!(review["stars"], 3);
//! # Ok(())
//! # }
//! ```
//!
//! An engine that writes JSON as its text, one repair, and a prompt of your own:
//!
//! ```
//! use portcullis_layers::structured::{Repair, StructuredLayer};
//!
//! let layer = StructuredLayer::new()
//!     .text_as_data()
//!     .repairs(1)
//!     .repair_prompt(|repair: &Repair<'_>| {
//!         let wrong: Vec<_> = repair.violations().iter().map(ToString::to_string).collect();
//!         format!("{}\n\nAnswer anew, with JSON only. {}", repair.prompt().as_text(), wrong.join("; ")).into()
//!     });
//! # let _ = layer;
//! ```

mod cache;
mod error;
mod held;
mod layer;
mod repair;
mod schema;
mod script;
mod tame;
mod validator;
mod weigh;

pub use self::{
    error::{InvalidSchema, Violation},
    layer::{Structured, StructuredLayer},
    repair::Repair,
    schema::{CompiledSchema, JsonSchema},
    validator::Validator,
};
