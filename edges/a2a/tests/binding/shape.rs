//! What every body of a server looks like: the messages of the protocol, member by member. The rig
//! of these tests looks at each body that the server gives, so nothing here has to be asked for.
//!
//! Unknown members, members in another spelling, lists that are null, values that say nothing and
//! stand there all the same, two members of one choice, a state or a time in another form: all of
//! these are faults (A2A-DATA-1, -3, -6, -8, -12, -13, -17, -18, -20, -22; O-W02, O-W03, O-W07,
//! O-W08). So are a reply with a result and an error (A2A-RPC-8, O-J04), details that are no list
//! of typed objects (A2A-RPC-25, -29, -31, A2A-REST-20, -21, O-J05), and an error that tells what
//! went on inside (O-A03).

use serde_json::{Map, Value, json};

/// The name of a message and its members. A member with `*` is always there, one with `?` may be
/// there and say nothing, one with `|` is one of a choice, and any other one is left out when it
/// says nothing.
const MESSAGES: &str = "
Task id*:text contextId*:text status*:TaskStatus artifacts:[Artifact] history:[Message] metadata?:object
TaskStatus state*:TASK_STATE_ message:Message timestamp*:time
Message messageId*:text contextId:text taskId:text role*:ROLE_ parts*:[Part] metadata?:object extensions:[text] referenceTaskIds:[text]
Part text|:text raw|:text url|:text data|:any metadata?:object filename:text mediaType:text
Artifact artifactId*:text name:text description:text parts*:[Part] metadata?:object extensions:[text]
StatusUpdate taskId*:text contextId*:text status*:TaskStatus metadata?:object
ArtifactUpdate taskId*:text contextId*:text artifact*:Artifact append:flag lastChunk:flag metadata?:object
StreamResponse task|:Task message|:Message statusUpdate|:StatusUpdate artifactUpdate|:ArtifactUpdate
ListTasksResponse tasks*?:[Task] nextPageToken*?:text pageSize*:number totalSize*?:number
PushConfig tenant:text id*:text taskId*:text url*:text token:text authentication:Authentication
Authentication scheme*:text credentials:text
PushConfigs configs?:[PushConfig] nextPageToken?:text
AgentCard name*:text description*?:text supportedInterfaces*:[Interface] provider:Provider version*:text documentationUrl?:text capabilities*?:Capabilities securitySchemes:object securityRequirements:[object] defaultInputModes*:[text] defaultOutputModes*:[text] skills*?:[Skill] signatures:[Signature] iconUrl?:text
Interface url*:text protocolBinding*:text tenant:text protocolVersion*:text
Provider url*:text organization*:text
Capabilities streaming?:flag pushNotifications?:flag extensions:[Extension] extendedAgentCard?:flag
Extension uri*:text description:text required:flag params?:object
Skill id*:text name*:text description*?:text tags*?:[text] examples:[text] inputModes:[text] outputModes:[text] securityRequirements:[object]
Signature protected*:text signature*:text header?:object
RpcError code*:number message*:text data:[Detail]
RestError code*:number status*:text message*:text details*?:[Detail]
";

/// A body in one piece, of either binding. What is neither is a fault.
pub(crate) fn of_reply(body: &Value) -> Result<(), String> {
    let object = body.as_object().ok_or("no object")?;
    let Some(version) = object.get("jsonrpc") else {
        return match object.get("error") {
            Some(error) if object.len() == 1 => of_error("RestError", error),
            _ => of_answer(body),
        };
    };
    if version != "2.0" || object.len() != 3 || !object.contains_key("id") {
        return Err(format!("no envelope: {body}"));
    }
    match (object.get("result"), object.get("error")) {
        (Some(result), None) => of_answer(result),
        (None, Some(error)) => of_error("RpcError", error),
        _ => Err("neither result nor error, or both".to_owned()),
    }
}

/// What an operation answers with, or one event.
fn of_answer(answer: &Value) -> Result<(), String> {
    let object = answer.as_object().ok_or("no object")?;
    let is = |name: &str| object.contains_key(name);
    let message = match () {
        // Of the deletion of a webhook.
        () if object.is_empty() => return Ok(()),
        () if is("supportedInterfaces") => "AgentCard",
        () if is("tasks") => "ListTasksResponse",
        () if is("configs") || is("nextPageToken") => "PushConfigs",
        () if is("url") => "PushConfig",
        () if is("status") => "Task",
        () => "StreamResponse",
    };
    message_of(message, answer)
}

fn of_error(message: &str, error: &Value) -> Result<(), String> {
    message_of(message, error)?;
    let text = error.to_string();
    match ["secret", "panicked", ".rs:", "password"]
        .into_iter()
        .find(|inside| text.contains(inside))
    {
        Some(inside) => Err(format!("tells {inside:?}: {text}")),
        None => Ok(()),
    }
}

fn message_of(name: &str, value: &Value) -> Result<(), String> {
    let line = MESSAGES
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
        .unwrap_or_else(|| panic!("no message {name}"));
    let at = |fault: String| format!("{name}: {fault}");
    let object = value.as_object().ok_or_else(|| at(format!("{value}")))?;
    let mut known = Vec::new();
    let (mut choices, mut chosen) = (0, 0);
    for member in line.split(' ') {
        let (marked, kind) = member.split_once(':').expect("a member and its kind");
        let member = marked.trim_end_matches(['*', '?', '|']);
        let marks = &marked[member.len()..];
        known.push(member);
        choices += usize::from(marks.contains('|'));
        let Some(value) = object.get(member) else {
            if marks.contains('*') {
                return Err(at(format!("no {member}: {value}")));
            }
            continue;
        };
        chosen += usize::from(marks.contains('|'));
        if !marks.contains(['?', '|']) && says_nothing(value) {
            return Err(at(format!("{member} says nothing: {value}")));
        }
        of_kind(kind, value).map_err(|fault| at(format!("{member}: {fault}")))?;
    }
    if let Some(unknown) = object.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(at(format!("there is {unknown:?}")));
    }
    if choices > 0 && chosen != 1 {
        return Err(at(format!("{chosen} of a choice: {value}")));
    }
    Ok(())
}

