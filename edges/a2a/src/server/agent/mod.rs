//! Agents behind the server.

mod adapter;
mod events_extension;
mod prompt;
mod reducer;

pub use self::{
    adapter::{AgentEmissions, AgentExecutor},
    events_extension::EVENTS_EXTENSION,
    reducer::{Coalescing, Reducer},
};
pub(super) use self::{
    events_extension::{failure_metadata, task_metadata},
    prompt::prompt_of,
};
