use crate::model::{AuthenticationInfo, TaskPushNotificationConfig, decode::Context};

message! {
    /// A webhook, which does not name its task.
    received Webhook {
        id: String = "id" as Id;
        url: String = "url" as WebhookUrl, required;
        token: String = "token";
        authentication: Option<Authentication> = "authentication";
    }
}

message! {
    /// How to authenticate there.
    received Authentication {
        schemes: Vec<String> = "schemes";
        credentials: String = "credentials";
    }
    check Authentication::has_a_scheme;
}

impl Authentication {
    /// Credentials are for a scheme. Writers of ProtoJSON leave an empty list out.
    fn has_a_scheme(&self, cx: &mut Context) {
        if self.schemes.is_empty() && !self.credentials.is_empty() {
            cx.within("schemes", |cx| cx.violation("required"));
        }
    }
}

impl Webhook {
    /// The webhook, of a task. Of several schemes the first counts (A2A-COMPAT-5).
    pub(super) fn of_task(self, task_id: &str) -> TaskPushNotificationConfig {
        let mut config = TaskPushNotificationConfig::new(task_id, self.url);
        config.id = self.id;
        config.token = self.token;
        config.authentication = self.authentication.and_then(|old| {
            let scheme = old.schemes.into_iter().next()?;
            Some(AuthenticationInfo::new(scheme, old.credentials))
        });
        config
    }
}
