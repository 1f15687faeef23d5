use super::{over::Over, run::Run, turn::Opening};
use crate::{
    log::{AppendError, Batch},
    model::TaskState,
};

/// From the run to the log.
impl Run {
    /// Stores what is left to store, then tells those who wait for it.
    pub(super) async fn append(&mut self) -> Result<(), Over> {
        if !self.updates.is_empty() || self.releases {
            let batch = self.batch();
            match self.core.log.append(batch).await {
                Err(AppendError::Full) => {
                    let failed = self.translator.settle(
                        &self.core,
                        &self.cx,
                        TaskState::Failed,
                        Some("The task has become too long.".to_owned()),
                    );
                    self.drop_turn();
                    self.updates.push(failed.into());
                    let batch = self.batch();
                    self.seq = self.core.log.append(batch).await?;
                    return Err(Over::Settled);
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
        for logged in self.logged.drain(..) {
            let _gone = logged.send(Ok(()));
        }
        Ok(())
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
