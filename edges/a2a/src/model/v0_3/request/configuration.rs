use super::webhook::Webhook;
use crate::model::SendMessageConfiguration;

message! {
    /// Wishes for the answer, as JSON-RPC has them.
    received RpcConfiguration {
        accepted_output_modes: Vec<String> = "acceptedOutputModes" | "accepted_output_modes";
        webhook: Option<Webhook> = "pushNotificationConfig" | "push_notification_config";
        history_length: Option<i32> = "historyLength" | "history_length" as Length;
        blocking: Option<bool> = "blocking";
    }
}

message! {
    /// Wishes for the answer, as HTTP+JSON has them.
    received ProtoConfiguration {
        accepted_output_modes: Vec<String> = "acceptedOutputModes" | "accepted_output_modes";
        webhook: Option<Webhook> = "pushNotification" | "push_notification";
        history_length: Option<i32> = "historyLength" | "history_length" as Length;
        blocking: bool = "blocking";
    }
}

impl From<RpcConfiguration> for SendMessageConfiguration {
    fn from(old: RpcConfiguration) -> Self {
        let mut new = Self::new();
        new.accepted_output_modes = old.accepted_output_modes;
        new.task_push_notification_config = old.webhook.map(|webhook| webhook.of_task(""));
        new.history_length = old.history_length;
        // Nothing said: the official SDKs wait.
        new.return_immediately = old.blocking == Some(false);
        new
    }
}

impl From<ProtoConfiguration> for SendMessageConfiguration {
    fn from(old: ProtoConfiguration) -> Self {
        let mut new = Self::new();
        new.accepted_output_modes = old.accepted_output_modes;
        new.task_push_notification_config = old.webhook.map(|webhook| webhook.of_task(""));
        new.history_length = limit(old.history_length);
        // Nothing said is false: writers of ProtoJSON leave it out.
        new.return_immediately = !old.blocking;
        new
    }
}

/// How much history: there 0 is all of it (T-47).
pub(super) fn limit(history_length: Option<i32>) -> Option<i32> {
    history_length.filter(|length| *length != 0)
}
