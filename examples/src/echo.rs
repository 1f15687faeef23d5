use portcullis_a2a::{
    model::{AgentCard, AgentInterface, Artifact, TaskState},
    server::{Server, executor_fn},
};

/// A server of an agent that says "done", for its callers at `url`.
#[must_use]
pub fn echo_server(url: &str) -> Server {
    let echo = executor_fn(async |ctx, out| {
        out.emit(ctx.status(TaskState::Working)).await;
        out.emit(ctx.artifact(Artifact::text("a-1", "done"))).await;
        out.emit(ctx.status(TaskState::Completed)).await;
    });
    Server::new(echo, card(url))
}

/// Its card.
#[must_use]
pub fn card(url: &str) -> AgentCard {
    AgentCard::new("Echo", "Says done.", AgentInterface::json_rpc(url))
}
