//! What the operations take.

mod extended_card;
mod list;
mod send;
mod task;

pub use self::{
    extended_card::GetExtendedAgentCardRequest,
    list::{ListTasksRequest, ListTasksResponse},
    send::{SendMessageConfiguration, SendMessageRequest},
    task::{CancelTaskRequest, GetTaskRequest, SubscribeToTaskRequest},
};
