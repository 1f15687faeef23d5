use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use tokio::sync::watch;

use crate::{
    log::{Seq, TaskKey},
    model::{
        DeleteTaskPushNotificationConfigRequest, Error, GetTaskPushNotificationConfigRequest,
        ListTaskPushNotificationConfigsRequest, ListTaskPushNotificationConfigsResponse,
        SendMessageRequest, TaskPushNotificationConfig,
    },
    server::{
        IdKind, Server, check,
        check::Standing,
        push::{Couriers, PutError, Registration, Retired},
    },
};

impl Server {
    /// A2A-OP-94..97.
    pub(in crate::server) async fn create_push_config(
        &self,
        standing: &Standing,
        config: TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig, Error> {
        let couriers = self.couriers_or_refuse()?;
        let (key, snapshot) = check::task(self.core(), &standing.owner, &config.task_id).await?;
        couriers.push.screening.check(&config, "")?;
        let mut registration = Registration::new(key, self.with_id(config), snapshot.seq());
        if snapshot.task().status.state.is_terminal() {
            // Nothing will fire, and it can be read (A2A-OP-95).
            registration = registration.retired(Retired::Finished);
        }
        // Whoever leaves meanwhile may leave a webhook, but none that nothing is delivered to.
        let stored = couriers.register(registration).await;
        Ok(self.stored(stored, "taskId")?.config)
    }

    /// A2A-OP-98, A2A-OP-99.
    pub(in crate::server) async fn get_push_config(
        &self,
        standing: &Standing,
        request: &GetTaskPushNotificationConfigRequest,
    ) -> Result<TaskPushNotificationConfig, Error> {
        let couriers = self.couriers_or_refuse()?;
        let (key, _) = check::task(self.core(), &standing.owner, &request.task_id).await?;
        let found = couriers.push.store.get(&key, &request.id).await;
        found
            .map_err(|error| check::internal(self.core(), error))?
            .map(TaskPushNotificationConfig::redacted)
            .ok_or_else(|| Error::push_config_not_found(&request.task_id, &request.id))
    }

    /// A2A-OP-100.
    pub(in crate::server) async fn list_push_configs(
        &self,
        standing: &Standing,
        request: &ListTaskPushNotificationConfigsRequest,
    ) -> Result<ListTaskPushNotificationConfigsResponse, Error> {
        let couriers = self.couriers_or_refuse()?;
        let size = match usize::try_from(request.page_size) {
            Ok(0) => usize::MAX,
            Ok(size) => size,
            Err(_) => return Err(Error::invalid_param("pageSize", "must not be negative")),
        };
        let (key, _) = check::task(self.core(), &standing.owner, &request.task_id).await?;
        let found = couriers.push.store.list(&key).await;
        let mut configs = found.map_err(|error| check::internal(self.core(), error))?;
        if !request.page_token.is_empty() {
            let last = URL_SAFE_NO_PAD.decode(&request.page_token).ok();
            // One that was removed meanwhile is no place any more, and neither is a made-up one.
            let at = configs
                .iter()
                .position(|config| Some(config.id.as_bytes()) == last.as_deref())
                .ok_or_else(|| Error::invalid_param("pageToken", "is not one of this list"))?;
            configs.drain(..=at);
        }
        let more = configs.len() > size;
        configs.truncate(size);
        let mut response = ListTaskPushNotificationConfigsResponse::new(
            configs
                .into_iter()
                .map(TaskPushNotificationConfig::redacted)
                .collect(),
        );
        if more && let Some(last) = response.configs.last() {
            response.next_page_token = URL_SAFE_NO_PAD.encode(&last.id);
        }
        Ok(response)
    }

    /// A2A-OP-101: as often as one likes.
    pub(in crate::server) async fn delete_push_config(
        &self,
        standing: &Standing,
        request: &DeleteTaskPushNotificationConfigRequest,
    ) -> Result<(), Error> {
        let couriers = self.couriers_or_refuse()?;
        let (key, _) = check::task(self.core(), &standing.owner, &request.task_id).await?;
        let removed = couriers.push.store.remove(&key, &request.id).await;
        removed.map_err(|error| check::internal(self.core(), error))?;
        couriers.stop(&key, &request.id);
        Ok(())
    }

    /// Stores the webhook that comes with a message, before the agent hears of the message
    /// (O-P05).
    pub(in crate::server) async fn inline_webhook(
        &self,
        key: &TaskKey,
        request: &SendMessageRequest,
        after: Seq,
    ) -> Result<Option<Inline>, Error> {
        let asked = request.configuration.as_ref();
        let Some(config) = asked.and_then(|asked| asked.task_push_notification_config.as_ref())
        else {
            return Ok(None);
        };
        let couriers = self.couriers_or_refuse()?;
        let mut config = config.clone();
        if !config.task_id.is_empty() && config.task_id != request.message.task_id {
            return Err(Error::invalid_param(
                format!("{INLINE}.taskId"),
                "does not match the task of the message",
            ));
        }
        let within = format!("{INLINE}.");
        couriers.push.screening.check(&config, &within)?;
        key.id().clone_into(&mut config.task_id);
        // One that was there before is no guest of this message.
        let known = if config.id.is_empty() {
            None
        } else {
            let found = couriers.push.store.get(key, &config.id).await;
            found.map_err(|error| check::internal(self.core(), error))?
        };
        let registration = Registration::new(key.clone(), self.with_id(config), after);
        let mut inline = Inline {
            couriers: couriers.clone(),
            registration: Some(registration.clone()),
            is_new: known.is_none(),
        };
        // From here on it is removed again, unless the message is taken.
        let limits = &self.core().limits.push;
        let stored = couriers.push.store.put(registration, limits).await;
        inline.registration = Some(self.stored(stored, INLINE)?);
        Ok(Some(inline))
    }

    fn with_id(&self, mut config: TaskPushNotificationConfig) -> TaskPushNotificationConfig {
        if config.id.is_empty() {
            config.id = self.core().ids.next(IdKind::Webhook);
        }
        config
    }

    fn stored(
        &self,
        stored: Result<Registration, PutError>,
        field: &str,
    ) -> Result<Registration, Error> {
        match stored {
            Ok(stored) => Ok(stored),
            Err(PutError::Unavailable(error)) => Err(check::internal(self.core(), error)),
            // O-P11.
            Err(error) => Err(Error::invalid_param(field, error.to_string())),
        }
    }
}

/// A webhook whose message is not taken yet. Dropped, it is removed again, if the message brought
/// it.
pub(in crate::server) struct Inline {
    couriers: Couriers,
    registration: Option<Registration>,
    is_new: bool,
}

impl Inline {
    /// The message was taken.
    pub(in crate::server) fn begin(mut self, opening: Option<watch::Receiver<bool>>) {
        if let Some(registration) = self.registration.take() {
            self.couriers.start(registration, opening);
        }
    }
}

impl Drop for Inline {
    fn drop(&mut self) {
        let Some(registration) = self.registration.take() else {
            return;
        };
        if self.is_new {
            let Registration { key, config, .. } = registration;
            // Begins when it is called; nobody has to wait.
            drop(self.couriers.push.store.remove(&key, &config.id));
        } else {
            self.couriers.start(registration, None);
        }
    }
}

const INLINE: &str = "configuration.taskPushNotificationConfig";
