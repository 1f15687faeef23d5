use serde::{Serialize, Serializer, ser::SerializeMap};

use super::{Form, Written};
use crate::model::{
    AuthenticationInfo, ListTaskPushNotificationConfigsResponse, TaskPushNotificationConfig,
};

/// The webhook inside of what names its task.
impl Serialize for Written<'_, TaskPushNotificationConfig> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let config = self.value;
        let mut object = serializer.serialize_map(Some(2))?;
        match self.form {
            Form::JsonRpc => object.serialize_entry("taskId", &config.task_id)?,
            Form::Proto => {
                let (task, id) = (&config.task_id, &config.id);
                let name = format!("tasks/{task}/pushNotificationConfigs/{id}");
                object.serialize_entry("name", &name)?;
            }
        }
        object.serialize_entry("pushNotificationConfig", &Webhook(config))?;
        object.end()
    }
}

/// A bare list in JSON-RPC.
impl Serialize for Written<'_, ListTaskPushNotificationConfigsResponse> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let page = self.value;
        let configs = self.form.write(&*page.configs);
        if self.form == Form::JsonRpc {
            return configs.serialize(serializer);
        }
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("configs", &configs)?;
        if !page.next_page_token.is_empty() {
            object.serialize_entry("nextPageToken", &page.next_page_token)?;
        }
        object.end()
    }
}

struct Webhook<'a>(&'a TaskPushNotificationConfig);

impl Serialize for Webhook<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(config) = self;
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("id", &config.id)?;
        object.serialize_entry("url", &config.url)?;
        if !config.token.is_empty() {
            object.serialize_entry("token", &config.token)?;
        }
        if let Some(authentication) = &config.authentication {
            object.serialize_entry("authentication", &Authentication(authentication))?;
        }
        object.end()
    }
}

struct Authentication<'a>(&'a AuthenticationInfo);

impl Serialize for Authentication<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(authentication) = self;
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("schemes", &[&authentication.scheme])?;
        if !authentication.credentials.is_empty() {
            object.serialize_entry("credentials", &authentication.credentials)?;
        }
        object.end()
    }
}
