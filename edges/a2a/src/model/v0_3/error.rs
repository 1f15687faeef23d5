use std::borrow::Cow;

use serde::{Serialize, Serializer, ser::SerializeMap};

use super::{Form, Written, method, state::state_name};
use crate::model::{Error, ErrorKind, Operation, TaskState, Violation};

/// An error: code, message, and what else there is to say in `data`, which has no prescribed form.
/// JSON-RPC has it in a reply, HTTP+JSON as the body of one.
#[derive(Debug)]
pub(crate) struct ErrorObject<'a> {
    pub(crate) form: Form,
    pub(crate) error: &'a Error,
}

impl ErrorObject<'_> {
    /// The status of HTTP+JSON.
    pub(crate) fn http_status(&self) -> u16 {
        match self.error.kind() {
            ErrorKind::TaskNotCancelable => 409,
            ErrorKind::ContentTypeNotSupported => 415,
            ErrorKind::PushNotificationNotSupported | ErrorKind::UnsupportedOperation => 501,
            ErrorKind::InvalidAgentResponse => 502,
            ErrorKind::ExtendedAgentCardNotConfigured => 404,
            kind => kind.http_status(),
        }
    }

    /// Only the first seven refusals have a code there.
    fn code(&self) -> i32 {
        match self.error.kind() {
            ErrorKind::ExtensionSupportRequired | ErrorKind::VersionNotSupported => {
                ErrorKind::InvalidRequest.code()
            }
            _ => self.error.code(),
        }
    }
}

impl Serialize for ErrorObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let error = self.error;
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("code", &self.code())?;
        object.serialize_entry("message", error.message())?;
        if error.metadata().next().is_some() || !error.violations().is_empty() {
            object.serialize_entry("data", &self.form.write(error))?;
        }
        object.end()
    }
}

/// What JSON-RPC calls the data of an error.
impl Serialize for Written<'_, Error> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let error = self.value;
        let mut data = serializer.serialize_map(None)?;
        for (name, value) in error.metadata() {
            data.serialize_entry(name, &*old_value(self.form, name, value))?;
        }
        if !error.violations().is_empty() {
            data.serialize_entry("violations", &self.form.write(error.violations()))?;
        }
        data.end()
    }
}

/// States, methods and members have other names there.
fn old_value<'a>(form: Form, name: &str, value: &'a str) -> Cow<'a, str> {
    let known = match name {
        "state" => TaskState::from_name(value).map(|state| state_name(form, state)),
        "method" => Operation::from_name(value).and_then(method),
        "field" => return old_path(form, value).into(),
        _ => None,
    };
    known.unwrap_or(value).into()
}

impl Serialize for Written<'_, Violation> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let violation = self.value;
        let field = old_path(self.form, violation.field());
        serializer.collect_map([("field", &*field), ("description", violation.description())])
    }
}

/// The path of what the core found, which knows members by their new names.
fn old_path(form: Form, path: &str) -> String {
    let webhook = match form {
        Form::JsonRpc => "pushNotificationConfig",
        Form::Proto => "pushNotification",
    };
    let segments = path.split('.').map(|segment| match segment {
        "taskPushNotificationConfig" => Cow::from(webhook),
        "scheme" => "schemes[0]".into(),
        parts if form == Form::Proto && parts.starts_with("parts[") => {
            parts.replacen("parts", "content", 1).into()
        }
        segment => segment.into(),
    });
    segments.collect::<Vec<_>>().join(".")
}
