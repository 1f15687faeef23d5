use std::time::Duration;

use crate::{
    log::{AppendError, Batch, TaskKey},
    model::{Message, Task, TaskState, TaskStatus, TaskStatusUpdateEvent, Timestamp},
    server::{IdKind, core::Core},
};

/// Fails a task whose turn is gone, where its log ends now. `false` if the log does not take
/// it.
pub(in crate::server) async fn fail_at_log(core: &Core, key: &TaskKey, text: &str) -> bool {
    for attempt in 0..ATTEMPTS {
        if attempt > 0 {
            tokio::time::sleep(FIRST_PAUSE * (1 << (attempt - 1))).await;
        }
        match core.log.snapshot(key).await {
            // Never stored, or gone since.
            Ok(None) => return true,
            Ok(Some(snapshot)) if snapshot.task().status.state.is_terminal() => return true,
            Ok(Some(snapshot)) => {
                let status = failed(core, snapshot.task(), text);
                let batch = Batch::new(key.clone(), snapshot.seq()).with(status);
                match core.log.append(batch).await {
                    Ok(_) | Err(AppendError::Finished | AppendError::NotFound) => return true,
                    Err(error) => {
                        tracing::warn!(%error, task = key.id(), "a task could not be failed yet");
                    }
                }
            }
            Err(error) => {
                tracing::warn!(%error, task = key.id(), "a task could not be read yet");
            }
        }
    }
    false
}

fn failed(core: &Core, task: &Task, text: &str) -> TaskStatusUpdateEvent {
    let mut message = Message::agent_text(text);
    message.message_id = core.ids.next(IdKind::Message);
    message.task_id.clone_from(&task.id);
    message.context_id.clone_from(&task.context_id);
    let now = next_time(core, task.status.timestamp);
    let status = TaskStatus::new(TaskState::Failed, now).with_message(message);
    TaskStatusUpdateEvent::new(&task.id, &task.context_id, status)
}

/// Now; but the times of one task never go back (O-W07).
pub(super) fn next_time(core: &Core, last: Option<Timestamp>) -> Timestamp {
    let now = core.clock.now();
    last.map_or(now, |last| last.max(now))
}

const ATTEMPTS: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(20);
