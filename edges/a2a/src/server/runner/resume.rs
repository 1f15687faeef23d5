use super::{run::Run, turn::Opening};
use crate::log::Batch;

/// What comes before the first poll.
impl Run {
    /// Stores the message that continues the task, if there is one. `false` if the log does not take
    /// it; then this turn has not begun, and an earlier one is as it was.
    pub(super) async fn resume(&mut self) -> bool {
        let Some(resumption) = self.resumption.take() else {
            return true;
        };
        let batch = Batch::new(self.key.clone(), self.seq)
            .with(resumption.message)
            .held_by(self.core.holder.clone());
        match self.core.log.append(batch).await {
            Ok(seq) => {
                self.seq = seq;
                if let Some((opened, _)) = &mut self.opened {
                    *opened = seq;
                }
                if let Some(webhook) = resumption.webhook {
                    webhook.begin(None);
                }
                true
            }
            Err(error) => {
                self.conclude(Ok(Opening::NotResumed(error)));
                false
            }
        }
    }
}
