use portcullis::{AgentEvent, ExtensionView, views::Context};

/// What is visible if nobody says otherwise: what [`AgentEvent::is_visible`] says, but not
/// `context`, which speaks about the run and says nothing of the answer.
pub(crate) fn is_visible(event: &AgentEvent) -> bool {
    event.is_visible() && event.type_name() != Context::TYPE
}
