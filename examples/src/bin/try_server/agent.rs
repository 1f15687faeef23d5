//! The server as an agent of this project.

use std::time::Duration;

use futures_util::StreamExt as _;
use portcullis::{AgentEvent, AgentExt as _, Prompt, Scope, collect};
use portcullis_a2a::{
    model::{ListTasksRequest, Task, TaskState},
    remote::RemoteAgent,
};
use tokio::time::timeout;

use super::{
    checks::{Check, checks},
    peer::{Peer, Why, why},
};

pub(crate) const ALL: &[Check] = checks![agent_answers, agent_is_dropped];

/// An answer of a server that knows nothing of our events: text, then `completed`.
async fn agent_answers(peer: Peer) -> Result<(), Why> {
    let agent = RemoteAgent::new(peer.client);
    let answer =
        collect(agent.invoke(Scope::new("session"), Prompt::text("tck-complete-task"))).await;
    match answer {
        Ok(answer) if answer.text.contains("Hello from TCK") => Ok(()),
        Ok(answer) => Err(format!("the text is {:?}", answer.text)),
        Err(error) => Err(error.to_string()),
    }
}

/// Dropping a turn cancels its task. The remote agent makes the ids of its messages, so the agent
/// behind goes by the text.
async fn agent_is_dropped(peer: Peer) -> Result<(), Why> {
    let agent = RemoteAgent::new(peer.client.clone());
    let mut turn = agent.invoke(Scope::new("session"), Prompt::text("tck-cancel"));
    // Whoever does not know our events tells nothing while it works.
    match timeout(Duration::from_secs(1), turn.next()).await {
        Err(_) | Ok(Some(AgentEvent::Extension(_))) => drop(turn),
        Ok(event) => return Err(format!("the turn began with {event:?}")),
    }
    agent.settle().await;
    // Servers answer to a cancel before the task stands still.
    let mut request = ListTasksRequest::new();
    request.history_length = Some(10);
    for _ in 0..50 {
        let page = peer.client.list_tasks(&request).await;
        let page = page.map_err(why)?;
        let asked = |task: &Task| {
            let first = task.history.first();
            first.is_some_and(|message| message.text() == "tck-cancel")
        };
        let tasks: Vec<_> = page.tasks.iter().filter(|task| asked(task)).collect();
        let is_cancelled = |task: &&Task| task.status.state == TaskState::Canceled;
        if !tasks.is_empty() && tasks.iter().all(is_cancelled) {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Err("the task goes on".to_owned())
}
