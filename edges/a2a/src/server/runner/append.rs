use std::sync::Arc;

use super::{over::Over, run::Run, turn::Opening};
use crate::{
    log::{AppendError, Batch, Seq},
    model::{Task, TaskState},
};

/// From the run to the log.
impl Run {
    /// Stores what is left to store, then tells those who wait for it.
    pub(super) async fn append(&mut self) -> Result<(), Over> {
        let mut too_long = false;
        if !self.updates.is_empty() || self.releases {
            let stored = if self.is_too_long() {
                Err(AppendError::Full)
            } else {
                let batch = self.batch();
                self.core.log.append(batch).await
            };
            match stored {
                Err(AppendError::Full) => {
                    too_long = true;
                    self.fail_as_too_long();
                    let batch = self.batch();
                    self.seq = self.core.log.append(batch).await?;
                }
                stored => self.seq = stored?,
            }
        }
        if let Some((seq, task)) = self.opened.take() {
            self.answer(Ok(Opening::Task(seq, task)));
        }
        for canceled in self.canceled.drain(..) {
            let _gone = canceled.send(());
        }
        if too_long {
            // Whoever waits for a message to be stored hears by the drop that it was not.
            self.logged.clear();
            return Err(Over::Settled);
        }
        for logged in self.logged.drain(..) {
            let _gone = logged.send(Ok(()));
        }
        Ok(())
    }

    /// Whether there would be too many updates, whatever the log takes. As for the log, an end is
    /// never too much.
    fn is_too_long(&self) -> bool {
        let ends = self.translator.state().is_some_and(TaskState::is_terminal);
        self.seq.plus(self.updates.len()).number() > self.core.limits.task_updates && !ends
    }

    /// Nothing of what was to be stored fits: what is left of it is the end of the task, and the
    /// task itself if it is new, without what the executor has put into it.
    fn fail_as_too_long(&mut self) {
        self.drop_turn();
        self.updates.clear();
        if self.seq == Seq::ZERO
            && let Some((_, task)) = &mut self.opened
        {
            let task = Arc::make_mut(task);
            task.artifacts.clear();
            task.status.message = None;
            self.updates.push(Task::clone(task).into());
        }
        let text = "The task has become too long.".to_owned();
        let failed = self
            .translator
            .settle(&self.core, &self.cx, TaskState::Failed, Some(text));
        self.updates.push(failed.into());
    }

    /// What is to be stored, in the name of this process.
    fn batch(&mut self) -> Batch {
        let updates = std::mem::take(&mut self.updates);
        let batch = Batch::of(self.key.clone(), self.seq, updates);
        if self.releases {
            batch.releasing()
        } else {
            batch.held_by(self.core.holder.clone())
        }
    }
}
