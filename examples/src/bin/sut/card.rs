use portcullis_a2a::model::{AgentCard, AgentInterface, Invalid, decode_response};
use serde_json::json;

use crate::settings::Settings;

/// The extension of the kits.
const REQUIRED: &str = "urn:a2a:tck:required-extension";

pub(crate) fn card(
    interfaces: &[AgentInterface],
    settings: &Settings,
) -> Result<AgentCard, Invalid> {
    let extensions = if settings.required_extension {
        json!([{"uri": REQUIRED, "description": "Has to be asked for.", "required": true}])
    } else {
        json!([])
    };
    let input_modes = if settings.any_input {
        json!(["*/*"])
    } else {
        json!(["text/plain", "application/json", "application/octet-stream"])
    };
    let card = json!({
        "name": "Portcullis under test",
        "description": "Does what kits and clients of others ask for, by prefix of the message.",
        "version": env!("CARGO_PKG_VERSION"),
        "supportedInterfaces": interfaces,
        "capabilities": {
            "streaming": settings.streaming,
            "pushNotifications": settings.push,
            "extendedAgentCard": settings.extended_card,
            "extensions": extensions,
        },
        "defaultInputModes": input_modes,
        "defaultOutputModes": ["text/plain", "application/json"],
        "skills": [{
            "id": "behave",
            "name": "Behave",
            "description": "Behaves as the prefix says.",
            "tags": ["test"],
            "examples": ["tck-complete-task"],
        }],
    });
    decode_response(&card.to_string())
}
