use crate::{
    model::{Error, Operation},
    wire::{decode_query, json_string},
};

/// How the value of a parameter becomes JSON.
#[derive(Clone, Copy)]
enum Form {
    /// A string; numbers too, which ProtoJSON reads from strings.
    Text,
    Flag,
    /// A name, or the number of one.
    Name,
}

/// The names and forms of the parameters that an operation takes (A2A-REST-1). The second name is
/// that of the proto file (A2A-REST-12).
const fn parameters(operation: Operation) -> &'static [(&'static str, &'static str, Form)] {
    match operation {
        Operation::GetTask => &[("historyLength", "history_length", Form::Text)],
        Operation::ListTasks => &[
            ("contextId", "context_id", Form::Text),
            ("status", "status", Form::Name),
            ("pageSize", "page_size", Form::Text),
            ("pageToken", "page_token", Form::Text),
            ("historyLength", "history_length", Form::Text),
            ("statusTimestampAfter", "status_timestamp_after", Form::Text),
            ("includeArtifacts", "include_artifacts", Form::Flag),
        ],
        Operation::ListTaskPushNotificationConfigs => &[
            ("pageSize", "page_size", Form::Text),
            ("pageToken", "page_token", Form::Text),
        ],
        Operation::SendMessage
        | Operation::SendStreamingMessage
        | Operation::CancelTask
        | Operation::SubscribeToTask
        | Operation::CreateTaskPushNotificationConfig
        | Operation::GetTaskPushNotificationConfig
        | Operation::DeleteTaskPushNotificationConfig
        | Operation::GetExtendedAgentCard => &[],
    }
}

/// The parameters of a query that the operation takes, as members of an object. What they may be is
/// judged by whoever reads the object, as for every binding. Others are ignored, and so are empty
/// ones.
///
/// # Errors
/// A value that is no text.
pub(super) fn members(
    operation: Operation,
    query: &str,
) -> Result<Vec<(&'static str, String)>, Error> {
    let mut members = Vec::new();
    for (name, value) in pairs(query) {
        let Some((name, _, form)) = parameters(operation)
            .iter()
            .find(|(json, proto, _)| name == *json || name == *proto)
        else {
            continue;
        };
        let value = text(name, value)?;
        if !value.is_empty() {
            members.push((*name, json_of(*form, &value)));
        }
    }
    Ok(members)
}

/// The tenant that a query names (A2A-REST-7).
pub(super) fn tenant(query: &str) -> Result<Option<String>, Error> {
    let mut tenant = None;
    for (_, value) in pairs(query).filter(|(name, _)| name == "tenant") {
        let value = text("tenant", value)?;
        if tenant.replace(value).is_some() {
            return Err(Error::invalid_param("tenant", "given more than once"));
        }
    }
    Ok(tenant.filter(|tenant| !tenant.is_empty()))
}

/// Names, and values as they came. A name that is no text is none of ours.
fn pairs(query: &str) -> impl Iterator<Item = (String, &str)> {
    query.split('&').filter_map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        Some((decode_query(name)?, value))
    })
}

fn text(name: &str, value: &str) -> Result<String, Error> {
    decode_query(value).ok_or_else(|| Error::invalid_param(name, "must be percent-encoded UTF-8"))
}

fn json_of(form: Form, value: &str) -> String {
    let is_bare = match form {
        Form::Text => false,
        Form::Flag => matches!(value, "true" | "false"),
        Form::Name => value == "0" || is_positive(value),
    };
    if is_bare {
        value.to_owned()
    } else {
        json_string(value)
    }
}

/// Whether it is a whole number as JSON writes it.
fn is_positive(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0') && !text.is_empty()
}
