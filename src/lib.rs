//! An AI agent is a [`tower_service::Service`] that takes a [`Scope`] and a [`Prompt`]
//! and answers with a stream of [`AgentEvent`]s.
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
    scope::{Principal, Scope, TurnRecord, TurnSummary, UsageSink},
    script::{
        Finish, FromFn, FromFnLayer, Next, Run, Script, ScriptLayer, ScriptStream, Scripted,
        from_fn,
    },
    turn::{End, Flow, MakeTurn, Outbox, Turn, TurnLayer, TurnStream, Watched},
};
