//! Events that nobody knows, for suites and probes.

use crate::{AgentEvent, Extension, Json};

/// The name begins so.
const PREFIX: &str = "x_probe_";

/// The `number`-th unknown event. Its digits, escapes and order are such that a relay
/// that decodes and encodes it shows.
pub(super) fn event(number: u32) -> AgentEvent {
    let members = format!(
        r#"{{"n":{number},"big":123456789012345678901234567890,"exp":1e400,"esc":"\u0041","null":null,"z":{{"b":1,"a":[1.0,1.00]}}}}"#
    );
    let members = Json::from_text(members).expect("it is JSON");
    Extension::encode(&format!("{PREFIX}{number}"), &members)
        .expect("an object without a type")
        .into()
}

/// Whether an event is one of ours, changed or not.
pub(super) fn is_ours(event: &AgentEvent) -> bool {
    matches!(event, AgentEvent::Extension(it) if it.type_name().starts_with(PREFIX))
}
