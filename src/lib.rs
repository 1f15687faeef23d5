//! An AI agent is a [`tower_service::Service`] that takes a [`Scope`] and a [`Prompt`]
//! and answers with a stream of [`AgentEvent`]s.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod event;
mod extensions;
mod json;
mod prompt;
mod scope;

pub use self::{
    event::{
        AgentEvent, Completed, Cost, Extension, Failure, FailureCode, Retrying, Text, Thinking,
        ToolEnded, ToolStarted, Usage, UsageSource, UsageTally,
    },
    extensions::Extensions,
    json::{DecodeError, Extra, Json},
    prompt::{ImageRef, Prompt},
    scope::{Principal, Scope, TurnRecord, TurnSummary, UsageSink},
};
