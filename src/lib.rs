//! An AI agent is a [`tower_service::Service`] that takes a [`Scope`] and a [`Prompt`]
//! and answers with a stream of [`AgentEvent`]s.
//!
//! ```
//! use portcullis::{AgentEvent, AgentExt, BoxAgent, Failure, Json, Prompt, Scope, Usage, agent_fn, collect};
//!
//! fn weather() -> BoxAgent {
//!     BoxAgent::new(agent_fn(async |_scope, prompt: Prompt, out| {
//!         let args = Json::encode(prompt.as_text()).map_err(Failure::internal)?;
//!         out.emit(AgentEvent::tool_started("t-1", "forecast", args)).await;
//!         out.emit(AgentEvent::tool_ended("t-1", false, Json::null())).await;
//!         out.emit(Usage::new("call-1").with_input(20).with_output(7)).await;
//!         out.emit(AgentEvent::text("It will rain.")).await;
//!         Ok(())
//!     }))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let answer = collect(weather().invoke(Scope::new("session-1"), Prompt::text("Paris"))).await;
//! assert_eq!(answer.expect("completed").text, "It will rain.");
//! # }
//! ```
//!
//! | for | see |
//! |---|---|
//! | writing an agent | [`agent_fn`], [`agent_fn_with`], the contract at [`Agent`] |
//! | calling one | [`AgentExt::invoke`], and [`collect`] or the stream itself |
//! | naming one in a signature | [`BoxAgent`]; layers around it go in with `tower`'s `ServiceBuilder` |
//! | a layer that watches, admits, or invokes again | [`Turn`], [`Policy`], [`Script`] |
//! | events as JSON | [`AgentEvent::from_json`], [`AgentEvent::write_json`], [`views`] |
//! | proving an agent or a layer right | `conformance`, with the feature of that name |
//!
//! Dropping the stream cancels the turn: everything below is gone before `drop` returns.
//! The layers are in `portcullis-layers`, A2A in `portcullis-a2a`.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod agent;
mod collect;
#[cfg(feature = "conformance")]
#[cfg_attr(docsrs, doc(cfg(feature = "conformance")))]
pub mod conformance;
mod control;
mod event;
mod extensions;
mod json;
mod panicked;
mod policy;
mod prompt;
mod scope;
mod script;
mod turn;
pub mod views;

pub use self::{
    agent::{
        Agent, AgentExt, AgentFn, AgentFnStream, AgentFnWith, BoxAgent, BoxEventStream, Emit,
        Emitter, Emitting, Invoke, Step, agent_fn, agent_fn_with, emitting,
    },
    collect::{CollectAsError, CollectError, Collected, collect, collect_as, collect_with_usage},
    control::{
        Accepted, ControlCapabilities, ControlFuture, ControlRefusal, Fate, Inbox, InboxSender,
        RefusalCode, SessionControl, SessionState, inbox,
    },
    event::{
        AgentEvent, Completed, Cost, Extension, ExtensionView, Failure, FailureCode, Retrying,
        Text, Thinking, ToolEnded, ToolStarted, Usage, UsageSource, UsageTally,
    },
    extensions::Extensions,
    json::{DecodeError, Extra, ExtraMut, InsertError, Json},
    panicked::Panicked,
    policy::{Admitted, AdmittedStream, Policy, PolicyLayer},
    prompt::{ImageRef, Prompt},
    scope::{
        Peer, Principal, Scope, TraceContext, TraceContextError, TurnRecord, TurnSummary, UsageSink,
    },
    script::{
        Finish, FromFn, FromFnLayer, Next, Run, Script, ScriptLayer, ScriptStream, Scripted,
        from_fn,
    },
    turn::{End, Flow, MakeTurn, Outbox, Turn, TurnLayer, TurnStream, Watched},
};
