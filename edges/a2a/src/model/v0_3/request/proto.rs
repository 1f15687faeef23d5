use super::{configuration::ProtoConfiguration, message::ProtoMessage, webhook::Webhook};
use crate::model::{
    Bounds, Error, Metadata, SendMessageRequest, TaskPushNotificationConfig, decode::Context,
    decode_request_within,
};

/// Reads the body that sends a message over HTTP+JSON.
///
/// # Errors
/// `InvalidParams` with every fault that was found.
pub(crate) fn decode_send(body: &str, bounds: &Bounds) -> Result<SendMessageRequest, Error> {
    let body: SendBody = decode_request_within(body, bounds)?;
    let mut request = SendMessageRequest::new(body.message.into());
    request.configuration = body.configuration.map(Into::into);
    request.metadata = body.metadata;
    Ok(request)
}

/// Reads the body that leaves a webhook over HTTP+JSON. The address names the task.
///
/// # Errors
/// `InvalidParams` with every fault that was found.
pub(crate) fn decode_create(
    task_id: &str,
    body: &str,
    bounds: &Bounds,
) -> Result<TaskPushNotificationConfig, Error> {
    let body: CreateBody = decode_request_within(body, bounds)?;
    let webhook = body
        .config
        .and_then(|config| config.webhook)
        .or(body.webhook);
    let mut config = webhook.expect("checked to be there").of_task(task_id);
    if config.id.is_empty() {
        config.id = if body.config_id.is_empty() {
            // Who sets another one without a name means to replace it.
            task_id.to_owned()
        } else {
            body.config_id
        };
    }
    Ok(config)
}

message! {
    received SendBody {
        message: ProtoMessage = "message", required;
        configuration: Option<ProtoConfiguration> = "configuration";
        metadata: Metadata = "metadata";
    }
}

message! {
    /// The whole request, as the official SDK for Python sends it, or its `config` alone, as the
    /// proto file has it and the one for JavaScript sends it.
    received CreateBody {
        config_id: String = "configId" | "config_id" as Id;
        config: Option<Config> = "config";
        webhook: Option<Webhook> = "pushNotificationConfig" | "push_notification_config";
    }
    check CreateBody::has_a_webhook;
}

message! {
    received Config {
        webhook: Option<Webhook> =
            "pushNotificationConfig" | "push_notification_config", required;
    }
}

impl CreateBody {
    fn has_a_webhook(&self, cx: &mut Context) {
        if self.config.is_none() && self.webhook.is_none() && cx.is_clean() {
            cx.violation("one of config, pushNotificationConfig is required");
        }
    }
}
