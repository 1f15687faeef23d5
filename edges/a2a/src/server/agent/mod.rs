//! Agents behind the server.

mod adapter;
mod events_extension;
mod prompt;
mod reducer;

pub(super) use self::events_extension::{failure_metadata, task_metadata};
pub(crate) use self::prompt::prompt_of;
pub use self::{
    adapter::{AgentEmissions, AgentExecutor},
    reducer::{Coalescing, Reducer},
};
pub use crate::agent_events::EVENTS_EXTENSION;
