use std::{panic::AssertUnwindSafe, pin::pin, sync::Arc, time::Duration};

use futures_util::{
    FutureExt,
    future::{Either, select},
};
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};

use super::{Delivery, Outcome, Push, PushStats, Registration, Retired};
use crate::{
    log::{Record, RecordKind, Seq},
    model::ErrorKind,
    server::{
        core::Core,
        watch::{Ended, Watch},
    },
};

/// Delivers the updates of one task to one webhook, one after the other, from its cursor to the
/// end of the task.
pub(super) struct Courier {
    pub(super) core: Arc<Core>,
    pub(super) push: Push,
    pub(super) stats: Arc<PushStats>,
    pub(super) registration: Registration,
    /// Of the turn that is about to open the task, where that is not there yet.
    pub(super) opening: Option<watch::Receiver<bool>>,
}

/// What became of an update.
enum Posted {
    /// The receiver has it, or does not want it.
    Done,
    /// The webhook is of no use any more.
    GiveUp(&'static str),
    /// The receiver wants nothing any more.
    Gone,
    /// The server shuts down; the cursor stays.
    Closing,
}

impl Courier {
    pub(super) async fn run(mut self) {
        if !self.task_is_there().await {
            // Refused, or answered by a message: there is nothing to tell of.
            self.remove().await;
            return;
        }
        let mut failures = 0;
        loop {
            let core = Arc::clone(&self.core);
            let key = self.registration.key.clone();
            let mut watch = Watch::new(core, key, self.registration.after, None);
            let broken = loop {
                match watch.next().await {
                    Ok(record) => {
                        if self.carry(&record, &mut failures).await {
                            return;
                        }
                    }
                    Err(Ended::Closing) => return,
                    Err(Ended::Broken(error)) => break error,
                }
            };
            if broken.kind() == ErrorKind::TaskNotFound {
                // Let go of before all of it was delivered.
                self.remove().await;
                return;
            }
            // The log's own trouble, which it has told of.
            sleep(LOG_PAUSE).await;
        }
    }

    /// Whether the task exists, once that is decided.
    async fn task_is_there(&mut self) -> bool {
        let Some(mut turn) = self.opening.take() else {
            return true;
        };
        let mut turn_ended = false;
        loop {
            // The bell first: a task that is opened between the two rings.
            let mut bell = self.core.log.bell(&self.registration.key);
            match self.core.log.snapshot(&self.registration.key).await {
                Ok(Some(_)) => return true,
                Ok(None) if turn_ended => return false,
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(%error, "a webhook waits for the log");
                    sleep(LOG_PAUSE).await;
                    continue;
                }
            }
            // The other end of it goes with the turn.
            let (rung, changed) = (pin!(bell.rung()), pin!(turn.changed()));
            if let Either::Right((changed, _)) = select(rung, changed).await {
                turn_ended = changed.is_err();
            }
        }
    }

    /// Delivers one update. Answers whether the courier is done.
    async fn carry(&mut self, record: &Record, failures: &mut u32) -> bool {
        let over = record.state().is_some_and(|state| state.is_terminal());
        if !self.wants(record) {
            // The cursor moves on with the next one that is wanted.
            return false;
        }
        match self.post(record, failures).await {
            Posted::Done => {
                let retired = over.then_some(Retired::Finished);
                self.advance(record.seq(), retired).await;
                over
            }
            Posted::GiveUp(why) => {
                self.stats.count_given_up();
                tracing::warn!(
                    task = self.registration.key.id(),
                    webhook = self.registration.config.id,
                    why,
                    "a webhook is given up"
                );
                // Without this update: whoever registers it again gets it once more.
                self.advance(self.registration.after, Some(Retired::Failed))
                    .await;
                true
            }
            Posted::Gone => {
                self.stats.count_given_up();
                self.remove().await;
                true
            }
            Posted::Closing => true,
        }
    }

    fn wants(&self, record: &Record) -> bool {
        match record.kind() {
            RecordKind::Status => true,
            RecordKind::Artifact | RecordKind::MergingArtifact => self.core.limits.push.artifacts,
            // The call that opened it has the task (A2A-PUSH-7); messages are no updates.
            RecordKind::Opened | RecordKind::Message => false,
        }
    }

    /// Tries until the receiver has the update, or the webhook is of no use any more.
    async fn post(&self, record: &Record, failures: &mut u32) -> Posted {
        let delivery = self.delivery(record);
        loop {
            let attempt =
                AssertUnwindSafe(async { self.push.deliver.deliver(delivery.clone()).await })
                    .catch_unwind();
            let (trouble, retry_after) = match timeout(self.core.limits.push.attempt, attempt).await
            {
                Ok(Ok(Outcome::Delivered)) => {
                    *failures = 0;
                    self.stats.count_delivered();
                    return Posted::Done;
                }
                Ok(Ok(Outcome::Gone)) => return Posted::Gone,
                Ok(Ok(Outcome::Forbidden)) => {
                    return Posted::GiveUp("it is at an address that nothing may be sent to");
                }
                Ok(Ok(Outcome::Refused { status })) => {
                    *failures += 1;
                    self.stats.count_failed();
                    self.stats.count_skipped();
                    tracing::warn!(
                        delivery = delivery.id(),
                        status,
                        "a webhook refused an update"
                    );
                    return if *failures >= self.core.limits.push.failures {
                        Posted::GiveUp("it refused too often")
                    } else {
                        Posted::Done
                    };
                }
                Ok(Ok(Outcome::Busy {
                    status,
                    retry_after,
                })) => (format!("it answered {status}"), retry_after),
                Ok(Ok(Outcome::Unreachable(error))) => (error.to_string(), None),
                Ok(Err(_)) => ("the client panicked".to_owned(), None),
                Err(_) => ("it did not answer in time".to_owned(), None),
            };
            *failures += 1;
            self.stats.count_failed();
            if *failures >= self.core.limits.push.failures {
                return Posted::GiveUp("it failed too often");
            }
            let pause = self.core.limits.push.pause(*failures, retry_after);
            tracing::debug!(
                delivery = delivery.id(),
                trouble,
                ?pause,
                "a delivery is tried again"
            );
            let mut closing = self.core.closing.subscribe();
            let closing = pin!(closing.wait_for(|closing| *closing));
            if let Either::Right(_) = select(pin!(sleep(pause)), closing).await {
                return Posted::Closing;
            }
        }
    }

    fn delivery(&self, record: &Record) -> Delivery {
        let config = &self.registration.config;
        Delivery {
            url: config.url.clone(),
            authorization: config.authentication.as_ref().map(|how| {
                format!("{} {}", how.scheme, how.credentials)
                    .trim_end()
                    .to_owned()
            }),
            token: Some(config.token.clone()).filter(|token| !token.is_empty()),
            id: format!("{}/{}/{}", config.task_id, config.id, record.seq()),
            body: Arc::clone(record.json()),
        }
    }

    async fn advance(&mut self, after: Seq, retired: Option<Retired>) {
        self.registration.after = after;
        let Registration { key, config, .. } = &self.registration;
        if let Err(error) = self
            .push
            .store
            .advance(key, &config.id, after, retired)
            .await
        {
            // It may be delivered once more, by the next process.
            tracing::warn!(%error, "the cursor of a webhook could not be stored");
        }
    }

    async fn remove(&self) {
        let Registration { key, config, .. } = &self.registration;
        if let Err(error) = self.push.store.remove(key, &config.id).await {
            tracing::warn!(%error, "a webhook could not be removed");
        }
    }
}

/// How long a courier leaves a log alone that has failed.
const LOG_PAUSE: Duration = Duration::from_secs(1);
