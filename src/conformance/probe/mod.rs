//! A scripted agent that counts what is done to it.

mod agent;
mod log;
mod plan;
mod run;
mod taking;

pub use self::{
    agent::ProbeAgent,
    log::ProbeLog,
    run::{ProbeFuture, ProbeStream},
    taking::Taking,
};

pub(super) use self::{agent::TurnMark, log::Emitted};
