use crate::{
    log::{Record, Seq, Snapshot, TaskKey, apply},
    model::{Error, SubscribeToTaskRequest, Task},
    server::{Caller, EVENTS_EXTENSION, Frames, Server, check, check::Standing, watch::Watch},
};

impl Server {
    /// A2A-OP-90..93, ruling 16.
    pub(in crate::server) async fn subscribe_to_task(
        &self,
        standing: &Standing,
        caller: &Caller,
        request: &SubscribeToTaskRequest,
    ) -> Result<Frames, Error> {
        let (key, snapshot) = check::task(self.core(), &standing.owner, &request.id).await?;
        let seen = caller.last_event().filter(|seen| *seen != Seq::ZERO);
        // What is over is only shown again to those who agreed on that.
        let replays = seen.is_some()
            && standing
                .extensions
                .iter()
                .any(|uri| uri == EVENTS_EXTENSION);
        if !replays {
            check::not_over(&snapshot, "This operation is not supported")?;
        }
        let place = self.open_stream(&standing.owner)?;
        let from = match seen {
            // A place that the log has not come to is none of this task.
            Some(seen) if seen < snapshot.seq() => self.fold_to(&key, seen).await?,
            _ => snapshot,
        };
        let seq = from.seq();
        let over = from.task().status.state.is_terminal();
        let lost = self.lost(&key);
        let watch = (!over).then(|| Watch::new(self.shared_core(), key, seq, lost));
        let watch = watch.map(|watch| (watch, place));
        Ok(Frames::task(seq, from.into_task(), watch, false))
    }

    /// The task as it was after an update.
    async fn fold_to(&self, key: &TaskKey, last: Seq) -> Result<Snapshot, Error> {
        let core = self.core();
        let mut task: Option<Task> = None;
        let mut after = Seq::ZERO;
        while after < last {
            let records = core
                .log
                .read(key, after, core.limits.read_ahead)
                .await
                .map_err(|error| check::internal(core, error))?
                .filter(|records| !records.is_empty())
                .ok_or_else(|| Error::task_not_found(key.id()))?;
            for record in records.iter().filter(|record| record.seq() <= last) {
                fold(&mut task, record).map_err(|error| check::internal(core, error))?;
            }
            after = records.last().map_or(last, Record::seq);
        }
        let task = task.ok_or_else(|| Error::task_not_found(key.id()))?;
        Ok(Snapshot::new(last, task))
    }
}

fn fold(task: &mut Option<Task>, record: &Record) -> Result<(), serde_json::Error> {
    match (task, record.update()?) {
        (Some(task), update) => apply(task, update),
        (task @ None, crate::log::Update::Opened(opened)) => *task = Some(*opened),
        (None, _) => {}
    }
    Ok(())
}
