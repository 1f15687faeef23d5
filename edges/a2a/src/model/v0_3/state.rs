use super::Form;
use crate::model::{Role, TaskState};

/// The name of a state.
pub(super) const fn state_name(form: Form, state: TaskState) -> &'static str {
    match (form, state) {
        // Two L (T-45).
        (Form::Proto, TaskState::Canceled) => "TASK_STATE_CANCELLED",
        (Form::Proto, state) => state.as_str(),
        (Form::JsonRpc, TaskState::Unknown) => "unknown",
        (Form::JsonRpc, TaskState::Submitted) => "submitted",
        (Form::JsonRpc, TaskState::Working) => "working",
        (Form::JsonRpc, TaskState::Completed) => "completed",
        (Form::JsonRpc, TaskState::Failed) => "failed",
        (Form::JsonRpc, TaskState::Canceled) => "canceled",
        (Form::JsonRpc, TaskState::InputRequired) => "input-required",
        (Form::JsonRpc, TaskState::Rejected) => "rejected",
        (Form::JsonRpc, TaskState::AuthRequired) => "auth-required",
    }
}

/// The name of a role. There are two: who is not the client is the agent.
pub(super) const fn role_name(form: Form, role: Role) -> &'static str {
    match (form, role) {
        (Form::Proto, role) => role.as_str(),
        (Form::JsonRpc, Role::User) => "user",
        (Form::JsonRpc, Role::Agent | Role::Unknown) => "agent",
    }
}
