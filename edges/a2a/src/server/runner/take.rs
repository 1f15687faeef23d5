use portcullis::{ControlRefusal, Prompt, RefusalCode, SessionControl};
use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};

use super::{NotTaken, Recipient, run::Run};
use crate::{log::Update, model::Message, server::agent::prompt_of};

/// Messages to a turn that runs.
impl Run {
    /// A message to this turn. The turn is not polled meanwhile: what it makes of the message comes
    /// after it in the log.
    pub(super) async fn take(
        &mut self,
        message: Message,
        to: Recipient,
        logged: oneshot::Sender<Result<(), NotTaken>>,
    ) {
        let taken = match to {
            Recipient::Executor => match &self.inbox {
                Some(inbox) => inbox
                    .try_send(message.clone())
                    .map_err(|error| match error {
                        mpsc::error::TrySendError::Full(_) => NotTaken::Full,
                        mpsc::error::TrySendError::Closed(_) => NotTaken::Busy,
                    }),
                None => Err(NotTaken::Busy),
            },
            Recipient::Session(control) => {
                let said = say(&*control, self.cx.session(), prompt_of(&message));
                // A control plane in this process answers at once.
                match timeout(self.core.limits.cancel_wait, said).await {
                    Ok(said) => said.map_err(|refusal| self.not_taken(&refusal)),
                    Err(_) => Err(NotTaken::Busy),
                }
            }
        };
        match taken {
            Ok(()) => {
                self.updates.push(Update::Message(message));
                self.logged.push(logged);
            }
            Err(_) => {
                // Nobody waits any more if this fails.
                let _gone = logged.send(taken);
            }
        }
    }

    fn not_taken(&self, refusal: &ControlRefusal) -> NotTaken {
        tracing::debug!(%refusal, code = %refusal.code(), task = self.key.id(), "a running turn takes no message");
        match refusal.code() {
            RefusalCode::QueueFull => NotTaken::Full,
            _ => NotTaken::Busy,
        }
    }
}

/// A steer where the run that is under way reads prompts, else a follow-up.
async fn say(
    control: &dyn SessionControl,
    session: &str,
    prompt: Prompt,
) -> Result<(), ControlRefusal> {
    if control.capabilities(session).await.steer {
        match control.steer(session, prompt.clone()).await {
            // The run has ended, or reads no more, since it was asked.
            Err(refusal) if refusal.code() == RefusalCode::Unsupported => {}
            said => return said.map(drop),
        }
    }
    control.follow_up(session, prompt).await.map(drop)
}