/// Whether a value is what an absent one means.
fn says_nothing(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty(),
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Array(list) => list.is_empty(),
        Value::Object(_) | Value::Null => false,
    }
}

fn of_kind(kind: &str, value: &Value) -> Result<(), String> {
    if let Some(kind) = kind.strip_prefix('[') {
        let kind = kind.strip_suffix(']').expect("a list has an end");
        let list = value.as_array().ok_or_else(|| format!("{value}"))?;
        return list.iter().try_for_each(|value| of_kind(kind, value));
    }
    let is = match kind {
        "any" => true,
        "text" => value.is_string(),
        "flag" => value.is_boolean(),
        "number" => value.is_i64() || value.is_u64(),
        "object" => value.is_object(),
        "time" => value.as_str().is_some_and(is_time),
        "Detail" => is_detail(value.as_object()),
        prefix if prefix.ends_with('_') => value.as_str().is_some_and(|text| {
            let rest = text.strip_prefix(prefix).unwrap_or_default();
            let is_name = |c: char| c.is_ascii_uppercase() || c == '_';
            !rest.is_empty() && rest != "UNSPECIFIED" && rest.chars().all(is_name)
        }),
        message => return message_of(message, value),
    };
    if is { Ok(()) } else { Err(format!("{value}")) }
}

/// `2026-01-15T10:00:00.000Z`
fn is_time(text: &str) -> bool {
    let form = text.replace(|c: char| c.is_ascii_digit(), "0");
    form == "0000-00-00T00:00:00.000Z"
}

fn is_detail(detail: Option<&Map<String, Value>>) -> bool {
    let Some(detail) = detail else {
        return false;
    };
    let texts = |map: &Value| {
        map.as_object()
            .is_some_and(|map| map.values().all(Value::is_string))
    };
    let type_url = detail.get("@type").and_then(Value::as_str);
    match type_url.and_then(|url| url.strip_prefix("type.googleapis.com/google.rpc.")) {
        Some("ErrorInfo") => {
            detail["reason"].is_string()
                && detail["domain"] == "a2a-protocol.org"
                && detail.get("metadata").is_none_or(texts)
        }
        Some("RequestInfo") => detail["requestId"].is_string(),
        Some("BadRequest") => detail["fieldViolations"]
            .as_array()
            .is_some_and(|list| list.iter().all(texts)),
        _ => false,
    }
}

// A rule that nothing breaks would be none.
#[test]
fn faults_are_seen() {
    let task = json!({"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING", "timestamp": "2026-01-15T10:00:00.000Z"}});
    assert_eq!(of_reply(&task), Ok(()));
    let with = |pointer: &str, value: Value| {
        let mut task = task.clone();
        let (place, name) = pointer.rsplit_once('/').unwrap();
        task.pointer_mut(place).unwrap()[name] = value;
        task
    };
    let message = json!({"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": ""}]});
    let of_status = |name: &str, value: Value| {
        let mut message = message.clone();
        message[name] = value;
        with("/status/message", message)
    };
    assert_eq!(of_reply(&of_status("contextId", json!("c"))), Ok(()));
    for fault in [
        with("/kind", json!("task")),
        with("/artifacts", Value::Null),
        with("/history", json!([])),
        with("/contextId", json!("")),
        with("/metadata", Value::Null),
        with("/status/state", json!("working")),
        with("/status/state", json!("TASK_STATE_UNSPECIFIED")),
        with("/status/state", json!(2)),
        with("/status/timestamp", json!("2026-01-15T10:00:00Z")),
        with("/status/timestamp", json!("2026-01-15T10:00:00.000+01:00")),
        with("/status/final", json!(true)),
        of_status("role", json!("agent")),
        of_status("parts", json!([])),
        of_status("parts", json!([{}])),
        of_status("parts", json!([{"text": "a", "data": 1}])),
        of_status("parts", json!([{"kind": "text", "text": "a"}])),
        of_status("taskId", json!("")),
        json!({"task": task, "message": message}),
        json!({"task": [task]}),
        json!({"tasks": [], "pageSize": 50, "totalSize": 0}),
        json!({"tasks": [{"task": task}], "nextPageToken": "", "pageSize": 50, "totalSize": 1}),
        json!([task]),
        json!({"jsonrpc": "2.0", "id": 1}),
        json!({"jsonrpc": "2.0", "id": 1, "result": task, "error": {"code": 1, "message": "m"}}),
        json!({"jsonrpc": "2.0", "result": task, "more": 1}),
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "m", "data": {}}}),
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "m", "data": [{"reason": "R"}]}}),
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "panicked at x.rs:1"}}),
        json!({"error": {"code": 400, "status": "INTERNAL", "message": "m"}}),
        json!({"error": {"code": 400, "status": "S", "message": "m", "details": [
            {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "R", "domain": "a2a-protocol.org", "metadata": {"n": 1}}]}}),
    ] {
        assert!(of_reply(&fault).is_err(), "{fault}");
    }
}
