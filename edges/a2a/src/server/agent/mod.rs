//! Agents behind the server.

mod adapter;
mod events_extension;
mod prompt;
mod reducer;

pub(super) use self::{
    adapter::AgentExecutor,
    events_extension::{failure_metadata, task_metadata},
    prompt::prompt_of,
};
pub use self::{
    events_extension::EVENTS_EXTENSION,
    reducer::{Coalescing, Reducer},
};
