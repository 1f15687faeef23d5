use crate::{
    log::{AppendError, Batch, Snapshot, TaskKey},
    model::{
        CancelTaskRequest, Error, ErrorKind, Task, TaskState, TaskStatus, TaskStatusUpdateEvent,
    },
    server::{Server, check, check::Standing},
};

impl Server {
    /// A2A-OP-84..89.
    pub(in crate::server) async fn cancel_task(
        &self,
        standing: &Standing,
        request: &CancelTaskRequest,
    ) -> Result<Task, Error> {
        for _ in 0..ATTEMPTS {
            let (key, snapshot) = check::task(self.core(), &standing.owner, &request.id).await?;
            let state = snapshot.task().status.state;
            match state {
                // The same effect twice (A2A-OP-87).
                TaskState::Canceled => return Ok(snapshot.into_task()),
                state if state.is_terminal() => {
                    return Err(check::refusal_of_state(
                        ErrorKind::TaskNotCancelable,
                        ErrorKind::TaskNotCancelable.message(),
                        &request.id,
                        state,
                    ));
                }
                _ => {}
            }
            // The turn itself writes CANCELED, so that there is one writer, and it has
            // dropped the work before it does.
            if let Some(running) = self.runs().of(&key) {
                let stopped = running.cancel(self.core().limits.cancel_wait).await;
                if !stopped && self.runs().of(&key).is_some() {
                    // It cannot stop now: the task as it is, and it is still asked to
                    // (A2A-OP-89).
                    let (_, snapshot) =
                        check::task(self.core(), &standing.owner, &request.id).await?;
                    if !snapshot.task().status.state.is_terminal() {
                        return Ok(snapshot.into_task());
                    }
                }
                // What the log says now decides.
                continue;
            }
            self.cancel_at_log(&key, &snapshot).await?;
        }
        let message = "The task changes too fast to be canceled";
        Err(self.core().limits.refusal(ErrorKind::Unavailable, message))
    }

    /// Nobody runs the task here: it waits, or another process runs it, which will find
    /// its next update refused (A2A-OP-88).
    async fn cancel_at_log(&self, key: &TaskKey, snapshot: &Snapshot) -> Result<(), Error> {
        let task = snapshot.task();
        let core = self.core();
        let now = core.clock.now();
        let time = task.status.timestamp.map_or(now, |last| last.max(now));
        let canceled = TaskStatusUpdateEvent::new(
            &task.id,
            &task.context_id,
            TaskStatus::new(TaskState::Canceled, time),
        );
        let batch = Batch::new(key.clone(), snapshot.seq()).with(canceled);
        match core.log.append(batch).await {
            // Somebody else was faster: look again.
            Ok(_) | Err(AppendError::Conflict { .. } | AppendError::Finished) => Ok(()),
            Err(AppendError::NotFound) => Err(Error::task_not_found(key.id())),
            Err(error) => Err(check::internal(core, error)),
        }
    }
}

const ATTEMPTS: usize = 16;
